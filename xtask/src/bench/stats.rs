//! Statistics of paired comparisons. Both contenders run in immediate succession, so that changes
//! of the machine affect both, and only the ratio within each pair counts.

use serde::Serialize;

use crate::Outcome;

/// Distribution of a figure over several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Spread of values; `None` if there are none, or one is not a number.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        if values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self { median: middle(&sorted)?, min: *sorted.first()?, max: *sorted.last()? })
    }

    /// Ratio of candidate to baseline in each pair. `None` if there is no pair, a run has no
    /// partner, or a baseline is zero.
    pub(crate) fn of_ratios(candidate: &[f64], baseline: &[f64]) -> Option<Self> {
        if candidate.len() != baseline.len() || baseline.contains(&0.0) {
            return None;
        }
        let pairs = candidate.iter().zip(baseline);
        Self::of(&pairs.map(|(candidate, baseline)| candidate / baseline).collect::<Vec<_>>())
    }
}

/// Runs two contenders in pairs. Returns the figures of each. The order alternates, so that it
/// favours neither.
///
/// # Errors
/// First error of a contender.
pub(crate) fn paired<T>(
    pairs: usize,
    mut baseline: impl FnMut() -> Outcome<T>,
    mut candidate: impl FnMut() -> Outcome<T>,
) -> Outcome<(Vec<T>, Vec<T>)> {
    let mut figures = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let early = if pair % 2 == 0 { Some(baseline()?) } else { None };
        figures.1.push(candidate()?);
        figures.0.push(early.map_or_else(&mut baseline, Ok)?);
    }
    Ok(figures)
}

/// Median of a sorted list.
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
    fn pairs_take_turns_in_going_first() {
        let count = std::cell::Cell::new(0.0);
        let next = || {
            count.set(count.get() + 1.0);
            Ok(count.get())
        };
        let (baseline, candidate) = paired(2, next, next).unwrap();
        assert_eq!(baseline, [1.0, 4.0]);
        assert_eq!(candidate, [2.0, 3.0]);
        assert!(paired(2, next, || Err("broken".into())).is_err());
    }

    #[test]
    fn ratios_are_taken_within_pairs() {
        // The machine slows down threefold half-way, which leaves the ratios of the pairs
        // unchanged.
        let ratio = Spread::of_ratios(&[2.0, 6.0], &[1.0, 3.0]);
        assert_eq!(ratio, Some(Spread { median: 2.0, min: 2.0, max: 2.0 }));
        assert_eq!(Spread::of_ratios(&[2.0], &[1.0, 3.0]), None);
        assert_eq!(Spread::of_ratios(&[2.0], &[0.0]), None);
    }
}
