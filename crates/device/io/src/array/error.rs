use crate::IoError;

/// Reasons why an array can't be made or resynchronised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// Too few children, or an odd number.
    #[error("{level} of {count} devices: it takes {expected}")]
    Children {
        /// Level: raid0 or raid10.
        level: &'static str,
        /// Number given.
        count: usize,
        /// Numbers allowed.
        expected: &'static str,
    },
    /// A child is not a device of the inner world.
    #[error("child {index} is no device of the world that holds the array's children")]
    UnknownChild {
        /// Device number given.
        index: u32,
    },
    /// A device is named twice.
    #[error("device {index} is named twice; a device can be one child of an array")]
    SameChild {
        /// Device number.
        index: u32,
    },
    /// The chunk isn't a multiple of the children's logical blocks.
    #[error(
        "a chunk of {chunk_bytes} bytes is not a multiple of {needed_bytes} bytes, the children's logical block"
    )]
    Chunk {
        /// Chunk length given.
        chunk_bytes: u64,
        /// Unit of the chunk length.
        needed_bytes: u64,
    },
    /// The smallest child is shorter than one chunk.
    #[error("the smallest child has {capacity_bytes} bytes, less than one chunk of {chunk_bytes} bytes")]
    TooSmall {
        /// Capacity of the child.
        capacity_bytes: u64,
        /// Chunk length given.
        chunk_bytes: u64,
    },
    /// The device is not a mirrored array.
    #[error("device {index} is no raid10, so it has no legs to resynchronise")]
    NoMirror {
        /// Device number.
        index: u32,
    },
    /// Requests are in flight.
    #[error("{in_flight} requests are in flight; resynchronise when none is")]
    Busy {
        /// Number of requests.
        in_flight: usize,
    },
    /// No memory for copying.
    #[error("memory for resynchronising: {0}")]
    Memory(#[from] crate::ArenaError),
    /// A request failed during resynchronisation; the legs may still differ.
    #[error("resynchronising stopped, the legs may still differ: {0}")]
    Io(#[from] IoError),
}
