use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Interval;

/// Kind of a cell's requests. Written `read`, `write` or `mixed:70` (per cent of reads).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
pub enum OperationKind {
    /// All requests read.
    Read,
    /// All requests write.
    Write,
    /// Some requests read, the rest write.
    Mixed {
        /// Share of reads, in per cent.
        read_percent: u8,
    },
}

impl OperationKind {
    /// Returns true if some requests read.
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read => f.write_str("read"),
            Self::Write => f.write_str("write"),
            Self::Mixed { read_percent } => write!(f, "mixed:{read_percent}"),
        }
    }
}

impl FromStr for OperationKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |text: &str| text.parse().ok().filter(|percent| *percent <= 100);
        match (text, text.strip_prefix("mixed:").and_then(percent)) {
            ("read", _) => Ok(Self::Read),
            ("write", _) => Ok(Self::Write),
            (_, Some(read_percent)) => Ok(Self::Mixed { read_percent }),
            _ => Err(format!(
                "expected read, write or mixed:PERCENT (per cent of reads, 0 to 100), got {text:?}"
            )),
        }
    }
}

impl From<OperationKind> for String {
    fn from(kind: OperationKind) -> Self {
        kind.to_string()
    }
}

impl TryFrom<String> for OperationKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// One combination of pattern, operation, block size, group size and queue depth, with its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Address pattern as the user names it (`random`, `sequential`, `focused:8MiB` …). Grouped
    /// random reads, the DIAT pattern, are `random` with `group_blocks` above 1.
    pub pattern: String,
    /// Kind of the requests.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Consecutive blocks before the pattern jumps.
    pub group_blocks: u64,
    /// Outstanding requests over all submitting threads.
    pub queue_depth: u32,
    /// Counted requests.
    pub requests: u64,
    /// Bytes moved in `elapsed_ns`. Requests in flight at the ends of a slice count in part.
    pub bytes: u64,
    /// Time over which requests were counted.
    pub elapsed_ns: u64,
    /// `bytes` divided by `elapsed_ns`.
    pub bandwidth_bytes_per_s: f64,
    /// Requests per second. Requests in flight at the ends of a slice count in part.
    pub iops: f64,
    /// Time from submission to completion.
    pub latency_ns: LatencySummary,
    /// Processor time of this process (all threads, user and system) per request.
    pub cpu_ns_per_request: f64,
    /// Time-weighted mean of the outstanding requests; below `queue_depth` in batched mode.
    pub mean_outstanding: f64,
    /// Requests that failed or returned wrong contents.
    pub errors: u64,
    /// Message of the first failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// Submission minus scheduled arrival, for scheduled requests (open loop). Latency counts from
    /// the scheduled arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns: Option<LatencySummary>,
    /// Arrivals that were due but not sent before the end, for scheduled requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent: Option<u64>,
    /// Counters of the drive during a cell that writes, if it has any. Modelled flash drives do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveWork>,
    /// Results of each second of the run; empty for runs shorter than two seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<SecondSample>,
}

/// Work of a flash drive during a run. For an array it is the sum over its drives, so writes to a
/// mirror count twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveWork {
    /// Bytes written by the host.
    pub host_written_bytes: u64,
    /// Bytes programmed into flash: the host's data, data moved by garbage collection and merges,
    /// and padding.
    pub flash_written_bytes: u64,
    /// Bytes of erased flash.
    pub erased_bytes: u64,
    /// `flash_written_bytes` divided by `host_written_bytes`; `null` if the host wrote nothing.
    pub write_amplification: Option<f64>,
}

/// One second of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecondSample {
    /// Requests completed in this second.
    pub requests: u64,
    /// Bytes moved in this second.
    pub bytes: u64,
    /// Latency of the slowest request that completed in this second.
    pub latency_ns_max: u64,
}

/// Summary of a latency distribution.
///
/// A quantile is `null` unless at least ten observations lie beyond it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencySummary {
    /// Arithmetic mean; `null` without observations.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p999: Option<u64>,
    /// Largest latency; `null` without observations.
    pub max: Option<u64>,
}

impl LatencySummary {
    /// Observations beyond a quantile that make it reliable.
    const BEYOND: u64 = 10;

    /// Summarises `observed` observations; `at` returns their quantiles.
    pub fn of(observed: u64, mean: f64, max: u64, at: impl Fn(f64) -> u64) -> Self {
        // One in `beyond_one_in` observations lies beyond the quantile. Integers avoid rounding:
        // 100 × (1 − 0.9) is less than ten.
        let quantile = |quantile: f64, beyond_one_in: u64| {
            (observed >= Self::BEYOND * beyond_one_in).then(|| at(quantile))
        };
        Self {
            mean: (observed > 0).then_some(mean),
            p50: quantile(0.5, 2),
            p90: quantile(0.9, 10),
            p99: quantile(0.99, 100),
            p999: quantile(0.999, 1000),
            max: (observed > 0).then_some(max),
        }
    }
}

/// Cell of a probe, measured in several short slices spread over the whole probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredCell {
    /// Sums over the slices. Its `bandwidth_bytes_per_s` is uncorrected.
    #[serde(flatten)]
    pub cell: Cell,
    /// Number of slices.
    pub slices: u32,
    /// Bandwidth corrected for drift, with its 95 % interval. Drift is taken from the reference
    /// cell. For random reads of single blocks, neighbouring cells contribute as well (kriging).
    /// Curves and derived parameters use this figure.
    pub steady_bandwidth_bytes_per_s: Interval<f64>,
}

/// Skipped cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedCell {
    /// Address pattern.
    pub pattern: String,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Reason for skipping it.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_kinds_read_back_as_they_print() {
        for kind in [OperationKind::Read, OperationKind::Write, OperationKind::Mixed { read_percent: 70 }] {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<OperationKind>(&json).unwrap(), kind);
        }
        assert!("mixed:101".parse::<OperationKind>().is_err());
        assert!("trim".parse::<OperationKind>().is_err());
    }
}
