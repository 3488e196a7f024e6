//! Hot and cold: which open superblock a written unit goes to.

use serde::{Deserialize, Serialize};

use super::super::parameters::Separation;

/// A sequence of open superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stream {
    /// What the host writes.
    Host,
    /// What the host writes again soon after it wrote it.
    Hot,
    /// What cleaning moves.
    Moved,
    /// What the host writes, while the single-level region has room.
    Slc,
}

/// Number of streams.
pub(crate) const STREAMS: usize = 4;

impl Stream {
    pub(crate) const ALL: [Self; STREAMS] = [Self::Host, Self::Hot, Self::Moved, Self::Slc];

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// The stream for a host write. `age` is how many superblocks have been closed since the one that holds the old
/// version (`None` without one); the younger half of a turn over the drive counts as hot.
pub(crate) fn stream_for_host_write(separation: Separation, age: Option<u64>, superblocks: u32) -> Stream {
    match (separation, age) {
        (Separation::ByAge, Some(age)) if age < u64::from(superblocks) / 2 => Stream::Hot,
        _ => Stream::Host,
    }
}

/// The stream for what cleaning moves.
pub(crate) fn stream_for_moves(separation: Separation) -> Stream {
    match separation {
        Separation::None => Stream::Host,
        Separation::ByOrigin | Separation::ByAge => Stream::Moved,
    }
}
