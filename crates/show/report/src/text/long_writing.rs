//! Duration of random writing and the steadiness it shows.

use nandle_profile::{DeviceProfile, LongWriting, ROTATIONAL_LATENCY_NS_MIN, Steadiness};

use super::{Quantity, quantity::significant};

/// Formats it as a sentence.
pub(crate) fn writing_duration(writing: &LongWriting, profile: &DeviceProfile) -> String {
    let turns = profile.derived.random_read_latency_ns.is_some_and(|ns| ns >= ROTATIONAL_LATENCY_NS_MIN);
    let share = writing.of_capacity().map_or_else(String::new, |share| {
        format!(", {}\u{a0}% of the device", significant(100.0 * share, 2))
    });
    let amount = format!(
        "{} in {}{share}",
        Quantity::size(writing.written_bytes),
        Quantity::time_ns(writing.elapsed_ns as f64)
    );
    match writing.steadiness {
        // A rotational device has no spare blocks to use up.
        Steadiness::TooShort if turns => format!("That is after {amount}."),
        Steadiness::Steady => format!("It was steady after {amount}."),
        Steadiness::Unsteady => format!("It was not steady after {amount}."),
        Steadiness::TooShort => format!(
            "That is after {amount}, too little to show a steady state, which takes about {}.",
            Quantity::size(writing.needed_bytes)
        ),
    }
}
