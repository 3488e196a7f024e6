//! Compares the response times of a play with those recorded in the trace.
//!
//! The demerit figure follows Ruemmler and Wilkes, *An introduction to disk drive modeling* (IEEE
//! Computer, March 1994): the root mean square of the horizontal distance between the two
//! cumulative distributions. Both distributions have the same number of requests, so the distance
//! is taken at every quantile k/n, between the k-th smallest values.

use crate::times::Times;

/// Significant digits that make a demerit of a thousandth of the mean exact to a few per cent.
const DIGITS: u8 = 4;

/// Response times of the same requests, recorded and played.
#[derive(Debug, Clone)]
pub(super) struct LatencyPairs {
    pub(super) recorded: Times,
    pub(super) played: Times,
}

impl Default for LatencyPairs {
    fn default() -> Self {
        Self { recorded: Times::to_digits(DIGITS), played: Times::to_digits(DIGITS) }
    }
}

impl LatencyPairs {
    pub(super) fn add(&mut self, recorded_ns: u64, played_ns: u64) {
        self.recorded.add(recorded_ns);
        self.played.add(played_ns);
        debug_assert_eq!(self.recorded.count(), self.played.count(), "each request has both times");
    }

    pub(super) fn extend(&mut self, others: &Self) {
        self.recorded.extend(&others.recorded);
        self.played.extend(&others.played);
    }

    /// Demerit figure in nanoseconds; `None` without requests.
    pub(super) fn demerit_ns(&self) -> Option<f64> {
        let count = self.recorded.count();
        let (mut recorded, mut played) = (self.recorded.ascending(), self.played.ascending());
        let (mut left, mut right) = (recorded.next()?, played.next()?);
        let mut squares = 0.0;
        loop {
            let both = left.1.min(right.1);
            squares += both as f64 * (left.0.abs_diff(right.0) as f64).powi(2);
            (left.1, right.1) = (left.1 - both, right.1 - both);
            let more = (left.1 > 0 || replaced(&mut left, &mut recorded))
                && (right.1 > 0 || replaced(&mut right, &mut played));
            if !more {
                return Some((squares / count as f64).sqrt());
            }
        }
    }
}

/// Advances to the next step of a distribution. Returns false at its end.
fn replaced(step: &mut (u64, u64), steps: &mut impl Iterator<Item = (u64, u64)>) -> bool {
    steps.next().map(|next| *step = next).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demerit_matches_sorted_lists() {
        let recorded: Vec<u64> = (0..5000).map(|n| (n * n * 7919) % 9_000_017 + 1000).collect();
        let played: Vec<u64> = recorded.iter().rev().map(|ns| ns + ns / 10).collect();
        let mut pairs = LatencyPairs::default();
        recorded.iter().zip(&played).for_each(|(recorded, played)| pairs.add(*recorded, *played));
        let sorted = |mut times: Vec<u64>| {
            times.sort_unstable();
            times
        };
        let squares = sorted(recorded).into_iter().zip(sorted(played));
        let squares: f64 = squares.map(|(a, b)| (a.abs_diff(b) as f64).powi(2)).sum();
        let exact_ns = (squares / 5000.0).sqrt();
        let got_ns = pairs.demerit_ns().unwrap();
        assert!((got_ns / exact_ns - 1.0).abs() < 1e-3, "{got_ns} {exact_ns}");
    }

    #[test]
    fn equal_distributions_have_a_demerit_of_zero() {
        let mut pairs = LatencyPairs::default();
        assert_eq!(pairs.demerit_ns(), None);
        for ns in [5_000_000, 7_000_000, 9_000_000] {
            pairs.add(ns, 14_000_000 - ns);
        }
        assert_eq!(pairs.demerit_ns(), Some(0.0), "the assignment of times to requests doesn't matter");
    }
}
