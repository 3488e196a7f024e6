//! Uncertainty of a measured rate. Reads and writes use the same error model.
//!
//! A cell is measured in slices. Each slice is an amount (requests or bytes) and a time. The rate
//! is the total amount divided by the total time, so a pause in one slice has the same weight as in
//! one long run. The spread of the slices gives the standard error (ratio estimator: Cochran,
//! *Sampling Techniques*, §6.4). Rates are positive, so errors are relative, and an interval is a
//! factor above and below the rate. There are few slices, so the bounds use Student's t.

use nandle_profile::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Amount done in a time, in any units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) amount: f64,
    pub(crate) time: f64,
}

/// Rate of several slices, with each slice's relative deviation from it.
#[derive(Debug)]
pub(crate) struct Rate {
    pub(crate) value: f64,
    deviations: Vec<f64>,
}

impl Rate {
    /// Computes the rate of `parts`. Returns `None` if there are no parts, or if nothing was done.
    pub(crate) fn of(parts: &[Part]) -> Option<Self> {
        let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
        let (amount, time) = (sum(|part| part.amount), sum(|part| part.time));
        if amount <= 0.0 || time <= 0.0 {
            return None;
        }
        let value = amount / time;
        let mean = amount / parts.len() as f64;
        let deviations = parts.iter().map(|part| (part.amount - value * part.time) / mean).collect();
        Some(Self { value, deviations })
    }

    /// Relative variance of one slice; `None` for a single slice.
    pub(crate) fn variance(&self) -> Option<f64> {
        variance(self.deviations.iter().copied())
    }

    /// The rate with its 95 % interval. For a single slice the interval is the value alone.
    pub(crate) fn interval(&self) -> Interval<f64> {
        interval(self.value, self.deviations.iter().copied())
    }

    /// Ratio of this rate to that of another cell in the same rounds. A disturbance that hits both
    /// cells in a round cancels out.
    pub(crate) fn by(&self, other: &Self) -> Interval<f64> {
        debug_assert_eq!(self.deviations.len(), other.deviations.len(), "rates of different rounds");
        let deviations = self.deviations.iter().zip(&other.deviations).map(|(one, other)| one - other);
        interval(self.value / other.value, deviations)
    }
}

fn variance(deviations: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = deviations.len() as f64;
    (count > 1.0).then(|| deviations.map(|deviation| deviation.powi(2)).sum::<f64>() / (count - 1.0))
}

fn interval(value: f64, deviations: impl ExactSizeIterator<Item = f64>) -> Interval<f64> {
    let count = deviations.len() as f64;
    let error = variance(deviations).map_or(0.0, |variance| (variance / count).sqrt());
    bounds(value, error, count - 1.0)
}

/// 95 % interval of a figure, from its relative standard error and its degrees of freedom.
pub(crate) fn bounds(value: f64, log_error: f64, degrees: f64) -> Interval<f64> {
    let times = if log_error > 0.0 { (student(degrees) * log_error).exp() } else { 1.0 };
    Interval { value, low: value / times, high: value * times }
}

/// 97.5 % quantile of Student's t. Infinite for no degrees of freedom: the spread is unknown.
pub(crate) fn student(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |student| student.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{below, generator};

    fn parts(amounts: &[f64]) -> Vec<Part> {
        amounts.iter().map(|amount| Part { amount: *amount, time: 1.0 }).collect()
    }

    #[test]
    fn quantiles_match_the_tables() {
        for (degrees, quantile) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (10.0, 2.228), (120.0, 1.980)]
        {
            assert!((student(degrees) - quantile).abs() < 1e-3, "{degrees}: {}", student(degrees));
        }
        assert!(student(0.0).is_infinite());
    }

    #[test]
    fn rate_is_total_amount_over_total_time() {
        let pause = [Part { amount: 10.0, time: 1.0 }, Part { amount: 10.0, time: 3.0 }];
        assert!((Rate::of(&pause).unwrap().value - 5.0).abs() < 1e-9);
        let rate = Rate::of(&parts(&[90.0, 100.0, 110.0])).unwrap();
        assert!((rate.variance().unwrap() - 0.01).abs() < 1e-9);
        // t of 2 degrees is 4.303; the standard error is 0.1/√3.
        let times = (4.303 * 0.1 / 3_f64.sqrt()).exp();
        assert!((rate.interval().high - 100.0 * times).abs() < 0.01);
        assert!((rate.interval().low - 100.0 / times).abs() < 0.01);
        assert!(Rate::of(&[]).is_none() && Rate::of(&parts(&[0.0])).is_none());
        assert_eq!(Rate::of(&parts(&[7.0])).unwrap().interval(), Interval::exact(7.0));
    }

    #[test]
    fn disturbances_common_to_both_cells_cancel_in_the_ratio() {
        let moods = [50.0, 100.0, 150.0];
        let rate = Rate::of(&parts(&moods)).unwrap();
        let twice = Rate::of(&parts(&moods.map(|mood| 2.0 * mood))).unwrap();
        assert_eq!(twice.by(&rate), Interval::exact(2.0));
    }

    #[test]
    fn intervals_cover_the_true_rate_at_the_stated_frequency() {
        let mut generator = generator(9, 1);
        for rounds in [2_usize, 3, 5, 11] {
            let mut draw = |_| 500.0 + below(&mut generator, 1001) as f64;
            let held = (0..1000).filter(|_| {
                let amounts: Vec<f64> = (0..rounds).map(&mut draw).collect();
                Rate::of(&parts(&amounts)).unwrap().interval().contains(1000.0)
            });
            let held = held.count();
            assert!((920..=980).contains(&held), "{held} of 1000 intervals over {rounds} rounds");
        }
    }
}
