use serde::{Deserialize, Serialize};

use crate::{Interval, SecondSample};

/// What is left of a device's speed when it is written to for long (SNIA Solid State Storage Performance Test
/// Specification: rounds, a window of five, range and slope).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyState {
    /// Bytes of one random write.
    pub block_bytes: u64,
    /// Requests outstanding.
    pub queue_depth: u32,
    /// Bytes written in sequence before the rounds.
    pub sequential_fill_bytes: u64,
    /// The size of the area that is overwritten.
    pub area_bytes: u64,
    /// Bandwidth of the first second of random writing.
    pub first_bytes_per_s: Option<f64>,
    /// The rounds, one after the other.
    pub rounds: Vec<SteadyRound>,
    /// Whether the last five rounds satisfy the criterion, and the drive is known to be past its spare blocks (it cleans, or
    /// a third of the area was overwritten at random) or all 25 rounds were run.
    pub reached: bool,
    /// Mean of the last five rounds, with their range; `null` when there were fewer.
    pub steady_bytes_per_s: Option<Interval<f64>>,
    /// Range of the last five rounds by their mean; steady is at most 0.2.
    pub window_range: Option<f64>,
    /// What the straight line through the last five rounds changes over the window, by their mean; steady is at most 0.1.
    pub window_slope: Option<f64>,
    /// Where the speed changed for good.
    pub departures: Vec<Departure>,
    /// Flash writes by host writes over the last five rounds; `null` where they aren't counted.
    pub write_amplification: Option<WriteAmplification>,
    /// What each second of all rounds gave.
    pub seconds: Vec<SecondSample>,
}

/// One round of random writing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyRound {
    /// When it began, since the experiment began.
    pub began_ns: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Bytes written in it.
    pub bytes: u64,
    /// Bandwidth.
    pub bandwidth_bytes_per_s: f64,
    /// Requests per second.
    pub iops: f64,
    /// The slowest request.
    pub latency_ns_max: u64,
}

/// A lasting change of speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Departure {
    /// What it looks like.
    pub kind: DepartureKind,
    /// When it was, since the writing began.
    pub at_ns: u64,
    /// Bytes that had been written by then.
    pub after_bytes: u64,
    /// Bandwidth before it.
    pub before_bytes_per_s: f64,
    /// Bandwidth after it.
    pub after_bytes_per_s: f64,
}

/// Kinds of changes, judged by the shape of the time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DepartureKind {
    /// Sequential writing fell to a lower plateau after a number of bytes: a faster region (SLC cache) is full.
    FastRegionFull,
    /// Random writing fell once the spare blocks were used up: cleaning began.
    CleaningBegan,
    /// Speed swings between two levels while the work stays the same: heat.
    Throttled,
    /// Speed fell to a round number of requests or bytes per second and stays there exactly: burst credits are used up.
    BurstCreditsSpent,
    /// None of these.
    Unexplained,
}

/// How many bytes the drive writes for one of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteAmplification {
    /// Bytes written to flash by bytes written by the host.
    pub factor: f64,
    /// Who counted.
    pub source: WriteAmplificationSource,
    /// Bytes that the host wrote meanwhile, as the drive counts them.
    pub host_bytes: u64,
    /// Bytes that went to flash meanwhile.
    pub flash_bytes: u64,
}

/// Who counted flash writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WriteAmplificationSource {
    /// The modelled drive.
    Model,
    /// The NVMe log page of the Open Compute Project's data-centre specification (0xC0).
    NvmeOcpLog,
}
