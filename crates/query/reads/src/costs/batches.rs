//! Batches that find the device idle: how long it takes until the last of so many requests has come that were sent at once.

use super::BatchCost;
use crate::Estimate;

/// Times of batches over their sizes and their requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batches {
    /// Ascending sizes.
    sizes: Vec<OfSize>,
}

#[derive(Debug, Clone)]
struct OfSize {
    request_bytes: u64,
    /// Requests and the time of all, ascending; the first is a single one.
    points: Vec<(f64, Estimate)>,
}

impl Batches {
    /// `alone` is what a single request of some bytes takes, on whatever size was measured.
    pub(crate) fn new(costs: &[BatchCost], alone: impl Fn(u64) -> Estimate) -> Self {
        let mut sorted: Vec<&BatchCost> = costs.iter().collect();
        sorted.sort_by_key(|cost| (cost.request_bytes, cost.requests));
        let of_size = |costs: &[&BatchCost]| {
            let request_bytes = costs.first().map_or(0, |cost| cost.request_bytes);
            let mut points = vec![(1.0, alone(request_bytes))];
            let several = costs.iter().filter(|cost| cost.requests > 1);
            points.extend(several.map(|cost| (f64::from(cost.requests), cost.seconds)));
            OfSize { request_bytes, points }
        };
        let sizes = sorted.chunk_by(|one, other| one.request_bytes == other.request_bytes).map(of_size);
        Self { sizes: sizes.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The time of a batch; `None` where none was measured. `busy` is what a request of some bytes takes while the device is kept
    /// busy: so much each further request takes, beyond the largest batch, and so much more a longer one, beyond the longest.
    pub(crate) fn seconds(
        &self,
        request_bytes: u64,
        requests: f64,
        busy: impl Fn(u64) -> Estimate,
    ) -> Option<Estimate> {
        let next = self.sizes.partition_point(|size| size.request_bytes < request_bytes);
        let at = |size: &OfSize| size.at(requests, busy(size.request_bytes));
        let (before, after) =
            (next.checked_sub(1).and_then(|index| self.sizes.get(index)), self.sizes.get(next));
        match (before, after) {
            (None, None) => None,
            (None, Some(first)) => Some(at(first)),
            (Some(last), None) => {
                let more = busy(request_bytes).value - busy(last.request_bytes).value;
                Some(at(last).map(|seconds| seconds + more.max(0.0) * requests))
            }
            (Some(before), Some(after)) => {
                let of_all = after.request_bytes - before.request_bytes;
                let share = (request_bytes - before.request_bytes) as f64 / of_all as f64;
                Some(at(before) * (1.0 - share) + at(after) * share)
            }
        }
    }
}

impl OfSize {
    /// Between two batches that were measured a power law.
    fn at(&self, requests: f64, busy: Estimate) -> Estimate {
        let next = self.points.partition_point(|(measured, _)| *measured < requests);
        let at = |index: usize| self.points.get(index).copied();
        match (next.checked_sub(1).and_then(at), at(next)) {
            (Some((fewer, short)), Some((more, long))) => {
                let share = (requests / fewer).ln() / (more / fewer).ln();
                let between = |short: f64, long: f64| short * (long / short).powf(share);
                Estimate {
                    value: between(short.value, long.value),
                    low: between(short.low, long.low),
                    high: between(short.high, long.high),
                }
            }
            (Some((most, long)), None) => long + busy * (requests - most),
            (None, first) => first.map_or(busy, |(_, seconds)| seconds),
        }
    }
}
