/// Non-decreasing series closest to `series` by least squares (pool adjacent violators).
///
/// Bandwidth decreases with queue depth only by noise, or slightly. The maximum of several noisy
/// figures of one plateau is biased upwards; pooling gives their mean instead.
pub fn isotonic(series: &[f64]) -> Vec<f64> {
    weighted_isotonic(series.iter().map(|value| (*value, 1.0)))
}

/// Weighted [`isotonic`] regression of (value, weight) pairs, with weights above 0.
pub fn weighted_isotonic(series: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
    let mut pools: Vec<Pool> = Vec::new();
    for (value, weight) in series {
        let mut pool = Pool { mean: value, weight, count: 1 };
        while let Some(last) = pools.pop_if(|last| last.mean > pool.mean) {
            let weight = last.weight + pool.weight;
            let mean = (last.mean * last.weight + pool.mean * pool.weight) / weight;
            pool = Pool { mean, weight, count: last.count + pool.count };
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.count)).collect()
}

/// Adjacent entries with the same value.
struct Pool {
    mean: f64,
    weight: f64,
    count: usize,
}

#[cfg(test)]
mod tests {
    use super::{isotonic, weighted_isotonic};

    #[test]
    fn falling_values_are_pooled() {
        assert_eq!(isotonic(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(isotonic(&[1.0, 5.0, 3.0, 4.0]), [1.0, 4.0, 4.0, 4.0]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0, 2.0, 2.0]);
        assert_eq!(isotonic(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        assert!(isotonic(&[]).is_empty());
    }

    #[test]
    fn pooled_values_are_weighted_means() {
        assert_eq!(weighted_isotonic([(5.0, 1.0), (1.0, 3.0)].into_iter()), [2.0, 2.0]);
    }
}
