//! Summary of a probe on a terminal: verdict and figures first, then the conditions.

mod waits;
mod writes;

use std::ops::Div;
use std::path::Path;

use comfy_table::{ContentArrangement, Table};
use nandle_io::Nanos;
use nandle_profile::{Conditions, DepthForBlock, DeviceProfile, GroupPenalty, Interval, SkippedExperiment};
use nandle_terminal::words::{
    bandwidth, columns, fitting, latency, paragraph, table, thousands, to_the_right,
};
use nandle_units::{format_bytes, format_duration};

/// Whole summary of the profile in `profile_path`. `is_asked_for` returns true if the user wanted
/// an experiment, or at least didn't exclude it.
pub(super) fn summary(
    profile: &DeviceProfile,
    profile_path: &Path,
    is_asked_for: impl Fn(&str) -> bool,
) -> String {
    let verdict = nandle_advise::verdict(profile);
    let mut text = heading(profile) + &crate::commands::verdict::text(&verdict, profile_path);
    if !profile.cells.is_empty() {
        text += &depths(profile);
        text += &sentences(profile);
    }
    text += &writes::sentences(profile, &verdict);
    for contradiction in &profile.contradictions {
        paragraph(
            &mut text,
            "! ",
            &format!(
                "The system says: {}. Measured: {}. So {}.",
                contradiction.stated, contradiction.measured, contradiction.advice
            ),
        );
    }
    for remark in &profile.conditions.remarks {
        paragraph(&mut text, "* ", remark);
    }
    for reason in &profile.partial {
        paragraph(&mut text, "? ", &format!("Partial: {reason}."));
    }
    let skipped = profile.experiments.skipped.iter().filter(|skipped| is_asked_for(&skipped.name));
    text + &not_measured(skipped)
}

/// Skipped experiments, one row per reason.
fn not_measured<'a>(skipped: impl Iterator<Item = &'a SkippedExperiment>) -> String {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for SkippedExperiment { name, reason } in skipped {
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    if by_reason.is_empty() {
        return String::new();
    }
    let mut table = table(["Not measured", "Why not"]);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(columns()).unwrap_or(u16::MAX));
    for (reason, names) in by_reason {
        table.add_row([names.join(", "), reason.to_owned()]);
    }
    format!("\n{}\n", trimmed(&table))
}

/// The table without trailing blanks.
fn trimmed(table: &Table) -> String {
    lines_trimmed(&table.to_string())
}

fn lines_trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Device and access method.
fn heading(profile: &DeviceProfile) -> String {
    let identity = &profile.identity;
    let name = identity.model.as_ref().or(identity.kernel_name.as_ref());
    let name = name.map_or("unnamed device", String::as_str);
    let capacity =
        identity.capacity_bytes.map_or(String::new(), |bytes| format!(", {}", format_bytes(bytes)));
    let io = io(profile);
    let how =
        if profile.cells.is_empty() { io } else { format!("Reads {}, {io}", extent(&profile.conditions)) };
    let mut text = String::new();
    paragraph(&mut text, "", &format!("{}: {name}{capacity}. {}.", profile.target, capitalised(&how)));
    for given_up in profile.backend.stepped_down.iter().chain(&profile.conditions.disturbed_by_others()) {
        paragraph(&mut text, "! ", given_up);
    }
    text + "\n"
}

/// Path of the requests to the device.
fn io(profile: &DeviceProfile) -> String {
    let backend = &profile.backend;
    if backend.is_modelled() {
        // A model has no page cache for direct I/O to bypass.
        return "in virtual time".into();
    }
    let how = if backend.direct { "direct I/O" } else { "BUFFERED I/O" };
    format!("by {how} with {}", backend.io)
}

/// Area and duration of the reads; the rest of the budget is for experiments.
fn extent(conditions: &Conditions) -> String {
    let elapsed = Nanos(conditions.elapsed_ns / 100_000_000 * 100_000_000);
    let is_all = conditions.elapsed_ns >= conditions.budget_ns / 10 * 9;
    let of = if is_all {
        String::new()
    } else {
        format!(" of a budget of {}", format_duration(Nanos(conditions.budget_ns)))
    };
    format!("within {} for {}{of}", format_bytes(conditions.file_bytes), format_duration(elapsed))
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Table of block sizes: peak rate and the depth that reaches it.
fn depths(profile: &DeviceProfile) -> String {
    let mut table = table(["random reads", "MB/s", "IOPS", "at depth", "p50, depth 1", "p99"]);
    for row in &profile.derived.saturating_queue_depth {
        table.add_row(depth_row(profile, row));
    }
    to_the_right(&mut table, ..);
    format!("{}\n\n", fitting(&table))
}

fn depth_row(profile: &DeviceProfile, row: &DepthForBlock) -> [String; 6] {
    let alone = profile.cells.iter().map(|measured| &measured.cell).find(|cell| {
        cell.pattern == "random"
            && cell.group_blocks == 1
            && cell.queue_depth == 1
            && cell.block_bytes == row.block_bytes
    });
    let plateau = row.plateau_bytes_per_s.value;
    // Without a plateau the depth is a lower bound.
    let at_least = if row.plateau_reached { "" } else { "≥ " };
    [
        format_bytes(row.block_bytes),
        bandwidth(plateau),
        thousands(plateau / row.block_bytes as f64),
        at_least.to_owned() + &with_bounds(&row.queue_depth, u32::to_string),
        latency(alone.and_then(|cell| cell.latency_ns.p50).map(Nanos)),
        latency(alone.and_then(|cell| cell.latency_ns.p99).map(Nanos)),
    ]
}

fn sentences(profile: &DeviceProfile) -> String {
    let derived = &profile.derived;
    let mut text = String::new();
    let mut say = |what: &str, value: Option<String>| {
        paragraph(&mut text, &label(what), value.as_deref().unwrap_or("not concluded"));
    };
    say(
        "Smallest efficient block:",
        derived.efficient_block_bytes.as_ref().map(|block| {
            format!("{}, random reads near full bandwidth", with_bounds(block, |bytes| format_bytes(*bytes)))
        }),
    );
    say(
        "Random reads, max:",
        derived
            .random_read_iops_max
            .as_ref()
            .map(|iops| format!("{} a second", with_bounds(iops, |value| thousands(*value)))),
    );
    say("Random bandwidth, max:", derived.random_bandwidth_bytes_per_s_max.as_ref().map(megabytes));
    say("Sequential bandwidth, max:", derived.sequential_bandwidth_bytes_per_s_max.as_ref().map(megabytes));
    say("Random as fast as in order:", equality(profile));
    say("Reading in groups:", groups(profile));
    say(
        "Reading with gaps:",
        derived.flexible_io.as_ref().map(|unit| {
            format!(
                "of {} neighbouring blocks of {} all in one request, once {} or more of them are wanted",
                with_bounds(&unit.group_blocks, u64::to_string),
                with_bounds(&unit.block_bytes, |bytes| format_bytes(*bytes)),
                with_bounds(&unit.break_even_blocks, |blocks| format!("{blocks:.1}"))
            )
        }),
    );
    // A modelled drive has no file that is loaded lazily.
    if !profile.backend.is_modelled() {
        say("First reads after a write:", first_touch(profile));
    }
    say(
        "Noise:",
        profile.conditions.reference.as_ref().map(|reference| {
            format!("equal measurements differ by {:.0} % (standard deviation)", reference.variation * 100.0)
        }),
    );
    text + "\n"
}

fn first_touch(profile: &DeviceProfile) -> Option<String> {
    let measured = profile.first_touch.as_ref().map(|touch| {
        let ratio = with_bounds(&touch.ratio, |ratio| format!("{ratio:.2}"));
        format!("{ratio} of the bandwidth of reading again")
    });
    let was_there = profile.conditions.fill_ns == 0;
    measured.or_else(|| was_there.then(|| "not to be told: the file was there before".into()))
}

/// Left column: the subject of a line.
fn label(what: &str) -> String {
    /// On narrower terminals figures directly follow their labels.
    const COLUMNS_FOR_LABELS: usize = 60;
    if columns() < COLUMNS_FOR_LABELS { format!("{what} ") } else { format!("{what:<27} ") }
}

fn megabytes(interval: &Interval<f64>) -> String {
    format!("{} MB/s", with_bounds(interval, |value| bandwidth(*value)))
}

/// Returns `None` without a reference for random reads.
fn equality(profile: &DeviceProfile) -> Option<String> {
    profile.derived.sequential_bandwidth_bytes_per_s_max?;
    let singles: Vec<_> =
        profile.derived.random_equals_sequential.iter().filter(|region| region.group_blocks == 1).collect();
    let mut blocks: Vec<u64> = singles.iter().map(|region| region.block_bytes).collect();
    blocks.sort_unstable();
    let Some(depth) = singles.iter().map(|region| region.queue_depth_min).max() else {
        return Some("nowhere within 10 %".into());
    };
    // Block sizes double, so a gap between sizes is a gap in the region.
    let runs: Vec<String> = blocks.chunk_by(|small, large| small * 2 == *large).map(run).collect();
    Some(format!("{}, from depth {depth} on", runs.join(" and ")))
}

fn run(blocks: &[u64]) -> String {
    match blocks {
        [first, .., last] => format!("{} to {}", format_bytes(*first), format_bytes(*last)),
        [only] => format_bytes(*only),
        [] => String::new(),
    }
}

/// Greatest significant loss and gain of grouping.
fn groups(profile: &DeviceProfile) -> Option<String> {
    let penalties = &profile.derived.group_penalty;
    let losses = penalties.iter().filter(|group| group.ratio.high < 1.0);
    let gains = penalties.iter().filter(|group| group.ratio.low > 1.0);
    let worst = losses.min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let best = gains.max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let told: Vec<String> = worst.into_iter().chain(best).map(group).collect();
    match (penalties.is_empty(), told.is_empty()) {
        (true, _) => None,
        (false, true) => Some("no difference from single blocks that could be told from noise".into()),
        (false, false) => Some(told.join("; ")),
    }
}

fn group(penalty: &GroupPenalty) -> String {
    format!(
        "{} of {} at depth {}: {} times the bandwidth of single ones",
        penalty.group_blocks,
        format_bytes(penalty.block_bytes),
        penalty.queue_depth,
        with_bounds(&penalty.ratio, |ratio| format!("{ratio:.2}"))
    )
}

/// Formats `8 (4–16)`; `8 (unclear)` without usable bounds; the value alone if the bounds print the
/// same.
fn with_bounds<T>(interval: &Interval<T>, print: impl Fn(&T) -> String) -> String
where
    T: PartialOrd + Copy + From<u8> + Div<Output = T>,
{
    let [value, low, high] = [&interval.value, &interval.low, &interval.high].map(print);
    if low == value && high == value {
        value
    } else if interval.is_telling() {
        format!("{value} ({low}–{high})")
    } else {
        format!("{value} (unclear)")
    }
}
