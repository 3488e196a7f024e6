//! Statistics of a series of observations: end of the start-up phase, and interval of the mean.

use nandle_profile::Interval;

use crate::error_model::{Part, Rate};

/// Observations averaged before the search for the start-up phase (MSER-5).
const BATCH: usize = 5;

/// Quantile at which latencies are clipped in the search for the start-up phase. Rare long pauses
/// for garbage collection occur in every phase; an early one doesn't indicate start-up.
const CLIP_QUANTILE: f64 = 0.95;

/// Length of the start-up phase. The cut minimises the standard error of the remaining mean
/// (marginal standard error rule, White 1997, over means of five). It is at most half of the
/// series.
pub(super) fn start_up(series: &[u64]) -> usize {
    let mut sorted = series.to_vec();
    sorted.sort_unstable();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let clip = sorted.get((series.len() as f64 * CLIP_QUANTILE) as usize).copied().unwrap_or(u64::MAX);
    let clipped: Vec<u64> = series.iter().map(|value| *value.min(&clip)).collect();
    let means: Vec<f64> = clipped.chunks_exact(BATCH).map(mean_of).collect();
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    let (mut best, mut least) = (0, f64::INFINITY);
    for (index, mean) in means.iter().enumerate().rev() {
        sum += mean;
        squares += mean * mean;
        count += 1.0;
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        // A later cut that only differs by rounding isn't longer.
        if index <= means.len() / 2 && error <= least * (1.0 + 1e-9) {
            (best, least) = (index, error);
        }
    }
    best * BATCH
}

fn mean_of(values: &[u64]) -> f64 {
    values.iter().map(|value| *value as f64).sum::<f64>() / values.len().max(1) as f64
}

/// Means of equal parts of a series. There are `batches` parts, or one per observation if those are
/// fewer. A remainder at the end is dropped.
pub(super) fn batch_means(series: &[u64], batches: usize) -> Vec<f64> {
    let length = (series.len() / batches.max(1)).max(1);
    series.chunks_exact(length).map(mean_of).collect()
}

/// Mean of independent means with its 95 % interval. For a single mean the interval is the value
/// alone. `None` if there are none.
pub(super) fn mean_interval(means: &[f64]) -> Option<Interval<f64>> {
    let parts: Vec<Part> = means.iter().map(|mean| Part { amount: *mean, time: 1.0 }).collect();
    Rate::of(&parts).map(|rate| rate.interval())
}

/// Share in per cent. Small shares aren't rounded to zero.
pub(super) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "less than 1 %".into() } else { format!("{:.0} %", share * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cheap_start_is_cut_off_and_a_steady_series_is_not() {
        let mut series = vec![100; 125];
        series.extend((0..875).map(|i| 5000 + i % 7));
        assert!((125..=130).contains(&start_up(&series)), "{}", start_up(&series));
        let steady: Vec<u64> = (0..1000).map(|i| 500 + (i * 7919) % 97).collect();
        assert!(start_up(&steady) <= 250, "{}", start_up(&steady));
        assert_eq!(start_up(&[7; 1000]), 0);
        assert_eq!((start_up(&[]), start_up(&[1, 2, 3])), (0, 0));
        let pauses: Vec<u64> = (0..1000).map(|i| if i == 300 { 1_000_000 } else { 100 }).collect();
        assert_eq!(start_up(&pauses), 0, "a single pause is not a start-up phase");
    }

    #[test]
    fn an_interval_holds_the_mean_of_its_means() {
        let interval = mean_interval(&[10.0, 12.0, 14.0]).unwrap();
        // t of 2 degrees is 4.303; the standard error is 2/√3 of 12.
        assert!((interval.value - 12.0).abs() < 1e-9);
        assert!((interval.high / 12.0 - (4.303 / 6.0 / 3_f64.sqrt()).exp()).abs() < 1e-3, "{interval:?}");
        assert_eq!(mean_interval(&[3.0]), Some(Interval::exact(3.0)));
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn batches_are_means_of_equal_parts() {
        assert_eq!(batch_means(&[1, 3, 5, 7, 100], 2), [2.0, 6.0]);
        assert_eq!(batch_means(&[4, 6], 8), [4.0, 6.0]);
    }
}
