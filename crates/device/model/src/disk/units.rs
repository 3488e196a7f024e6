//! Conversions between the units of a parameter file and integer nanoseconds.

/// Converts a parameter's microseconds to nanoseconds. Validation keeps parameters finite,
/// non-negative and below an hour, so the result is exact except for rounding.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "validated parameters are finite, not negative, and far below 2^63 ns"
)]
pub(super) fn microseconds_to_ns(microseconds: f64) -> u64 {
    (microseconds * 1_000.0).round() as u64
}

/// Converts microseconds that may be negative. Validation limits their magnitude.
#[expect(clippy::cast_possible_truncation, reason = "validated parameters are finite and far below 2^63 ns")]
pub(super) fn signed_microseconds_to_ns(microseconds: f64) -> i64 {
    (microseconds * 1_000.0).round() as i64
}

/// Duration of one revolution in nanoseconds.
pub(super) fn revolution_ns(rotations_per_minute: f64) -> u64 {
    microseconds_to_ns(60_000_000.0 / rotations_per_minute)
}
