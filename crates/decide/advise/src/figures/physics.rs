//! Bounds that hold on every device, whatever noise a measurement had: a larger request takes no less time than a smaller
//! one and, by the byte, no more; no rate of requests moves more bytes than were ever seen to move. What was measured is
//! brought within them here, before any rule sees it, and where two measurements contradict them the interval says that
//! either may be wrong.

use nandle_profile::arithmetic::map;
use nandle_profile::{Interval, weighted_isotonic};

use crate::settings::Figure;

/// Times of requests by their size, made non-falling. Sizes whose times contradict each other get one value, the mean
/// weighted by how sure each is, and an interval that holds all of theirs.
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

/// Time of a size among those of others, in ascending order: as measured, or on the straight line between its neighbours, since a
/// request takes something beside its bytes and for each of them. `None` beyond the smallest and the largest.
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

/// The surer a time is, the more it counts; none is surer than a twentieth of itself.
fn weight(time: &Interval<f64>) -> f64 {
    const LEAST_REACH: f64 = 0.05;
    let reach = (time.high - time.low) / time.value;
    if reach.is_finite() { reach.max(LEAST_REACH).powi(-2) } else { f64::MIN_POSITIVE }
}

/// The time of a larger request by that of a smaller one, `times_larger` bytes by byte: from 1 to that. A measured ratio
/// beyond tells nothing but that one of the two times is wrong, so it may be anything between.
pub(crate) fn larger_by_smaller(measured: Option<Interval<f64>>, times_larger: f64) -> Interval<f64> {
    debug_assert!(times_larger >= 1.0, "{times_larger} is the ratio of a smaller request to a larger one");
    let possible = 1.0..=times_larger;
    let within = |bound: f64| bound.clamp(1.0, times_larger);
    match measured.filter(|ratio| possible.contains(&ratio.value)) {
        Some(ratio) => Interval { value: ratio.value, low: within(ratio.low), high: within(ratio.high) },
        None => Interval { value: times_larger, low: 1.0, high: times_larger },
    }
}

/// A rate of requests that move no more bytes a second than the device was ever seen to move.
pub(crate) fn within_bandwidth(
    per_s: Interval<f64>,
    request_bytes: u64,
    bandwidth_bytes_per_s: f64,
) -> Interval<f64> {
    let most = bandwidth_bytes_per_s / request_bytes as f64;
    map(&per_s, |rate| rate.min(most))
}

/// A figure of such a rate, within the lower bound of a bandwidth's where that was measured.
pub(crate) fn within_figure<E>(
    per_s: Result<Figure, E>,
    request_bytes: u64,
    bandwidth: &Result<Figure, E>,
) -> Result<Figure, E> {
    let most = bandwidth.as_ref().map_or(f64::INFINITY, |bandwidth| bandwidth.value.low);
    per_s.map(|figure| Figure { value: within_bandwidth(figure.value, request_bytes, most), ..figure })
}

/// A ratio that is never below 1: a random page costs no less than one in sequence.
pub(crate) fn at_least_one(ratio: Interval<f64>) -> Interval<f64> {
    map(&ratio, |ratio| ratio.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(value: f64) -> Interval<f64> {
        Interval { value, low: value * 0.9, high: value * 1.1 }
    }

    /// 16 KiB that seemed to take about half of what 4 KiB took.
    #[test]
    fn times_that_contradict_each_other_become_one_that_may_be_either() {
        let times = vec![(16 << 10, about(53.0)), (4 << 10, about(100.0)), (64 << 10, about(200.0))];
        let smoothed = non_falling(times);
        let [(_, small), (_, large), (_, largest)] = smoothed.as_slice() else { panic!("{smoothed:?}") };
        assert_eq!(small, large);
        assert!((small.value - 76.5).abs() < 1e-9, "{small:?}");
        assert!((small.low - 47.7).abs() < 1e-9 && (small.high - 110.0).abs() < 1e-9, "{small:?}");
        assert_eq!(*largest, about(200.0));
    }

    #[test]
    fn a_size_between_two_lies_on_the_line_between_them() {
        let times = [(4 << 10, about(100.0)), (32 << 10, about(200.0)), (128 << 10, about(500.0))];
        assert_eq!(time_of_size(&times, 32 << 10), Some(about(200.0)));
        let between = time_of_size(&times, 64 << 10).unwrap();
        assert!((between.value - 300.0).abs() < 1e-9 && (between.low - 270.0).abs() < 1e-9, "{between:?}");
        assert_eq!((time_of_size(&times, 2 << 10), time_of_size(&times, 256 << 10)), (None, None));
    }

    #[test]
    fn a_ratio_beyond_what_can_be_says_nothing() {
        let nothing = Interval { value: 4.0, low: 1.0, high: 4.0 };
        assert_eq!(larger_by_smaller(Some(about(0.53)), 4.0), nothing);
        assert_eq!(larger_by_smaller(Some(about(5.0)), 4.0), nothing);
        assert_eq!(larger_by_smaller(None, 4.0), nothing);
        let known = larger_by_smaller(Some(about(1.05)), 4.0);
        assert_eq!((known.value, known.low), (1.05, 1.0));
    }

    #[test]
    fn no_rate_moves_more_than_was_seen() {
        let rate = within_bandwidth(Interval { value: 900.0, low: 500.0, high: 2000.0 }, 1000, 800e3);
        assert_eq!(rate, Interval { value: 800.0, low: 500.0, high: 800.0 });
        assert_eq!(at_least_one(Interval { value: 0.9, low: 0.8, high: 1.2 }).value.to_string(), "1");
    }
}
