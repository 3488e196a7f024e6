//! Physical bounds that hold on every device, whatever the noise. A larger request takes no less
//! time than a smaller one, and no more time per byte. No request rate exceeds the measured
//! bandwidth. Measurements are brought within these bounds before any rule uses them. If two
//! measurements contradict the bounds, the interval covers both.

use nandle_profile::arithmetic::map;
use nandle_profile::{Interval, weighted_isotonic};

use crate::settings::Figure;

/// Makes request times non-decreasing in the request size (isotonic regression). Sizes with
/// contradictory times share their weighted mean and an interval that covers all of them.
pub(crate) fn non_falling(mut times: Vec<(u64, Interval<f64>)>) -> Vec<(u64, Interval<f64>)> {
    times.sort_by_key(|(bytes, _)| *bytes);
    let values = weighted_isotonic(times.iter().map(|(_, time)| (time.value, weight(time))));
    let mut pooled: Vec<(u64, Interval<f64>)> = Vec::with_capacity(times.len());
    let pools = times.iter().zip(&values).collect::<Vec<_>>();
    for pool in pools.chunk_by(|(_, one), (_, other)| one.total_cmp(other).is_eq()) {
        let low = pool.iter().map(|((_, time), _)| time.low).fold(f64::INFINITY, f64::min);
        let high = pool.iter().map(|((_, time), _)| time.high).fold(0.0, f64::max);
        pooled
            .extend(pool.iter().map(|((bytes, _), value)| (*bytes, Interval { value: **value, low, high })));
    }
    pooled
}

/// Time of a request size, measured or interpolated linearly between its neighbours. Returns `None`
/// outside the measured sizes. `times` ascend by size.
pub(crate) fn time_of_size(times: &[(u64, Interval<f64>)], bytes: u64) -> Option<Interval<f64>> {
    debug_assert!(times.is_sorted_by_key(|(bytes, _)| *bytes), "sizes ascend: {times:?}");
    if let Some((_, time)) = times.iter().find(|(measured, _)| *measured == bytes) {
        return Some(*time);
    }
    let (below, above) = times.iter().zip(times.iter().skip(1)).find(|((_, _), (next, _))| *next > bytes)?;
    let ((below_bytes, below), (above_bytes, above)) = (below, above);
    let share = bytes.checked_sub(*below_bytes)? as f64 / (above_bytes - below_bytes) as f64;
    let between = |below: f64, above: f64| below + (above - below) * share;
    Some(Interval {
        value: between(below.value, above.value),
        low: between(below.low, above.low),
        high: between(below.high, above.high),
    })
}

/// Weight of a time: the inverse square of its relative width. Widths below a twentieth count as a
/// twentieth.
fn weight(time: &Interval<f64>) -> f64 {
    const LEAST_REACH: f64 = 0.05;
    let reach = (time.high - time.low) / time.value;
    if reach.is_finite() { reach.max(LEAST_REACH).powi(-2) } else { f64::MIN_POSITIVE }
}

/// Time of a larger request divided by that of a smaller one, between 1 and the ratio of their
/// sizes. A measured ratio outside this range means that one time is wrong, so the whole range is
/// returned.
pub(crate) fn larger_by_smaller(measured: Option<Interval<f64>>, times_larger: f64) -> Interval<f64> {
    debug_assert!(times_larger >= 1.0, "{times_larger} is the ratio of a smaller request to a larger one");
    let possible = 1.0..=times_larger;
    let within = |bound: f64| bound.clamp(1.0, times_larger);
    match measured.filter(|ratio| possible.contains(&ratio.value)) {
        Some(ratio) => Interval { value: ratio.value, low: within(ratio.low), high: within(ratio.high) },
        None => Interval { value: times_larger, low: 1.0, high: times_larger },
    }
}

/// Caps a request rate at the bandwidth of the device.
pub(crate) fn within_bandwidth(
    per_s: Interval<f64>,
    request_bytes: u64,
    bandwidth_bytes_per_s: f64,
) -> Interval<f64> {
    let most = bandwidth_bytes_per_s / request_bytes as f64;
    map(&per_s, |rate| rate.min(most))
}

/// Caps a figure of a request rate at the lower bound of a bandwidth, if that was measured.
pub(crate) fn within_figure<E>(
    per_s: Result<Figure, E>,
    request_bytes: u64,
    bandwidth: &Result<Figure, E>,
) -> Result<Figure, E> {
    let most = bandwidth.as_ref().map_or(f64::INFINITY, |bandwidth| bandwidth.value.low);
    per_s.map(|figure| Figure { value: within_bandwidth(figure.value, request_bytes, most), ..figure })
}

/// Raises a ratio to 1: a random page costs no less than a sequential one.
pub(crate) fn at_least_one(ratio: Interval<f64>) -> Interval<f64> {
    map(&ratio, |ratio| ratio.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(value: f64) -> Interval<f64> {
        Interval { value, low: value * 0.9, high: value * 1.1 }
    }

    /// 16 KiB seemed to take about half the time of 4 KiB.
    #[test]
    fn contradictory_times_share_one_value_and_cover_both() {
        let times = vec![(16 << 10, about(53.0)), (4 << 10, about(100.0)), (64 << 10, about(200.0))];
        let smoothed = non_falling(times);
        let [(_, small), (_, large), (_, largest)] = smoothed.as_slice() else { panic!("{smoothed:?}") };
        assert_eq!(small, large);
        assert!((small.value - 76.5).abs() < 1e-9, "{small:?}");
        assert!((small.low - 47.7).abs() < 1e-9 && (small.high - 110.0).abs() < 1e-9, "{small:?}");
        assert_eq!(*largest, about(200.0));
    }

    #[test]
    fn size_between_two_is_interpolated() {
        let times = [(4 << 10, about(100.0)), (32 << 10, about(200.0)), (128 << 10, about(500.0))];
        assert_eq!(time_of_size(&times, 32 << 10), Some(about(200.0)));
        let between = time_of_size(&times, 64 << 10).unwrap();
        assert!((between.value - 300.0).abs() < 1e-9 && (between.low - 270.0).abs() < 1e-9, "{between:?}");
        assert_eq!((time_of_size(&times, 2 << 10), time_of_size(&times, 256 << 10)), (None, None));
    }

    #[test]
    fn impossible_ratio_leaves_the_whole_range() {
        let nothing = Interval { value: 4.0, low: 1.0, high: 4.0 };
        assert_eq!(larger_by_smaller(Some(about(0.53)), 4.0), nothing);
        assert_eq!(larger_by_smaller(Some(about(5.0)), 4.0), nothing);
        assert_eq!(larger_by_smaller(None, 4.0), nothing);
        let known = larger_by_smaller(Some(about(1.05)), 4.0);
        assert_eq!((known.value, known.low), (1.05, 1.0));
    }

    #[test]
    fn no_rate_exceeds_the_bandwidth() {
        let rate = within_bandwidth(Interval { value: 900.0, low: 500.0, high: 2000.0 }, 1000, 800e3);
        assert_eq!(rate, Interval { value: 800.0, low: 500.0, high: 800.0 });
        assert_eq!(at_least_one(Interval { value: 0.9, low: 0.8, high: 1.2 }).value.to_string(), "1");
    }
}
