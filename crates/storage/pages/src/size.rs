//! Counts and lengths, between what is on the device and what is in memory.

/// A count or a length of something in memory. Addresses have 64 bits wherever a store runs.
pub(crate) fn to_usize(count: u64) -> usize {
    let Ok(count) = usize::try_from(count) else { unreachable!("{count} is more than memory can hold") };
    count
}

/// A count or a length that is in a field of four bytes.
pub(crate) fn to_u32(count: u64) -> u32 {
    let Ok(count) = u32::try_from(count) else { unreachable!("{count} is more than its field can hold") };
    count
}
