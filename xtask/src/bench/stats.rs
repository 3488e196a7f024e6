//! The statistics of a comparison: both contenders run in pairs, one right after the other, so that what the
//! machine does meanwhile strikes both; what counts is the ratio within each pair.

use serde::Serialize;

/// A figure over several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// The spread of some values; `None` when there are none, or one is not a number.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self { median: middle(&sorted)?, min: *sorted.first()?, max: *sorted.last()? })
    }

    /// The ratio candidate : baseline of each pair of runs. `None` when there is no pair, a run has no partner, or
    /// a baseline is zero.
    pub(crate) fn of_ratios(candidate: &[f64], baseline: &[f64]) -> Option<Self> {
        if candidate.len() != baseline.len() || baseline.contains(&0.0) {
            return None;
        }
        let pairs = candidate.iter().zip(baseline);
        Self::of(&pairs.map(|(candidate, baseline)| candidate / baseline).collect::<Vec<_>>())
    }
}

/// The middle of a sorted list: its middle value, or the mean of the two.
fn middle(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(Spread { median: 2.0, min: 1.0, max: 3.0 }));
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).map(|spread| spread.median), Some(2.5));
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn ratios_are_taken_within_pairs() {
        // The machine slows down threefold half-way: the ratio of the pairs doesn't see it.
        let ratio = Spread::of_ratios(&[2.0, 6.0], &[1.0, 3.0]);
        assert_eq!(ratio, Some(Spread { median: 2.0, min: 2.0, max: 2.0 }));
        assert_eq!(Spread::of_ratios(&[2.0], &[1.0, 3.0]), None);
        assert_eq!(Spread::of_ratios(&[2.0], &[0.0]), None);
    }
}
