//! How much memory measuring takes: no more than the machine and its control groups leave it, of which the process would be
//! killed without a word.

use nandle_target::facts::available_memory_bytes;
use nandle_units::format_bytes;

/// What is taken for one purpose is at most this part of what is available: other processes and the kernel need some too.
const PART: u64 = 2;

/// Bytes that one purpose may take.
pub fn budget_bytes() -> u64 {
    available_memory_bytes().map_or(u64::MAX, |bytes| bytes / PART)
}

/// What may be taken of what is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// So much.
    pub bytes: u64,
    /// What to say of it, where it is less.
    pub remark: Option<String>,
}

impl Allowance {
    /// Memory for `purpose`; a quarter of what is available at most, because it is pinned and copied.
    pub fn of(purpose: &str, wanted_bytes: u64) -> Self {
        Self::within(budget_bytes() / PART, purpose, wanted_bytes)
    }

    /// The same where there are so many bytes for it.
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
    fn what_is_too_much_becomes_less_and_is_said() {
        assert_eq!(Allowance::within(100, "x", 100), Allowance { bytes: 100, remark: None });
        let less = Allowance::within(50 << 20, "requests", 256 << 20);
        assert_eq!(less.bytes, 50 << 20);
        let remark = less.remark.unwrap();
        assert!(remark.contains("requests: 50MiB instead of 256MiB"), "{remark}");
    }
}
