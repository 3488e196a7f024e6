use nandle_io::{ArenaError, Nanos};
use nandle_units::format_duration;

/// A run came to no result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The device stopped answering.
    #[error(
        "the device has not answered for {}: {outstanding} requests are outstanding, the oldest a {operation} at \
         offset {offset_bytes} since {}; look at the kernel's log (dmesg), or wait longer with --patience",
        format_duration(*silent), format_duration(*age)
    )]
    Stalled {
        /// How long nothing completed.
        silent: Nanos,
        /// Requests outstanding.
        outstanding: usize,
        /// What the oldest does.
        operation: &'static str,
        /// Where.
        offset_bytes: u64,
        /// How long it has been outstanding.
        age: Nanos,
    },
    /// A run on this lane was given up with requests outstanding.
    #[error(
        "{outstanding} requests of an earlier run are still outstanding here, which the device stopped answering; open \
         it anew"
    )]
    Abandoned {
        /// How many.
        outstanding: usize,
    },
    /// Buffers could not be had.
    #[error("buffers for {queue_depth} requests of {block_bytes} bytes: {source}")]
    Memory {
        /// Requests outstanding.
        queue_depth: u32,
        /// Bytes of one.
        block_bytes: u64,
        /// What was wrong.
        source: ArenaError,
    },
    /// The device can't do requests of this kind.
    #[error("blocks of {block_bytes} bytes: {reason}")]
    Block {
        /// Bytes of one request.
        block_bytes: u64,
        /// Why not.
        reason: String,
    },
    /// Every request failed.
    #[error("all {requests} requests failed, the first with: {first}")]
    AllFailed {
        /// How many.
        requests: u64,
        /// The first failure.
        first: String,
    },
    /// Some requests failed, or brought wrong contents; the others were answered, and what they gave is kept.
    #[error("{requests} requests failed, the first with: {first}; look at the kernel's log (dmesg)")]
    SomeFailed {
        /// How many.
        requests: u64,
        /// The first failure.
        first: String,
    },
    /// The world has no room for so many requests.
    #[error("{queue_depth} requests outstanding: this world has room for {slots}")]
    TooDeep {
        /// Requests wanted.
        queue_depth: u32,
        /// Room.
        slots: usize,
    },
    /// Requests on a schedule come until a time, and none was given.
    #[error("requests on a schedule need a time at which they end; give --time-per-run")]
    Endless,
    /// The user ended it.
    #[error("interrupted")]
    Cancelled,
    /// A submitting thread could not be set up.
    #[error("{0}")]
    Opening(String),
}
