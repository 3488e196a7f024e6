//! Arithmetic between bytes and mapping units.

/// Run of mapping units; the first and last may be covered in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitRange {
    /// First unit.
    pub(crate) first: u32,
    /// One past the last unit.
    pub(crate) end: u32,
}

impl UnitRange {
    /// Units that a byte range touches. Larger drives than 2³² units are refused, so the numbers
    /// fit.
    pub(crate) fn covering(offset_bytes: u64, length_bytes: u64, unit_bytes: u64) -> Self {
        let first = offset_bytes / unit_bytes;
        let end = (offset_bytes + length_bytes).div_ceil(unit_bytes);
        Self { first: saturating_u32(first), end: saturating_u32(end) }
    }

    pub(crate) fn len(self) -> u32 {
        self.end - self.first
    }
}

/// Number of bytes of `unit` in the byte range.
pub(crate) fn covered_bytes(unit: u32, offset_bytes: u64, length_bytes: u64, unit_bytes: u64) -> u64 {
    let unit_start = u64::from(unit) * unit_bytes;
    let start = unit_start.max(offset_bytes);
    let end = (unit_start + unit_bytes).min(offset_bytes + length_bytes);
    end.saturating_sub(start)
}

/// Time to move `bytes` at `bytes_per_s`, rounded to the nearest nanosecond.
pub(crate) fn transfer_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    let picoseconds = u128::from(bytes) * 1_000_000_000_000 / u128::from(bytes_per_s.max(1));
    u64::try_from((picoseconds + 500) / 1_000).unwrap_or(u64::MAX)
}

/// Converts to `u32`; saturates if it doesn't fit.
pub(crate) fn saturating_u32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{UnitRange, covered_bytes, transfer_ns};

    #[test]
    fn a_range_touches_every_unit_it_overlaps() {
        assert_eq!(UnitRange::covering(4096, 4097, 4096), UnitRange { first: 1, end: 3 });
        assert_eq!(covered_bytes(1, 4096, 4097, 4096), 4096);
        assert_eq!(covered_bytes(2, 4096, 4097, 4096), 1);
    }

    #[test]
    fn transfer_time_is_rounded() {
        assert_eq!(transfer_ns(4096, 7_000_000_000), 585);
        assert_eq!(transfer_ns(1 << 20, 1 << 30), 976_563);
    }
}
