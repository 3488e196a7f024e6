use nandle_io::{ArenaError, Nanos};
use nandle_trace::TraceError;
use nandle_units::{format_bytes, format_duration};

/// Failure to play a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The trace can't be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace has nothing to play.
    #[error("the trace has no requests of the selected kind, so there is nothing to play")]
    Nothing,
    /// The trace touches too many areas to track.
    #[error(
        "the trace reads or writes more than {} in areas of 1MiB, the most that can be tracked; give fewer --requests",
        format_bytes(*most_bytes)
    )]
    TooManyAreas {
        /// Bytes of the areas that can be tracked.
        most_bytes: u64,
    },
    /// The trace's addresses exceed the target.
    #[error(
        "the trace's addresses reach to {}, and the target has {}; {}--wrap folds them back into it; or name a larger target",
        format_bytes(*needed_bytes), format_bytes(*room_bytes), compact_words(*compact_bytes)
    )]
    BeyondTarget {
        /// Bytes that the trace needs.
        needed_bytes: u64,
        /// Bytes that the target has.
        room_bytes: u64,
        /// Bytes needed with compacted areas, if they would fit.
        compact_bytes: Option<u64>,
    },
    /// The pauses between requests are unknown.
    #[error(
        "--timing think needs the recorded latency of every request, and the trace has {with_latency} for {requests} requests; \
         use --timing asis, closed:N or rate:R"
    )]
    NoLatencies {
        /// Requests with a response time.
        with_latency: u64,
        /// All requests.
        requests: u64,
    },
    /// The trace has no response times to compare with.
    #[error(
        "--compare needs recorded response times, and the trace has none; MSR traces, DiskSim's validation traces, and CSV \
         traces with the column latency_ns have them"
    )]
    NothingToCompare,
    /// The system refused to map memory for requests.
    #[error("memory for requests: {0}")]
    Memory(#[from] ArenaError),
    /// The device stopped completing requests.
    #[error(
        "the device has completed nothing for {}, with {in_flight} in flight, the oldest a {operation} at {address}",
        format_duration(*silent)
    )]
    Stalled {
        /// Time since the last completion.
        silent: Nanos,
        /// Requests in flight.
        in_flight: usize,
        /// Operation of the oldest request.
        operation: &'static str,
        /// Its address in the trace.
        address: u64,
    },
    /// Every request failed.
    #[error("every request failed ({failed}), the first with: {first_error}")]
    AllFailed {
        /// Number of requests.
        failed: u64,
        /// First failure.
        first_error: String,
    },
    /// The watcher cancelled the play.
    #[error("interrupted")]
    Cancelled,
}

fn compact_words(compact_bytes: Option<u64>) -> String {
    compact_bytes.map_or_else(String::new, |bytes| {
        format!("--addresses compact omits the areas never touched, and needs {}; ", format_bytes(bytes))
    })
}
