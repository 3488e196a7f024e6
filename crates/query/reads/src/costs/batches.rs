//! Batches of requests sent at once to an idle device, and the time until the last one completes.

use super::BatchCost;
use crate::Estimate;

/// Batch times by request size and number of requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batches {
    /// In ascending order of size.
    sizes: Vec<OfSize>,
}

#[derive(Debug, Clone)]
struct OfSize {
    request_bytes: u64,
    /// Number of requests and time of the whole batch, ascending. The first point is a single
    /// request.
    points: Vec<(f64, Estimate)>,
}

impl Batches {
    /// `alone` returns the latency of a single request of the given length, for any measured size.
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

    /// Returns the time of a batch, or `None` if no batch was measured. `busy` returns the time per
    /// request on a busy device; it extrapolates beyond the largest batch and the longest request.
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
    /// Interpolates between two measured batches by a power law.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn batches() -> Batches {
        let cost = |request_bytes, requests, value| BatchCost {
            request_bytes,
            requests,
            seconds: Estimate::exact(value),
        };
        let costs = [cost(8192, 16, 4.0), cost(4096, 16, 4.0), cost(8192, 4, 2.0), cost(4096, 64, 8.0)];
        Batches::new(&costs, |_| Estimate::exact(1.0))
    }

    #[test]
    fn between_batches_time_is_a_power_of_their_requests() {
        let busy = |bytes: u64| Estimate::exact(bytes as f64 / 40_960.0);
        let at = |bytes, requests| batches().seconds(bytes, requests, busy).unwrap().value;
        for (bytes, requests, expected) in [
            (4096, 1.0, 1.0),
            (4096, 16.0, 4.0),
            (4096, 4.0, 2.0),
            (1024, 4.0, 2.0),
            // Beyond the largest batch, each request adds its time on a busy device.
            (4096, 74.0, 9.0),
            (8192, 21.0, 5.0),
            // Half way between both sizes, for 4 requests.
            (6144, 16.0, 4.0),
            // Beyond the longest request.
            (16_384, 4.0, 2.0 + 0.2 * 4.0),
        ] {
            assert!(
                (at(bytes, requests) - expected).abs() < 1e-9,
                "{bytes} {requests}: {}",
                at(bytes, requests)
            );
        }
    }

    #[test]
    fn without_batches_there_is_no_time() {
        assert!(Batches::default().seconds(4096, 4.0, |_| Estimate::exact(1.0)).is_none());
        assert!(Batches::default().is_empty());
    }
}
