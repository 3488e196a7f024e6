use nandle_reads::Estimate;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Share of future measurements that should lie within the bounds.
const SHARE_WITHIN: f64 = 0.9;

/// Predicts the next measurement of a time: the median, with the bounds of a 90 % prediction
/// interval. The interval is Student's t of the logarithms, because times are positive and vary by
/// factors (Cochran and Snedecor, *Statistical Methods*). A confidence interval of the mean would
/// be narrower, but the next run is a single run. For a single measurement, or if one is zero, the
/// bounds are the least and the greatest. Returns zero for no measurements.
pub fn next_of(measured: &[f64]) -> Estimate {
    let mut ascending = measured.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(most)) = (ascending.first().copied(), ascending.last().copied()) else {
        return Estimate::default();
    };
    let value = ascending.get(ascending.len() / 2).copied().unwrap_or_default();
    let count = ascending.len() as f64;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok().filter(|_| least > 0.0);
    let Some(student) = student else { return Estimate { value, low: least, high: most } };
    let mean = ascending.iter().map(|one| one.ln()).sum::<f64>() / count;
    let squares: f64 = ascending.iter().map(|one| (one.ln() - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0) * (1.0 + 1.0 / count)).sqrt();
    let far = student.inverse_cdf(f64::midpoint(1.0, SHARE_WITHIN)) * deviation;
    Estimate { value, low: (mean - far).exp().min(value), high: (mean + far).exp().max(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn nine_in_ten_of_what_comes_lie_within() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut measure = || (0..12).map(|_| random.random::<f64>() / 6.0).sum::<f64>().exp();
        let mut within = 0_u32;
        for _ in 0..10_000 {
            let measured: Vec<f64> = (0..5).map(|_| measure()).collect();
            within += u32::from(next_of(&measured).contains(measure()));
        }
        assert!((8850..9150).contains(&within), "{within} of 10 000 are within");
    }

    #[test]
    fn of_too_few_there_is_no_spread() {
        assert_eq!(next_of(&[]), Estimate::default());
        assert_eq!(next_of(&[2.0]), Estimate::exact(2.0));
        assert!((next_of(&[2.0, 2.0, 2.0]).high - 2.0).abs() < 1e-12);
        assert_eq!(next_of(&[0.0, 2.0, 1.0]), Estimate { value: 1.0, low: 0.0, high: 2.0 });
    }

    #[test]
    fn a_time_is_never_less_than_none() {
        assert!(next_of(&[1.0, 9.0]).low > 0.0);
    }
}
