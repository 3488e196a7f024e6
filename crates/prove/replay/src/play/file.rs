//! Result of a play, as written by `nandle trace play --json`: one JSON object, in which every key
//! of a figure ends in its unit.

use nandle_profile::{Backend, LatencySummary};
use nandle_trace::Operation;
use serde::{Deserialize, Serialize};

use super::ScheduleLag;
use crate::AddressesUsed;

/// Schema version of a play's JSON.
pub const PLAY_SCHEMA_VERSION: u32 = 1;

/// A play: its trace, its target, its timing, and the response times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayFile {
    /// Schema version: [`PLAY_SCHEMA_VERSION`] of the program that wrote the file.
    pub schema_version: u32,
    /// Trace, as named by the user.
    pub trace: String,
    /// Format of the trace.
    pub format: String,
    /// Target, as named by the user.
    pub target: String,
    /// Backend that sent the requests.
    pub backend: Backend,
    /// Timing of requests: `asis`, `think`, `closed:N` or `rate:R`.
    pub timing: String,
    /// Maximum requests in flight.
    pub queue_depth: u32,
    /// True if only reads were played.
    pub reads_only: bool,
    /// Mapping of the trace's addresses.
    pub addresses: AddressesUsed,
    /// True if addresses beyond the end of the target were folded back.
    pub wrapped: bool,
    /// Size to which a modelled target was enlarged; `null` if it wasn't.
    pub enlarged_to_bytes: Option<u64>,
    /// Time from the first request to the last in the trace, in nanoseconds.
    pub trace_span_ns: u64,
    /// Time from the first request to the last completion, in nanoseconds.
    pub elapsed_ns: u64,
    /// Requests that were folded back in part.
    pub folded_requests: u64,
    /// Requests that were split for the device.
    pub cut_requests: u64,
    /// Requests that were extended to whole logical blocks.
    pub widened_requests: u64,
    /// Discards that were skipped: shorter than a block, or unsupported by the device.
    pub passed_over_requests: u64,
    /// Damaged lines of the trace that were skipped.
    pub bad_lines: u64,
    /// Message of the first failure; `null` if there was none.
    pub first_error: Option<String>,
    /// Figures of all requests, then of each kind in the trace.
    pub operations: Vec<OperationFigures>,
    /// Adherence to the schedule; `null` if each request follows the completion of another.
    pub schedule: Option<ScheduleFigures>,
    /// Lag behind the schedule, with advice; `null` if the target kept up, or there was no
    /// schedule. With a lag, response times include a growing backlog.
    #[serde(default)]
    pub fell_behind: Option<ScheduleLag>,
    /// Comparison with the response times recorded in the trace, for all requests, then each kind.
    /// Empty if not requested.
    pub comparison: Vec<RecordedComparison>,
    /// Quantiles for all requests, then for each kind.
    pub distributions: Vec<PlayDistribution>,
    /// Remarks for readers of the figures, each a sentence.
    pub remarks: Vec<String>,
}

impl PlayFile {
    /// Timing of requests, in words.
    pub fn when(&self) -> String {
        match self.timing.split_once(':') {
            Some(("closed", in_flight)) => format!("{in_flight} in flight"),
            Some(("rate", _)) => format!("due at a constant rate, at most {} in flight", self.queue_depth),
            _ if self.timing == "think" => "one at a time, with the trace's pauses between them".to_owned(),
            _ => format!("due at the trace's times, at most {} in flight", self.queue_depth),
        }
    }
}

/// Figures of one kind of request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationFigures {
    /// Kind of request; `null` for all.
    pub operation: Option<Operation>,
    /// Requests that succeeded. The times include only these.
    pub requests: u64,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Bytes read and written by the successful requests, as requested by the trace.
    pub bytes: u64,
    /// Response time, in nanoseconds: from due time to completion.
    pub response_ns: LatencySummary,
    /// Service time, in nanoseconds: from sending to completion.
    pub service_ns: LatencySummary,
}

/// Adherence to the schedule of due times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleFigures {
    /// Requests that the host sent late although the queue had room.
    pub late_requests: u64,
    /// Delay from which a request counts as late, in nanoseconds.
    pub late_after_ns: u64,
    /// Delay from due time to sending, of requests that weren't held, in nanoseconds.
    pub lag_ns: LatencySummary,
    /// Requests that were due while the queue was full.
    pub held_requests: u64,
    /// Delay from due time to sending, of held requests, in nanoseconds.
    pub held_ns: LatencySummary,
}

/// Response times compared with those recorded in the trace, for requests that have both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedComparison {
    /// Kind of request; `null` for all.
    pub operation: Option<Operation>,
    /// Number of requests.
    pub requests: u64,
    /// Recorded response times, in nanoseconds.
    pub recorded_ns: LatencySummary,
    /// Response times of the play, in nanoseconds.
    pub played_ns: LatencySummary,
    /// Mean of the play divided by the recorded mean; `null` if that is 0.
    pub mean_ratio: Option<f64>,
    /// Demerit figure: root mean square of the distance between the two distributions (Ruemmler and
    /// Wilkes, 1994), in nanoseconds.
    pub demerit_ns: f64,
    /// Demerit figure divided by the recorded mean.
    pub demerit_ratio: Option<f64>,
}

/// Distribution of times for one kind of request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayDistribution {
    /// Kind of request; `null` for all.
    pub operation: Option<Operation>,
    /// Quantiles in ascending order, without those that fewer than ten requests exceed.
    pub quantiles: Vec<QuantilePoint>,
}

/// A quantile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantilePoint {
    /// Share of the requests that take no longer.
    pub share: f64,
    /// Response time, in nanoseconds.
    pub response_ns: u64,
    /// Service time, in nanoseconds.
    pub service_ns: u64,
    /// Recorded response time in nanoseconds; `null` unless every request has one.
    pub recorded_ns: Option<u64>,
}
