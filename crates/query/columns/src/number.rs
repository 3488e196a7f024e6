//! Conversions that can't fail here: addresses have 64 bits, and what is counted in 32 fits in memory.

/// A length or place in memory.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or_else(|_| unreachable!("{number} is no place in memory"))
}

/// A number of a file, a step or a row of what is in memory.
pub(crate) fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or_else(|_| unreachable!("there are fewer than 2^32, not {number}"))
}
