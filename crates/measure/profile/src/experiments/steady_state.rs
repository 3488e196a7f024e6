use serde::{Deserialize, Serialize};

use crate::{Interval, SecondSample, random_bytes_needed};

/// Sustained random writes (SNIA Solid State Storage Performance Test Specification: rounds, a
/// window of five, range and slope).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyState {
    /// Bytes of one random write.
    pub block_bytes: u64,
    /// Queue depth.
    pub queue_depth: u32,
    /// Bytes written sequentially before the rounds.
    pub sequential_fill_bytes: u64,
    /// Size of the overwritten area.
    pub area_bytes: u64,
    /// Bandwidth of the first second of random writes.
    pub first_bytes_per_s: Option<f64>,
    /// Rounds in order.
    pub rounds: Vec<SteadyRound>,
    /// True if the last five rounds satisfy the criterion and the drive's spare blocks are used up.
    /// That is known if enough of its capacity was written, or if garbage collection has been
    /// constant since the first rounds.
    pub reached: bool,
    /// Mean of the last five rounds, with their range; `null` for fewer rounds.
    pub steady_bytes_per_s: Option<Interval<f64>>,
    /// Range of the last five rounds relative to their mean; at most 0.2 in a steady state.
    pub window_range: Option<f64>,
    /// Change of the fitted line over the last five rounds, relative to their mean; at most 0.1 in
    /// a steady state.
    pub window_slope: Option<f64>,
    /// Lasting changes of speed.
    pub departures: Vec<Departure>,
    /// Write amplification over the last five rounds; `null` without counters.
    pub write_amplification: Option<WriteAmplification>,
    /// Results of each second of all rounds.
    pub seconds: Vec<SecondSample>,
}

impl SteadyState {
    /// Returns true if a range and a slope satisfy the specification's criterion.
    pub fn is_even(range: f64, slope: f64) -> bool {
        /// Largest difference within the window, relative to its mean.
        const RANGE_MAX: f64 = 0.20;
        /// Largest change of the fitted line over the window, relative to its mean.
        const SLOPE_MAX: f64 = 0.10;
        range <= RANGE_MAX && slope.abs() <= SLOPE_MAX
    }

    /// Returns true if the last rounds satisfy the criterion, regardless of the bytes written.
    pub fn ends_even(&self) -> bool {
        self.reached
            || self
                .window_range
                .zip(self.window_slope)
                .is_some_and(|(range, slope)| Self::is_even(range, slope))
    }

    /// Bytes written by all rounds.
    pub fn random_bytes(&self) -> u64 {
        self.rounds.iter().map(|round| round.bytes).sum()
    }

    /// Bytes of random writes that show the steady state of a device of `device_bytes`. If less
    /// than the area suffices, random writes must also cover what the sequential fill left out.
    pub fn random_bytes_needed(&self, device_bytes: Option<u64>) -> u64 {
        let needed_bytes = random_bytes_needed(self.area_bytes, device_bytes);
        if needed_bytes >= self.area_bytes {
            return needed_bytes;
        }
        needed_bytes.saturating_add(self.area_bytes.saturating_sub(self.sequential_fill_bytes))
    }
}

/// One round of random writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SteadyRound {
    /// Start time since the start of the experiment.
    pub began_ns: u64,
    /// Duration.
    pub elapsed_ns: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Bandwidth.
    pub bandwidth_bytes_per_s: f64,
    /// Requests per second.
    pub iops: f64,
    /// Largest latency.
    pub latency_ns_max: u64,
}

/// A lasting change of speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Departure {
    /// Likely cause.
    pub kind: DepartureKind,
    /// Time since the start of the writes.
    pub at_ns: u64,
    /// Bytes written until then.
    pub after_bytes: u64,
    /// Bandwidth before it.
    pub before_bytes_per_s: f64,
    /// Bandwidth after it.
    pub after_bytes_per_s: f64,
}

/// Likely causes of a change, judged by the shape of the time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DepartureKind {
    /// Sequential writes fell to a lower plateau after a number of bytes: a faster region (SLC
    /// cache) is full.
    FastRegionFull,
    /// Random writes fell once the spare blocks were used up: garbage collection began.
    CleaningBegan,
    /// Speed alternates between two levels under constant load: thermal throttling.
    Throttled,
    /// Speed fell to exactly a round number of requests or bytes per second: burst credits are used
    /// up.
    BurstCreditsSpent,
    /// Other causes.
    Unexplained,
}

/// Bytes written to flash per byte written by the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteAmplification {
    /// Flash bytes divided by host bytes.
    pub factor: f64,
    /// Source of the counters.
    pub source: WriteAmplificationSource,
    /// Bytes written by the host, as counted by the drive.
    pub host_bytes: u64,
    /// Bytes written to flash.
    pub flash_bytes: u64,
}

/// Source of flash write counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WriteAmplificationSource {
    /// The modelled drive.
    Model,
    /// NVMe log page 0xC0 of the Open Compute Project's data-centre specification.
    NvmeOcpLog,
}
