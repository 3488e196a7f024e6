//! Detection of level changes in a series.

/// Smallest ratio of two levels.
const FACTOR: f64 = 1.25;
/// Smallest significance of a change: the squared step, weighted with the lengths of both levels,
/// relative to the variance of single values. The best of many possible splits is tested, so the
/// usual 4 would find changes in noise.
const OUTSTANDING: f64 = 20.0;

/// Indices at which new levels begin, in order. Binary segmentation: a stretch is split where two
/// levels leave the smallest squared error of the logarithms. This repeats as long as the levels
/// differ by a quarter and each has at least `least` values.
pub(super) fn changes(values: &[f64], least: usize) -> Vec<usize> {
    let logs: Vec<f64> = values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).collect();
    let mut found = Vec::new();
    split(&logs, 0, least.max(1), variance(&logs), &mut found);
    found.sort_unstable();
    found
}

fn split(logs: &[f64], offset: usize, least: usize, variance: f64, found: &mut Vec<usize>) {
    let Some(at) = best_split(logs, least) else { return };
    let (before, after) = logs.split_at(at);
    if (mean(before) - mean(after)).abs() < FACTOR.ln() || !stands_out(before, after, variance) {
        return;
    }
    found.push(offset + at);
    split(before, offset, least, variance, found);
    split(after, offset + at, least, variance, found);
}

/// Variance of single values, from the differences of neighbours. The few steps between levels have
/// little weight in it.
fn variance(logs: &[f64]) -> f64 {
    let squares: Vec<f64> = logs.windows(2).map(|pair| pair.iter().fold(0.0, |d, v| v - d).powi(2)).collect();
    mean(&squares) / 2.0
}

fn stands_out(before: &[f64], after: &[f64], variance: f64) -> bool {
    let (left, right) = (before.len() as f64, after.len() as f64);
    let between = (mean(before) - mean(after)).powi(2) * left * right / (left + right);
    between > variance * OUTSTANDING
}

/// Split at which two levels explain the most variance.
fn best_split(logs: &[f64], least: usize) -> Option<usize> {
    let total: f64 = logs.iter().sum();
    let count = logs.len() as f64;
    let (mut sum, mut best, mut most) = (0.0, None, 0.0);
    for (index, value) in logs.iter().enumerate() {
        let left = index as f64;
        let between = (sum / left - (total - sum) / (count - left)).powi(2) * left * (count - left) / count;
        if index >= least && logs.len() - index >= least && between > most {
            (best, most) = (Some(index), between);
        }
        sum += value;
    }
    best
}

/// Mean of `values`; 0 if there are none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::changes;

    #[test]
    fn levels_are_told_apart_and_noise_is_not() {
        let noisy =
            |level: f64, index: usize| level * (1.0 + 0.05 * ((index * 7919 % 13) as f64 / 6.0 - 1.0));
        let steps: Vec<f64> = (0..90).map(|index| noisy([900.0, 300.0, 600.0][index / 30], index)).collect();
        assert_eq!(changes(&steps, 3), [30, 60]);
        let steady: Vec<f64> = (0..90).map(|index| noisy(500.0, index)).collect();
        assert!(changes(&steady, 3).is_empty());
        let bursts: Vec<f64> =
            (0..90).map(|index| if index * 7919 % 13 < 4 { 100.0 } else { 900.0 }).collect();
        assert!(changes(&bursts, 3).is_empty(), "{:?}", changes(&bursts, 3));
        assert!(changes(&[], 3).is_empty() && changes(&[1.0, 9.0], 3).is_empty());
    }
}
