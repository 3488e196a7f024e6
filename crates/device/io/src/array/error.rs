use crate::IoError;

/// An array can't be made of these devices, or not be resynchronised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Too few children, or an odd number of them.
    #[error("{level} of {count} devices: it takes {expected}")]
    Children {
        /// raid0 or raid10.
        level: &'static str,
        /// How many were given.
        count: usize,
        /// How many it takes.
        expected: &'static str,
    },
    /// A child is no device of the inner world.
    #[error("child {index} is no device of the world that holds the array's children")]
    UnknownChild {
        /// The number given.
        index: u32,
    },
    /// A device was named twice.
    #[error("device {index} is named twice; a device can be one child of an array")]
    SameChild {
        /// The device's number.
        index: u32,
    },
    /// The chunk doesn't consist of whole logical blocks of the children.
    #[error(
        "a chunk of {chunk_bytes} bytes is not a multiple of {needed_bytes} bytes, the children's logical block"
    )]
    Chunk {
        /// The chunk asked for.
        chunk_bytes: u64,
        /// What it must be a multiple of.
        needed_bytes: u64,
    },
    /// The smallest child doesn't hold one chunk.
    #[error("the smallest child has {capacity_bytes} bytes, less than one chunk of {chunk_bytes} bytes")]
    TooSmall {
        /// Its capacity.
        capacity_bytes: u64,
        /// The chunk asked for.
        chunk_bytes: u64,
    },
    /// The device isn't an array of mirrors.
    #[error("device {index} is no raid10, so it has no legs to resynchronise")]
    NoMirror {
        /// The device's number.
        index: u32,
    },
    /// Requests are in flight.
    #[error("{in_flight} requests are in flight; resynchronise when none is")]
    Busy {
        /// How many.
        in_flight: usize,
    },
    /// No memory for copying.
    #[error("memory for resynchronising: {0}")]
    Memory(#[from] crate::ArenaError),
    /// A request failed while resynchronising; the legs may still differ.
    #[error("resynchronising stopped, the legs may still differ: {0}")]
    Io(#[from] IoError),
}
