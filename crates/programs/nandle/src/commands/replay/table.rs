//! Terminal output.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_pages::PolicyKind;
use nandle_profile::LatencySummary;
use nandle_replay::{Durability, PolicyOutcome, ReplayFile, promises_in_words};
use nandle_terminal::words::{bandwidth, fitting, latency, paragraph, thousands, to_the_right};
use nandle_units::{format_bytes, format_duration};

pub(super) fn text(file: &ReplayFile) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(file));
    let _ = writeln!(text, "\n{}\n", fitting(&amounts(file)));
    let _ = writeln!(text, "{}\n", fitting(&waits(file)));
    paragraph(&mut text, "", &legend(file));
    paragraph(&mut text, "", &verdict(&file.policies));
    if let Some(auto) = file.auto_in_words() {
        paragraph(&mut text, "", &auto);
    }
    let verified: Vec<_> = file.policies.iter().map(|policy| policy.verified_pages).collect();
    if let Some(fewest) = verified.iter().min().filter(|pages| **pages > 0) {
        let sentence = format!(
            "Every written page ({}) was read back from each store and held what was written last.",
            thousands(*fewest as f64)
        );
        paragraph(&mut text, "", &sentence);
    }
    for remark in file.caveats().iter().chain(&file.remarks) {
        paragraph(&mut text, "* ", remark);
    }
    if let Some(decision) = file.decision_in_words() {
        paragraph(&mut text, "", &decision);
    }
    text
}

fn heading(file: &ReplayFile) -> String {
    let staging = file.policies.iter().map(|policy| policy.buffer_bytes).max().filter(|bytes| *bytes > 0);
    let staging = staging.map_or_else(String::new, |bytes| format!(", {} to stage in", format_bytes(bytes)));
    format!(
        "{} on {}: {} to {} of pages ({}), depth {}, durable {}{staging}.",
        file.trace,
        file.target,
        file.amount(),
        format_bytes(file.pages * file.page_bytes),
        file.contents(),
        file.queue_depth,
        file.durable()
    )
}

/// Explanation of the columns.
fn legend(file: &ReplayFile) -> String {
    let until = match file.durability {
        Durability::Each => "until it was durable",
        Durability::Trace | Durability::None => "until it was accepted, in memory perhaps",
    };
    let syncs = if has_syncs(file) {
        "; a sync that has something to do: until all that was written before was durable"
    } else {
        ""
    };
    let flash = if file.policies.iter().any(|policy| policy.drive.is_some()) {
        ", flash: what the drive programmed for it"
    } else {
        ""
    };
    let runs =
        file.policies.iter().filter_map(|policy| policy.repeats.as_ref()).map(|repeats| repeats.runs).max();
    let repeated = runs.map_or_else(String::new, |runs| {
        format!(" Of {runs} runs the one with the median time, and the least and the greatest of all.")
    });
    format!(
        "direct writes each page in its place, as most databases do; the others are ways of nandle-pages, for engines that are built on \
         it. time: for all of it, pages destaged; vs direct: how many times as fast as that; written: bytes at the device by bytes \
         of pages{flash}. A write: {until}{syncs}. A quantile needs ten beyond it.{repeated}"
    )
}

/// Best policy, and the gain of each.
fn verdict(policies: &[PolicyOutcome]) -> String {
    let mut sentences = Vec::new();
    if let (Some(fastest), true) =
        (policies.iter().min_by_key(|policy| policy.elapsed_ns), policies.len() > 1)
    {
        let times = fastest.speedup_over_direct.filter(|_| fastest.policy != PolicyKind::Direct);
        let times = times.map_or(String::new(), |times| format!(", {times:.2} times as fast as direct"));
        sentences.push(format!("Fastest here: {}{times}.", fastest.policy));
        let flash =
            policies.iter().filter_map(|policy| Some((policy, policy.drive?.flash_bytes_by_page_bytes)));
        let least = flash.min_by(|(_, a), (_, b)| a.total_cmp(b));
        sentences.extend(least.map(|(policy, times)| {
            format!(
                "The flash wears least with {}: {times:.2} bytes for one of the pages'{}.",
                policy.policy,
                erased(policy, policies)
            )
        }));
    }
    sentences.push(promises_in_words(policies));
    sentences.join(" ")
}

/// Erased blocks of this policy, and the most of any.
fn erased(least: &PolicyOutcome, policies: &[PolicyOutcome]) -> String {
    let bytes = |policy: &PolicyOutcome| policy.drive.map_or(0, |drive| drive.erased_bytes);
    let megabytes = |policy| match bytes(policy) {
        0 => "nothing".to_owned(),
        bytes => format!("{} MB", bandwidth(bytes as f64)),
    };
    let most = policies.iter().max_by_key(|policy| bytes(policy));
    let most = most.filter(|most| bytes(most) > bytes(least));
    let most = most.map_or_else(String::new, |most| format!(" ({} with {})", megabytes(most), most.policy));
    format!(", {} erased{most}", megabytes(least))
}

/// Speed-up over `direct`, with the least and greatest of several runs.
fn versus_direct(policy: &PolicyOutcome) -> String {
    let repeats = policy.repeats.as_ref().and_then(|repeats| repeats.speedup_over_direct);
    let bounds = repeats.filter(|_| policy.policy != PolicyKind::Direct);
    let bounds = bounds.map_or_else(String::new, |all| {
        let plain = |times| factor(times).trim_end_matches(" x").to_owned();
        format!(" ({}–{})", plain(all.low), plain(all.high))
    });
    policy.speedup_over_direct.map_or("–".into(), |times| factor(times) + &bounds)
}

/// A factor to three digits.
fn factor(times: f64) -> String {
    match times {
        ..9.995 => format!("{times:.2} x"),
        ..99.95 => format!("{times:.1} x"),
        _ => format!("{} x", thousands(times)),
    }
}

/// Table of totals.
fn amounts(file: &ReplayFile) -> Table {
    let drive = file.policies.iter().any(|policy| policy.drive.is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let repeated = is_repeated(file);
    let mut header = vec!["policy", "time"];
    header.extend(repeated.then_some(["least", "greatest"]).into_iter().flatten());
    header.extend(["vs direct", "written", "flushes"]);
    header.extend(drive.then_some("flash"));
    table.set_header(header);
    for policy in &file.policies {
        table.add_row(row(policy, drive, repeated));
    }
    to_the_right(&mut table, 1..);
    table
}

fn is_repeated(file: &ReplayFile) -> bool {
    file.policies.iter().any(|policy| policy.repeats.is_some())
}

fn row(policy: &PolicyOutcome, drive: bool, repeated: bool) -> Vec<String> {
    let time = |ns: u64| format_duration(Nanos(ns / 1_000_000 * 1_000_000));
    let mut row = vec![policy.policy.to_string(), time(policy.elapsed_ns)];
    let bounds = policy.repeats.as_ref().map(|repeats| repeats.elapsed_ns);
    let bounds = bounds.map_or_else(|| ["–", "–"].map(str::to_owned), |all| [all.low, all.high].map(time));
    row.extend(repeated.then_some(bounds).into_iter().flatten());
    row.extend([versus_direct(policy), factor(policy.write_amplification), thousands(policy.flushes as f64)]);
    let flash = policy.drive.map(|drive| factor(drive.flash_bytes_by_page_bytes));
    row.extend(drive.then(|| flash.unwrap_or("–".into())));
    row
}

fn has_syncs(file: &ReplayFile) -> bool {
    file.policies.iter().any(|policy| policy.sync_latency_ns.is_some())
}

/// Table of client latencies.
fn waits(file: &ReplayFile) -> Table {
    let has_syncs = has_syncs(file);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["policy", "a write: p50", "p99", "p99.9", "longest"];
    header.extend(has_syncs.then_some(["a sync: p50", "p99"]).into_iter().flatten());
    table.set_header(header);
    for policy in &file.policies {
        let LatencySummary { p50, p99, p999, max, .. } = policy.latency_ns;
        let mut row = vec![policy.policy.to_string()];
        row.extend([p50, p99, p999, max].map(|time| latency(time.map(Nanos))));
        let sync = policy.sync_latency_ns.unwrap_or_default();
        let syncs = has_syncs.then_some([sync.p50, sync.p99]).into_iter().flatten();
        row.extend(syncs.map(|time| latency(time.map(Nanos))));
        table.add_row(row);
    }
    to_the_right(&mut table, 1..);
    table
}
