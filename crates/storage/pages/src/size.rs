//! Conversions of counts and lengths between disk formats and memory.

/// Converts a count or length in memory. All supported systems have 64-bit addresses.
pub(crate) fn to_usize(count: u64) -> usize {
    let Ok(count) = usize::try_from(count) else { unreachable!("{count} is more than memory can hold") };
    count
}

/// Converts a count or length for a field of four bytes.
pub(crate) fn to_u32(count: u64) -> u32 {
    let Ok(count) = u32::try_from(count) else { unreachable!("{count} is more than its field can hold") };
    count
}
