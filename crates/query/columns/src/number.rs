//! Conversions that can't fail here: addresses have 64 bits, and counts in 32 bits fit in memory.

/// Converts a length or an index to `usize`.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or_else(|_| unreachable!("{number} is no place in memory"))
}

/// Converts an index of something in memory to `u32`.
pub(crate) fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or_else(|_| unreachable!("there are fewer than 2^32, not {number}"))
}
