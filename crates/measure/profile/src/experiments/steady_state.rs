use serde::{Deserialize, Serialize};

use crate::{Interval, SecondSample, random_bytes_needed};

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
    /// Whether the last five rounds satisfy the criterion, and the drive is known to be past its spare blocks: enough of its
    /// capacity was written, or it has cleaned as much as now since the first rounds.
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

impl SteadyState {
    /// Whether rounds of this range and slope satisfy the specification's criterion.
    pub fn is_even(range: f64, slope: f64) -> bool {
        /// The greatest less the least of the window, by its mean.
        const RANGE_MAX: f64 = 0.20;
        /// Change of the straight line through the window from its first round to its last, by the mean.
        const SLOPE_MAX: f64 = 0.10;
        range <= RANGE_MAX && slope.abs() <= SLOPE_MAX
    }

    /// Whether the last rounds satisfy the criterion, however little was written.
    pub fn ends_even(&self) -> bool {
        self.reached
            || self
                .window_range
                .zip(self.window_slope)
                .is_some_and(|(range, slope)| Self::is_even(range, slope))
    }

    /// Bytes that all rounds wrote.
    pub fn random_bytes(&self) -> u64 {
        self.rounds.iter().map(|round| round.bytes).sum()
    }

    /// Bytes of random writing that show the steady state of a device of `device_bytes`. Where a part of the area is enough,
    /// random writes also have to fill what the sequential filling left out.
    pub fn random_bytes_needed(&self, device_bytes: Option<u64>) -> u64 {
        let needed_bytes = random_bytes_needed(self.area_bytes, device_bytes);
        if needed_bytes >= self.area_bytes {
            return needed_bytes;
        }
        needed_bytes.saturating_add(self.area_bytes.saturating_sub(self.sequential_fill_bytes))
    }
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
