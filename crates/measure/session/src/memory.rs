//! Memory limits of a measurement. Exceeding what the machine and its control groups provide would
//! get the process killed silently.

use nandle_target::facts::available_memory_bytes;
use nandle_units::format_bytes;

/// Fraction (one in `PART`) of the available memory for one purpose. Other processes and the kernel
/// need some too.
const PART: u64 = 2;

/// Memory limit of one purpose, in bytes.
pub fn budget_bytes() -> u64 {
    available_memory_bytes().map_or(u64::MAX, |bytes| bytes / PART)
}

/// Memory granted for a purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// Granted bytes.
    pub bytes: u64,
    /// Remark for the user if this is less than requested.
    pub remark: Option<String>,
}

impl Allowance {
    /// Memory for `purpose`, at most a quarter of the available memory, since it is pinned and
    /// copied.
    pub fn of(purpose: &str, wanted_bytes: u64) -> Self {
        Self::within(budget_bytes() / PART, purpose, wanted_bytes)
    }

    /// Memory for `purpose`, at most `most_bytes`.
    pub fn within(most_bytes: u64, purpose: &str, wanted_bytes: u64) -> Self {
        if wanted_bytes <= most_bytes {
            return Self { bytes: wanted_bytes, remark: None };
        }
        let remark = format!(
            "Memory for {purpose}: {} instead of {}, because the machine or its control group leaves this process no more (see \
             memory.max).",
            format_bytes(most_bytes),
            format_bytes(wanted_bytes)
        );
        Self { bytes: most_bytes, remark: Some(remark) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_memory_is_reduced_with_a_remark() {
        assert_eq!(Allowance::within(100, "x", 100), Allowance { bytes: 100, remark: None });
        let less = Allowance::within(50 << 20, "requests", 256 << 20);
        assert_eq!(less.bytes, 50 << 20);
        let remark = less.remark.unwrap();
        assert!(remark.contains("requests: 50MiB instead of 256MiB"), "{remark}");
    }
}
