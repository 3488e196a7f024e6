//! Steady-state criterion of the SNIA Solid State Storage Performance Test Specification.

use nandle_profile::experiments::SteadyRound;

pub(super) const WINDOW: usize = 5;
/// Most rounds once enough has been written.
pub(super) const ROUNDS_MAX: usize = 25;
/// Most rounds in any case.
pub(super) const ROUNDS_MAX_IN_ALL: usize = 200;

/// Statistics of the last five rounds.
pub(super) struct Window {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Change of the fitted line over the window, relative to the mean.
    pub(super) slope: f64,
}

impl Window {
    pub(super) fn range(&self) -> f64 {
        (self.high - self.low) / self.mean
    }
}

/// Returns `None` for fewer than five rounds.
pub(super) fn window(rounds: &[SteadyRound]) -> Option<Window> {
    let last = rounds.get(rounds.len().checked_sub(WINDOW)?..)?;
    let values: Vec<f64> = last.iter().map(|round| round.bandwidth_bytes_per_s).collect();
    let mean = values.iter().sum::<f64>() / WINDOW as f64;
    let middle = (WINDOW - 1) as f64 / 2.0;
    let along = |index: usize| index as f64 - middle;
    let rise: f64 = values.iter().enumerate().map(|(index, value)| along(index) * (value - mean)).sum();
    let squares: f64 = (0..WINDOW).map(|index| along(index).powi(2)).sum();
    let slope = rise / squares * (WINDOW - 1) as f64 / mean;
    let (low, high) =
        values.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
    Some(Window { mean, low, high, slope })
}

#[cfg(test)]
mod tests {
    use nandle_profile::experiments::SteadyState;

    use super::*;

    fn rounds(values: &[f64]) -> Vec<SteadyRound> {
        let round = |value: &f64| SteadyRound {
            began_ns: 0,
            elapsed_ns: 1,
            bytes: 1,
            bandwidth_bytes_per_s: *value,
            iops: 1.0,
            latency_ns_max: 1,
        };
        values.iter().map(round).collect()
    }

    #[test]
    fn range_and_slope_decide() {
        let steady = |values: &[f64]| {
            window(&rounds(values)).map(|window| SteadyState::is_even(window.range(), window.slope))
        };
        assert_eq!(steady(&[100.0; 4]), None);
        assert_eq!(steady(&[100.0; 5]), Some(true));
        // Only the last five rounds count.
        assert_eq!(steady(&[900.0, 100.0, 102.0, 98.0, 101.0, 99.0]), Some(true));
        assert_eq!(steady(&[100.0, 125.0, 100.0, 100.0, 125.0]), Some(false), "the range is 23 %");
        // A line from 95 to 105 changes by a tenth; from 94 to 106 by more.
        assert_eq!(steady(&[95.1, 97.5, 100.0, 102.5, 104.9]), Some(true));
        assert_eq!(steady(&[94.0, 97.0, 100.0, 103.0, 106.0]), Some(false));
    }
}
