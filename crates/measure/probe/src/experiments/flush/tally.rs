use nandle_profile::{Interval, LatencySummary};

use super::super::rounds::median_interval;
use super::log::Times;
use crate::load::Latencies;

/// Observations of one scenario.
pub(super) struct Tally {
    commit_ns: Latencies,
    flush_ns: Latencies,
    /// Median of each slice.
    medians_ns: Vec<f64>,
    /// Commits per second of each slice.
    rates_per_s: Vec<f64>,
    slice_ns: Vec<u64>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            commit_ns: Latencies::new(),
            flush_ns: Latencies::new(),
            medians_ns: Vec::new(),
            rates_per_s: Vec::new(),
            slice_ns: Vec::new(),
        }
    }

    pub(super) fn count(&mut self, times: Times) {
        self.commit_ns.record(times.commit.0);
        self.slice_ns.push(times.commit.0);
        if let Some(flush) = times.flush {
            self.flush_ns.record(flush.0);
        }
    }

    /// Commits in the current slice.
    pub(super) fn slice_count(&self) -> usize {
        self.slice_ns.len()
    }

    pub(super) fn end_slice(&mut self) {
        let mut slice_ns = std::mem::take(&mut self.slice_ns);
        slice_ns.sort_unstable();
        if let Some(median) = slice_ns.get(slice_ns.len() / 2) {
            self.medians_ns.push(*median as f64);
            let mean_ns = slice_ns.iter().sum::<u64>() as f64 / slice_ns.len() as f64;
            self.rates_per_s.push(1e9 / mean_ns);
        }
    }

    pub(super) fn observations(&self) -> u64 {
        self.commit_ns.len()
    }

    /// Mean commit rate, with the interval of the slices' rates.
    pub(super) fn rate_per_s(&self) -> Option<Interval<f64>> {
        let of_slices = median_interval(self.rates_per_s.clone())?;
        let value = 1e9 / self.commit_ns.mean();
        Some(Interval { value, low: of_slices.low.min(value), high: of_slices.high.max(value) })
    }

    /// Median of all commits, with the interval of the slices' medians.
    pub(super) fn median_ns(&self) -> Option<Interval<f64>> {
        let of_slices = median_interval(self.medians_ns.clone())?;
        let value = self.commit_ns.value_at_quantile(0.5) as f64;
        Some(Interval { value, low: of_slices.low.min(value), high: of_slices.high.max(value) })
    }

    pub(super) fn commit_latency(&self) -> LatencySummary {
        self.commit_ns.summary()
    }

    pub(super) fn flush_latency(&self) -> Option<LatencySummary> {
        (!self.flush_ns.is_empty()).then(|| self.flush_ns.summary())
    }
}
