//! Figures that weren't measured, and count as risks until they are.

use nandle_profile::{Experiments, LongWriting, Steadiness};
use nandle_units::format_bytes;

use super::finding::Finding;
use crate::figures::Figures;

/// Weights that rank unmeasured figures. Commits precede all but grave faults, because each
/// transaction waits for one. Long writes, which a short probe never shows, come next, then reads
/// during writes.
const COMMITS_WEIGHT: f64 = 4.0;
const LONG_WRITES_WEIGHT: f64 = 3.0;
const BESIDE_READS_WEIGHT: f64 = 2.0;
/// Weight of commits without their 99th percentile.
const COMMIT_TAIL_WEIGHT: f64 = 1.5;

/// Instructions for timing commits and for measuring other writes.
const HOW_COMMITS: &str = "To measure it: nandle probe TARGET --budget 60s (writes to the test \
    file).";
const HOW: &str = "To measure it: nandle probe TARGET BUDGET(5m) (writes to the test file).";

/// Risks of unmeasured figures.
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
            "Too few were timed for a 99th percentile, which users notice.",
            "flush",
            COMMIT_TAIL_WEIGHT,
        )),
        (Ok(_), Ok(_)) => None,
    };
    let for_long = figures.steady_write_bandwidth().is_err().then_some((
        "Sustained writes weren't measured",
        "After hours of random writing some drives keep the rate of the first second, others a \
        fourteenth of it.",
        "steady-state",
        LONG_WRITES_WEIGHT,
    ));
    let too_short = too_short(figures);
    let beside = found.interference.is_none().then_some((
        "Reads during writes weren't measured",
        "Writes can delay reads many times over.",
        "interference",
        BESIDE_READS_WEIGHT,
    ));
    let risk = |(title, why, experiment, weight): (&'static str, &str, &str, f64)| {
        Finding::unmeasured(title, format!("{why} {}", how(found, experiment)), weight)
    };
    [commits, for_long, beside].into_iter().flatten().map(risk).chain(too_short).collect()
}

/// Risk of random writing that was too short for the steady state. Rotational devices have no spare
/// blocks to use up.
fn too_short(figures: &Figures<'_>) -> Option<Finding> {
    let writing =
        figures.profile.long_writing().filter(|writing| writing.steadiness == Steadiness::TooShort)?;
    let figure = figures.steady_write_bandwidth().ok().filter(|_| !figures.is_rotational())?;
    let means = format!(
        "A flash drive slows down once its spare blocks are used up. It takes about {} of writes \
        to see that, which wear the drive: nandle probe TARGET --only steady-state --budget {}m \
        --write-limit {} --resume",
        format_bytes(writing.needed_bytes),
        budget_minutes(&writing),
        limit(writing.needed_bytes)
    );
    Some(Finding {
        figure: Some(figure),
        ..Finding::unmeasured("Sustained write rate not established", means, LONG_WRITES_WEIGHT)
    })
}

/// Twice the time of the writing, because filling takes a part of it. At least the budget from
/// which a probe writes.
fn budget_minutes(writing: &LongWriting) -> u64 {
    const LEAST: u64 = 5;
    writing.needed_minutes().saturating_mul(2).max(LEAST)
}

/// Twice the size in whole GiB, because filling takes a part of it.
fn limit(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    format!("{}GiB", bytes.saturating_mul(2).div_ceil(GIB))
}

/// Instruction for the measurement, or the reason for skipping it if more time doesn't help.
fn how(found: &Experiments, experiment: &str) -> String {
    let skipped = found.skipped.iter().find(|skipped| skipped.name == experiment);
    let reason = skipped
        .map(|skipped| skipped.reason.as_str())
        .filter(|reason| !reason.contains("budget") && !reason.contains("not asked for"));
    let usual = if experiment == "transactions" { HOW_COMMITS } else { HOW };
    reason.map_or_else(|| usual.to_owned(), |reason| format!("Skipped: {reason}."))
}
