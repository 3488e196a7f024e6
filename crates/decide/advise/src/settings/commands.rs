//! Commands within sentences: which target they name, and for how long they probe.

use std::fmt::Write as _;

use nandle_profile::DeviceProfile;
use nandle_units::quoted;

const MINUTE_NS: u64 = 60_000_000_000;
/// Stands for the target of the profile.
const TARGET: &str = "TARGET";
/// Stands for a budget: so many minutes, or twice what the probe had where that is more. What a probe lacked, one of the same length
/// lacks again.
const BUDGET: &str = "BUDGET(";

/// A sentence with the target of a profile, and with budgets that are longer than it had.
pub(crate) fn completed(sentence: &str, profile: &DeviceProfile) -> String {
    let had_minutes = profile.conditions.budget_ns / MINUTE_NS;
    let mut text = String::new();
    let mut rest = sentence;
    while let Some((before, (minutes, after))) =
        rest.split_once(BUDGET).and_then(|(before, after)| Some((before, after.split_once("m)")?)))
    {
        let least: u64 = minutes.parse().unwrap_or(1);
        let minutes = if had_minutes < least { least } else { 2 * had_minutes };
        let _ = write!(text, "{before}--budget {minutes}m");
        rest = after;
    }
    (text + rest).replace(TARGET, &quoted(&profile.target))
}
