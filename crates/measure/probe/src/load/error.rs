use nandle_io::{ArenaError, Nanos};
use nandle_units::format_duration;

/// Error of a load run.
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
        /// Time without any completion.
        silent: Nanos,
        /// Requests outstanding.
        outstanding: usize,
        /// Kind of the oldest request.
        operation: &'static str,
        /// Offset of the oldest request.
        offset_bytes: u64,
        /// Time for which it has been outstanding.
        age: Nanos,
    },
    /// An abandoned run on this lane left requests outstanding.
    #[error(
        "{outstanding} requests of an earlier run are still outstanding, because the device stopped answering; open it again"
    )]
    Abandoned {
        /// Requests still outstanding.
        outstanding: usize,
    },
    /// Buffers could not be allocated.
    #[error("buffers for {queue_depth} requests of {block_bytes} bytes: {source}")]
    Memory {
        /// Requests outstanding.
        queue_depth: u32,
        /// Bytes of one request.
        block_bytes: u64,
        /// Cause.
        source: ArenaError,
    },
    /// The device can't serve requests of this size.
    #[error("blocks of {block_bytes} bytes: {reason}")]
    Block {
        /// Bytes of one request.
        block_bytes: u64,
        /// Reason of the refusal.
        reason: String,
    },
    /// Every request failed.
    #[error("all {requests} requests failed, the first with: {first}")]
    AllFailed {
        /// Number of requests.
        requests: u64,
        /// The first failure.
        first: String,
    },
    /// Some requests failed or returned wrong contents. The results of the others are kept.
    #[error("{requests} requests failed, the first with: {first}; look at the kernel's log (dmesg)")]
    SomeFailed {
        /// Number of failed requests.
        requests: u64,
        /// The first failure.
        first: String,
    },
    /// The world has too few slots for the queue depth.
    #[error("queue depth {queue_depth}: there are only {slots} request slots")]
    TooDeep {
        /// Requested queue depth.
        queue_depth: u32,
        /// Slots of the world.
        slots: usize,
    },
    /// A scheduled load needs an end time, and none was given.
    #[error("scheduled requests need an end time; give --time-per-run")]
    Endless,
    /// The user interrupted the run.
    #[error("interrupted")]
    Cancelled,
    /// A submitting thread could not be set up.
    #[error("{0}")]
    Opening(String),
}
