//! What wasn't measured, and is a risk as long as that is so.

use nandle_profile::{Experiments, LongWriting, Steadiness};
use nandle_units::format_bytes;

use super::finding::Finding;
use crate::figures::Figures;

/// What is ranked as so many times past a threshold. Commits come before all but grave faults, because each transaction waits for
/// one; then what writing does in hours, which a first look never shows; then what it does to reads.
const COMMITS_WEIGHT: f64 = 4.0;
const LONG_WRITES_WEIGHT: f64 = 3.0;
const BESIDE_READS_WEIGHT: f64 = 2.0;
/// Without their 99th percentile commits are known in part.
const COMMIT_TAIL_WEIGHT: f64 = 1.5;

/// How commits are timed, and how other figures of writing are had.
const HOW_COMMITS: &str = "nandle probe TARGET --budget 60s measures it; that writes to the test file.";
const HOW: &str = "nandle probe TARGET BUDGET(5m) measures it; that writes to the test file.";

/// Every such risk.
pub(super) fn risks(figures: &Figures<'_>) -> Vec<Finding> {
    let found = &figures.profile.experiments;
    let commits = match (figures.commit(), figures.commit_tail()) {
        (Err(_), _) => Some((
            "Commit latency wasn't measured",
            "Each transaction waits for it.",
            "transactions",
            COMMITS_WEIGHT,
        )),
        (Ok(_), Err(_)) => Some((
            "The slowest commits weren't measured",
            "Too few were timed for a 99th percentile, which is what users notice.",
            "flush",
            COMMIT_TAIL_WEIGHT,
        )),
        (Ok(_), Ok(_)) => None,
    };
    let for_long = figures.steady_write_bandwidth().is_err().then_some((
        "Sustained writes weren't measured",
        "After hours of random writing some drives keep the first second's rate, and others a fourteenth of it.",
        "steady-state",
        LONG_WRITES_WEIGHT,
    ));
    let too_short = too_short(figures);
    let beside = found.interference.is_none().then_some((
        "Reads beside writes weren't measured",
        "Writing can make reads wait many times as long.",
        "interference",
        BESIDE_READS_WEIGHT,
    ));
    let risk = |(title, why, experiment, weight): (&'static str, &str, &str, f64)| {
        Finding::unmeasured(title, format!("{why} {}", how(found, experiment)), weight)
    };
    [commits, for_long, beside].into_iter().flatten().map(risk).chain(too_short).collect()
}

/// Random writing that was too little to show what a drive sustains. What turns has no spare blocks that it could use up.
fn too_short(figures: &Figures<'_>) -> Option<Finding> {
    let writing =
        figures.profile.long_writing().filter(|writing| writing.steadiness == Steadiness::TooShort)?;
    let figure = figures.steady_write_bandwidth().ok().filter(|_| !figures.turns())?;
    let means = format!(
        "A flash drive slows down once its spare blocks are used up. It takes about {} of writes to see that, which wear the \
         drive: nandle probe TARGET --only steady-state --budget {}m --write-limit {} --resume",
        format_bytes(writing.needed_bytes),
        budget_minutes(&writing),
        limit(writing.needed_bytes)
    );
    Some(Finding {
        figure: Some(figure),
        ..Finding::unmeasured("Sustained writes are hardly known", means, LONG_WRITES_WEIGHT)
    })
}

/// Twice the time of the writing, of which filling takes a part, and at least the budget from which on a probe writes.
fn budget_minutes(writing: &LongWriting) -> u64 {
    const LEAST: u64 = 5;
    writing.needed_minutes().saturating_mul(2).max(LEAST)
}

/// Twice of it in whole GiB, because filling takes a part.
fn limit(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    format!("{}GiB", bytes.saturating_mul(2).div_ceil(GIB))
}

/// Why it wasn't measured, where more time isn't all that is needed.
fn how(found: &Experiments, experiment: &str) -> String {
    let skipped = found.skipped.iter().find(|skipped| skipped.name == experiment);
    let reason = skipped
        .map(|skipped| skipped.reason.as_str())
        .filter(|reason| !reason.contains("budget") && !reason.contains("not asked for"));
    let usual = if experiment == "transactions" { HOW_COMMITS } else { HOW };
    reason.map_or_else(|| usual.to_owned(), |reason| format!("Why not: {reason}."))
}
