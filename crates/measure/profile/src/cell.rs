use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Interval;

/// What the requests of a cell do. Written `read`, `write` or `mixed:70` (per cent of reads).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
pub enum OperationKind {
    /// Every request reads.
    Read,
    /// Every request writes.
    Write,
    /// A share of the requests reads, the rest writes.
    Mixed {
        /// Share of the requests that read, in per cent.
        read_percent: u8,
    },
}

impl OperationKind {
    /// Whether some requests read.
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

/// One combination of pattern, operation, block size, group size and queue depth, and what it gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// The address pattern as the user names it (`random`, `sequential`, `focused:8MiB` …). Grouped random
    /// reading, the DIAT pattern, is `random` with `group_blocks` above 1.
    pub pattern: String,
    /// What the requests did.
    pub operation: OperationKind,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks addressed one after the other before the pattern jumps.
    pub group_blocks: u64,
    /// Requests kept outstanding, over all submitting threads.
    pub queue_depth: u32,
    /// Completed requests that were counted.
    pub requests: u64,
    /// Bytes moved in the time: of requests that were under way at the ends of a slice, the part that was.
    pub bytes: u64,
    /// Time over which they were counted.
    pub elapsed_ns: u64,
    /// `bytes` by `elapsed_ns`.
    pub bandwidth_bytes_per_s: f64,
    /// Requests by time, those at the ends in the same part.
    pub iops: f64,
    /// Time from submission to completion.
    pub latency_ns: LatencySummary,
    /// Processor time of this process (all its threads, user and system) for one request.
    pub cpu_ns_per_request: f64,
    /// Time-weighted mean of the requests outstanding; below `queue_depth` in batched mode.
    pub mean_outstanding: f64,
    /// Requests that failed, or whose contents were not what had been written.
    pub errors: u64,
    /// The first of them, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
    /// On a schedule (open loop): submission less scheduled arrival. Latency counts from the scheduled arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule_lag_ns: Option<LatencySummary>,
    /// On a schedule: arrivals that were due and not sent before the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent: Option<u64>,
    /// What the drive counted meanwhile: of cells that write, where the drive tells. Modelled flash drives do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveWork>,
    /// What each second of the run gave; empty for runs shorter than two seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<SecondSample>,
}

/// What a flash drive did during a run. Of an array the sums over its drives, so that what a mirror takes counts twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveWork {
    /// What the host wrote.
    pub host_written_bytes: u64,
    /// What was programmed into flash: the host's data, what cleaning and merging moved, and padding.
    pub flash_written_bytes: u64,
    /// Flash that was erased.
    pub erased_bytes: u64,
    /// `flash_written_bytes` by `host_written_bytes`; `null` when the host wrote nothing.
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
    /// The slowest request that completed in this second.
    pub latency_ns_max: u64,
}

/// A latency distribution in few figures.
///
/// A quantile is `null` unless at least ten observations lie beyond it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencySummary {
    /// Arithmetic mean; `null` when nothing was observed.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p999: Option<u64>,
    /// The slowest request; `null` when nothing was observed.
    pub max: Option<u64>,
}

impl LatencySummary {
    /// A quantile is told only where so many observations lie beyond it.
    const BEYOND: u64 = 10;

    /// The few figures of a distribution of so many observations; `at` gives its quantiles.
    pub fn of(observed: u64, mean: f64, max: u64, at: impl Fn(f64) -> u64) -> Self {
        // One observation in so many lies beyond the quantile. Whole numbers: 100 × (1 − 0.9) is less than ten.
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

/// A cell of a probe: measured in several short slices, spread over the whole probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredCell {
    /// Sums over the slices. `bandwidth_bytes_per_s` here is bytes by time as it was, uncorrected.
    #[serde(flatten)]
    pub cell: Cell,
    /// Number of slices.
    pub slices: u32,
    /// Bandwidth corrected for the drift that the reference cell showed and, in random reading of single blocks, by
    /// what the cells about it say (kriging), with its 95 % interval. Curves and derived parameters use this one.
    pub steady_bandwidth_bytes_per_s: Interval<f64>,
}

/// A cell that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedCell {
    /// The address pattern.
    pub pattern: String,
    /// Bytes of one request.
    pub block_bytes: u64,
    /// Blocks in a group.
    pub group_blocks: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Why it was not run.
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
