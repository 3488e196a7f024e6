//! The result of a play as `nandle trace play --json` writes it: one JSON object, in which every key of a figure ends in its unit.

use nandle_profile::{Backend, LatencySummary};
use nandle_trace::Operation;
use serde::{Deserialize, Serialize};

use super::FellBehind;
use crate::AddressesUsed;

/// Version of the play's JSON.
pub const PLAY_SCHEMA_VERSION: u32 = 1;

/// A trace that was played: what of, on what, when its requests were sent, and how long they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayFile {
    /// [`PLAY_SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The trace as the user named it.
    pub trace: String,
    /// Its format.
    pub format: String,
    /// The target as the user named it.
    pub target: String,
    /// How requests reached it.
    pub backend: Backend,
    /// When requests were sent: `asis`, `think`, `closed:N` or `rate:R`.
    pub timing: String,
    /// The most requests in flight.
    pub queue_depth: u32,
    /// Whether reads alone were played.
    pub reads_only: bool,
    /// What became of the trace's addresses.
    pub addresses: AddressesUsed,
    /// Whether addresses beyond the target's end were folded back into it.
    pub wrapped: bool,
    /// What a modelled target was made as large as; `null` where it is as it was named.
    pub enlarged_to_bytes: Option<u64>,
    /// From the first request to the last, by the trace's clock.
    pub trace_span_ns: u64,
    /// From the first request to the last completion.
    pub elapsed_ns: u64,
    /// Requests of which a part was folded back.
    pub folded_requests: u64,
    /// Requests that were cut into several for the device.
    pub cut_requests: u64,
    /// Requests that were widened to whole logical blocks.
    pub widened_requests: u64,
    /// Discards that asked for nothing, or on a device that takes none.
    pub passed_over_requests: u64,
    /// Damaged lines of the trace that were passed over.
    pub bad_lines: u64,
    /// The first failure, in words; `null` where there was none.
    pub first_error: Option<String>,
    /// All requests, then each kind that the trace has.
    pub operations: Vec<OperationPlayed>,
    /// How well the times were kept at which requests were due; `null` where each follows another.
    pub schedule: Option<ScheduleKept>,
    /// How the target, or the host, fell behind the times at which requests were due, and what to do; `null` where it kept up, or
    /// nothing was due by a schedule. Then response times are those of a backlog.
    #[serde(default)]
    pub fell_behind: Option<FellBehind>,
    /// Beside the response times that the trace has recorded: all requests, then each kind. Empty where that wasn't asked for.
    pub comparison: Vec<Compared>,
    /// Quantiles of all requests and of each kind.
    pub distributions: Vec<PlayedDistribution>,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
}

impl PlayFile {
    /// When requests were sent, in words.
    pub fn when(&self) -> String {
        match self.timing.split_once(':') {
            Some(("closed", in_flight)) => format!("{in_flight} in flight"),
            Some(("rate", _)) => format!("due at equal distances, at most {} in flight", self.queue_depth),
            _ if self.timing == "think" => "one at a time, with the trace's pauses between them".to_owned(),
            _ => format!("due at the trace's times, at most {} in flight", self.queue_depth),
        }
    }
}

/// What the requests of a kind took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationPlayed {
    /// Which kind; `null` for all.
    pub operation: Option<Operation>,
    /// Requests that succeeded. The times are theirs.
    pub requests: u64,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Bytes that those read and wrote, as the trace asked for.
    pub bytes: u64,
    /// From when a request was due until it was done.
    pub response_ns: LatencySummary,
    /// From when it was sent until it was done.
    pub service_ns: LatencySummary,
}

/// How well the times were kept at which requests were due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleKept {
    /// Requests that were sent late although there was room for them: the host was busy or asleep.
    pub late_requests: u64,
    /// Those that were sent so long after they were due are counted as late.
    pub late_after_ns: u64,
    /// From when a request was due until it was sent, of those for which there was room.
    pub lag_ns: LatencySummary,
    /// Requests that were due while as many were in flight as may be.
    pub held_requests: u64,
    /// From when they were due until they were sent.
    pub held_ns: LatencySummary,
}

/// Response times beside those that the trace has recorded, of the requests that have both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Which kind of request; `null` for all.
    pub operation: Option<Operation>,
    /// How many.
    pub requests: u64,
    /// As recorded.
    pub recorded_ns: LatencySummary,
    /// As played.
    pub played_ns: LatencySummary,
    /// The played mean by the recorded one; `null` where that is 0.
    pub mean_ratio: Option<f64>,
    /// Root mean square of the distance between the two distributions (Ruemmler and Wilkes, 1994).
    pub demerit_ns: f64,
    /// The same by the recorded mean.
    pub demerit_ratio: Option<f64>,
}

/// How the times of a kind of request are distributed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedDistribution {
    /// Which kind; `null` for all.
    pub operation: Option<Operation>,
    /// Ascending; those beyond which fewer than ten requests lie are left out.
    pub quantiles: Vec<QuantilePoint>,
}

/// A quantile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantilePoint {
    /// Share of the requests that take no longer.
    pub share: f64,
    /// Response time.
    pub response_ns: u64,
    /// Service time.
    pub service_ns: u64,
    /// What the trace has recorded; `null` where it hasn't of every request.
    pub recorded_ns: Option<u64>,
}
