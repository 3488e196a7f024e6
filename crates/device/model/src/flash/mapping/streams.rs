//! Separation of hot and cold data: the open superblock of each write.

use serde::{Deserialize, Serialize};

use super::super::parameters::Separation;

/// Sequence of open superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stream {
    /// Host writes.
    Host,
    /// Host writes of recently written units.
    Hot,
    /// Units moved by cleaning.
    Moved,
    /// Host writes while the single-level region has room.
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

/// Stream of a host write. `age` is the number of superblocks closed since the one with the old
/// version (`None` without one). Ages below half of the drive's superblocks count as hot.
pub(crate) fn stream_for_host_write(separation: Separation, age: Option<u64>, superblocks: u32) -> Stream {
    match (separation, age) {
        (Separation::ByAge, Some(age)) if age < u64::from(superblocks) / 2 => Stream::Hot,
        _ => Stream::Host,
    }
}

/// Stream of units moved by cleaning.
pub(crate) fn stream_for_moves(separation: Separation) -> Stream {
    match separation {
        Separation::None => Stream::Host,
        Separation::ByOrigin | Separation::ByAge => Stream::Moved,
    }
}
