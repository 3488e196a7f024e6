//! Conversions between the units of a parameter file and integer nanoseconds.

/// Microseconds of a parameter file to whole nanoseconds. Validation keeps parameters finite, not negative and below
/// an hour, so the conversion is exact to a rounding.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "validated parameters are finite, not negative, and far below 2^63 ns"
)]
pub(super) fn microseconds_to_ns(microseconds: f64) -> u64 {
    (microseconds * 1_000.0).round() as u64
}

/// Microseconds to be added to a time or, where they are negative, taken from it. Validated like those that can't be.
#[expect(clippy::cast_possible_truncation, reason = "validated parameters are finite and far below 2^63 ns")]
pub(super) fn signed_microseconds_to_ns(microseconds: f64) -> i64 {
    (microseconds * 1_000.0).round() as i64
}

/// Nanoseconds of one revolution.
pub(super) fn revolution_ns(rotations_per_minute: f64) -> u64 {
    microseconds_to_ns(60_000_000.0 / rotations_per_minute)
}
