//! Placeholders of commands in sentences: the probe's target and budget.

use std::fmt::Write as _;

use nandle_profile::DeviceProfile;
use nandle_units::quoted;

const MINUTE_NS: u64 = 60_000_000_000;
/// Placeholder of the profile's target.
const TARGET: &str = "TARGET";
/// Placeholder of a budget in minutes. It becomes twice the profile's budget if that was as long,
/// because an equal probe would lack the same figures.
const BUDGET: &str = "BUDGET(";

/// Fills the target and longer budgets into a sentence.
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
