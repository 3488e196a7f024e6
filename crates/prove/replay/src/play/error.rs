use nandle_io::{ArenaError, Nanos};
use nandle_trace::TraceError;
use nandle_units::{format_bytes, format_duration};

/// A trace could not be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The trace can't be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// There is nothing to play.
    #[error("the trace has no requests of the kind that is wanted, so there is nothing to play")]
    Nothing,
    /// More different areas are touched than are told apart.
    #[error(
        "the trace reads or writes more than {} of areas of 1MiB, which are more than are told apart; give fewer --requests",
        format_bytes(*most_bytes)
    )]
    TooManyAreas {
        /// Bytes of the areas that are told apart.
        most_bytes: u64,
    },
    /// The trace's addresses lie beyond the target.
    #[error(
        "the trace's addresses reach to {}, and the target has {}; {}--wrap folds them back into it; or name a larger target",
        format_bytes(*needed_bytes), format_bytes(*room_bytes), compact_words(*compact_bytes)
    )]
    BeyondTarget {
        /// Bytes that the trace needs.
        needed_bytes: u64,
        /// Bytes that there are.
        room_bytes: u64,
        /// Bytes that it needs with its areas side by side, where that would do.
        compact_bytes: Option<u64>,
    },
    /// The pauses between requests aren't known.
    #[error(
        "--timing think sends a request so long after the one before has completed as the trace has it, and the trace tells of {with_latency} \
         of its {requests} requests how long they took; use --timing asis, closed:N or rate:R"
    )]
    NoLatencies {
        /// Requests with a response time.
        with_latency: u64,
        /// All of them.
        requests: u64,
    },
    /// There is nothing to compare with.
    #[error(
        "--compare takes response times that the trace has recorded, and it has none; traces of MSR, DiskSim's validation traces, and CSV \
         with the column latency_ns have them"
    )]
    NothingToCompare,
    /// No memory for requests.
    #[error("memory for requests: {0}")]
    Memory(#[from] ArenaError),
    /// The device is silent.
    #[error(
        "the device has completed nothing for {}, with {in_flight} in flight, the oldest a {operation} at {address}",
        format_duration(*silent)
    )]
    Stalled {
        /// For how long.
        silent: Nanos,
        /// Requests in flight.
        in_flight: usize,
        /// What the oldest does.
        operation: &'static str,
        /// Its address in the trace.
        address: u64,
    },
    /// Every request failed.
    #[error("every request failed ({failed}), the first with: {first_error}")]
    AllFailed {
        /// How many.
        failed: u64,
        /// The first failure.
        first_error: String,
    },
    /// The watcher wants it to end.
    #[error("interrupted")]
    Cancelled,
}

fn compact_words(compact_bytes: Option<u64>) -> String {
    compact_bytes.map_or_else(String::new, |bytes| {
        format!(
            "--addresses compact leaves out what it never touches, which leaves {}; ",
            format_bytes(bytes)
        )
    })
}
