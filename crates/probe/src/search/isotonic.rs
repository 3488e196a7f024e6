/// The non-decreasing series that is closest to a series, by least squares (pool adjacent violators).
///
/// Bandwidth doesn't fall with the queue depth but for noise, or slightly. The greatest of several noisy figures
/// of one plateau is always too great; pooling them gives their mean instead.
pub(super) fn isotonic(series: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(series.len());
    for &value in series {
        let mut pool = (value, 1);
        while let Some(&(mean, count)) = pools.last()
            && mean > pool.0
        {
            pools.pop();
            let sum = mean * count as f64 + pool.0 * pool.1 as f64;
            pool = (sum / (count + pool.1) as f64, count + pool.1);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::isotonic;

    #[test]
    fn what_rises_stays_and_what_falls_is_pooled() {
        assert_eq!(isotonic(&[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(isotonic(&[1.0, 5.0, 3.0, 4.0]), [1.0, 4.0, 4.0, 4.0]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0, 2.0, 2.0]);
        assert_eq!(isotonic(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        assert!(isotonic(&[]).is_empty());
    }
}
