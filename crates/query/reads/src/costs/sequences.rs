//! Cost of read-ahead that contiguous requests trigger in a device.

use super::{Curve, SequenceCost};
use crate::Estimate;

/// Extra cost of sequences compared with random requests, by number of requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequences {
    /// In ascending order of the number of requests.
    by_requests: Vec<(f64, Curve)>,
}

impl Sequences {
    pub(crate) fn new(costs: &[SequenceCost]) -> Self {
        let mut counts: Vec<u64> = costs.iter().map(|cost| cost.requests).collect();
        counts.sort_unstable();
        counts.dedup();
        let of_count = |count: u64| {
            let of = costs.iter().filter(move |cost| cost.requests == count);
            (count as f64, Curve::of_extra(of.map(|cost| (cost.request_bytes, cost.seconds))))
        };
        Self { by_requests: counts.into_iter().map(of_count).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_requests.is_empty()
    }

    /// Interpolates between measured numbers by their logarithms. A single request costs nothing
    /// extra; beyond the longest measured sequence its cost holds.
    pub(crate) fn seconds(&self, request_bytes: u64, requests: u64) -> Estimate {
        let requests = requests.max(1) as f64;
        let next = self.by_requests.partition_point(|(count, _)| *count < requests);
        let at = |index: usize| {
            self.by_requests.get(index).map(|(count, curve)| (*count, curve.at(request_bytes)))
        };
        let before = next.checked_sub(1).and_then(at).unwrap_or((1.0, Estimate::default()));
        let Some(after) = at(next) else { return before.1 };
        let share =
            if after.0 > before.0 { (requests / before.0).ln() / (after.0 / before.0).ln() } else { 1.0 };
        before.1 * (1.0 - share) + after.1 * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_costs_nothing_more_until_it_is_long() {
        let cost =
            |requests, value| SequenceCost { request_bytes: 4096, requests, seconds: Estimate::exact(value) };
        let sequences = Sequences::new(&[cost(16, 3.0), cost(2, 0.0), cost(4, 2.0)]);
        let at = |requests| sequences.seconds(4096, requests).value;
        for (requests, expected) in [(1, 0.0), (2, 0.0), (4, 2.0), (8, 2.5), (16, 3.0), (1000, 3.0)] {
            assert!((at(requests) - expected).abs() < 1e-9, "{requests}: {}", at(requests));
        }
        assert_eq!(Sequences::default().seconds(4096, 9), Estimate::default());
    }
}
