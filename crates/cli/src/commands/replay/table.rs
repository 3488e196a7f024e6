//! The result on a terminal.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_io::units::{format_bytes, format_duration};
use nandle_pages::PolicyKind;
use nandle_replay::{PolicyOutcome, promises_in_words};

use super::Told;
use crate::words::{latency, paragraph, thousands, to_the_right};

/// The whole text.
pub(super) fn text(told: &Told) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(told));
    let _ = writeln!(text, "\n{}\n", table(told));
    paragraph(&mut text, "", &legend(told));
    paragraph(&mut text, "", &verdict(told.policies));
    let verified: Vec<_> = told.policies.iter().map(|policy| policy.verified_pages).collect();
    if let Some(fewest) = verified.iter().min().filter(|pages| **pages > 0) {
        let sentence = format!(
            "Every written page ({}) was read back from each store and held what was written last.",
            thousands(*fewest as f64)
        );
        paragraph(&mut text, "", &sentence);
    }
    for remark in &told.remarks {
        paragraph(&mut text, "* ", remark);
    }
    text
}

fn heading(told: &Told) -> String {
    format!(
        "{} on {}: {} to {} of pages ({}), depth {}, durable {}.",
        told.trace,
        told.target,
        told.amount(),
        format_bytes(told.pages * told.page_bytes),
        told.contents(),
        told.queue_depth,
        told.durable()
    )
}

/// What the columns are.
fn legend(told: &Told) -> String {
    let until = match told.durability {
        "each" => "until it was durable",
        _ => "until it was accepted, in memory perhaps",
    };
    let flash = if told.policies.iter().any(|policy| policy.drive.is_some()) {
        ", flash: what the drive programmed for it"
    } else {
        ""
    };
    format!(
        "time: for all of it, pages brought home; by direct: how many times as fast; p50, p99: of a write, {until}; written: \
         bytes at the device by bytes of pages{flash}."
    )
}

/// Which policy does best, and what each is worth.
fn verdict(policies: &[PolicyOutcome]) -> String {
    let mut sentences = Vec::new();
    if let (Some(fastest), true) =
        (policies.iter().min_by_key(|policy| policy.elapsed_ns), policies.len() > 1)
    {
        let times = fastest.speedup_over_direct.filter(|_| fastest.policy != PolicyKind::Direct.name());
        let times = times.map_or(String::new(), |times| format!(", {times:.2} times as fast as direct"));
        sentences.push(format!("Fastest here: {}{times}.", fastest.policy));
        let flash =
            policies.iter().filter_map(|policy| Some((policy, policy.drive?.flash_bytes_by_page_bytes)));
        let least = flash.min_by(|(_, a), (_, b)| a.total_cmp(b));
        sentences.extend(least.map(|(policy, times)| {
            format!("The flash wears least with {}: {times:.2} bytes for one of the pages'.", policy.policy)
        }));
    }
    sentences.push(promises_in_words(policies));
    sentences.join(" ")
}

fn table(told: &Told) -> Table {
    let drive = told.policies.iter().any(|policy| policy.drive.is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["policy", "buffer", "time", "by direct", "p50", "p99", "written", "flushes"];
    header.extend(drive.then_some("flash"));
    table.set_header(header);
    for policy in told.policies {
        table.add_row(row(policy, drive));
    }
    to_the_right(&mut table, 1..);
    table
}

fn row(policy: &PolicyOutcome, drive: bool) -> Vec<String> {
    let latencies = policy.latency_ns;
    let mut row = vec![
        policy.policy.to_owned(),
        if policy.buffer_bytes > 0 { format_bytes(policy.buffer_bytes) } else { "–".into() },
        format_duration(Nanos(policy.elapsed_ns / 1_000_000 * 1_000_000)),
        policy.speedup_over_direct.map_or("–".into(), |times| format!("{times:.2} x")),
        latency(latencies.p50.map(Nanos)),
        latency(latencies.p99.map(Nanos)),
        format!("{:.2} x", policy.write_amplification),
        thousands(policy.flushes as f64),
    ];
    let flash = policy.drive.map(|drive| format!("{:.2} x", drive.flash_bytes_by_page_bytes));
    row.extend(drive.then(|| flash.unwrap_or("–".into())));
    row
}
