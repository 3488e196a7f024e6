//! Lasting changes of speed, and their likely causes.

use nandle_profile::SecondSample;
use nandle_profile::experiments::{Departure, DepartureKind};

use crate::experiments::change::{changes, mean};

/// Shortest level, in seconds.
const LEVEL_S: usize = 3;
/// Largest relative standard deviation of a level kept by a rate limiter.
const RATE_LIMIT_VARIATION_MAX: f64 = 0.01;
/// Rate limits are multiples of this, within one per cent.
const RATE_LIMIT_STEP: f64 = 100.0;
/// Smallest ratio of the first second to the rest in an immediate fall.
const IMMEDIATE_FALL_RATIO: f64 = 3.0;
/// Fewest changes between two levels that count as oscillation.
const SWINGS: usize = 3;

/// Changes during sequential writes. A fall means that a faster region is full.
pub(super) fn of_sequential_writing(seconds: &[SecondSample]) -> Vec<Departure> {
    departures(seconds, |levels, index| {
        if falls(levels, index) { DepartureKind::FastRegionFull } else { DepartureKind::Unexplained }
    })
}

/// Changes during random writes. Only the first fall is attributed to garbage collection or
/// credits, since both begin only once.
pub(super) fn of_random_writing(seconds: &[SecondSample]) -> Vec<Departure> {
    let found = departures(seconds, |levels, index| {
        if is_swing(levels) {
            DepartureKind::Throttled
        } else if !falls(levels, index) || (0..index).any(|earlier| falls(levels, earlier)) {
            DepartureKind::Unexplained
        } else if levels.get(index + 1).is_some_and(Level::is_rate_limit) {
            DepartureKind::BurstCreditsSpent
        } else {
            DepartureKind::CleaningBegan
        }
    });
    if found.is_empty() { at_once(seconds).into_iter().collect() } else { found }
}

/// A fall within the first seconds, which are too few for a level: later seconds never reach the
/// speed of the first one again.
fn at_once(seconds: &[SecondSample]) -> Option<Departure> {
    let first = seconds.first()?.bytes as f64;
    let is_fast = |second: &&SecondSample| second.bytes as f64 * IMMEDIATE_FALL_RATIO > first;
    let (before, after) = seconds.split_at(seconds.iter().take_while(is_fast).count());
    let never_again = after.len() >= LEVEL_S * LEVEL_S && !after.iter().any(|second| is_fast(&second));
    let (fast, slow) = (Level::of(0, before), Level::of(before.len(), after));
    (never_again && slow.bytes_per_s > 0.0).then(|| Departure {
        kind: DepartureKind::CleaningBegan,
        at_ns: slow.from_s as u64 * 1_000_000_000,
        after_bytes: before.iter().map(|second| second.bytes).sum(),
        before_bytes_per_s: fast.bytes_per_s,
        after_bytes_per_s: slow.bytes_per_s,
    })
}

/// Consecutive seconds of about the same speed.
struct Level {
    from_s: usize,
    bytes_per_s: f64,
    iops: f64,
    variation: f64,
}

impl Level {
    fn of(from_s: usize, seconds: &[SecondSample]) -> Self {
        let bytes: Vec<f64> = seconds.iter().map(|second| second.bytes as f64).collect();
        let requests: Vec<f64> = seconds.iter().map(|second| second.requests as f64).collect();
        let bytes_per_s = mean(&bytes);
        let squares: Vec<f64> = bytes.iter().map(|value| (value - bytes_per_s).powi(2)).collect();
        let variation = mean(&squares).sqrt() / bytes_per_s.max(1.0);
        Self { from_s, bytes_per_s, iops: mean(&requests), variation }
    }

    /// Returns true if it looks like a rate limit: a round number of requests, kept exactly.
    fn is_rate_limit(&self) -> bool {
        let multiple = (self.iops / RATE_LIMIT_STEP).round() * RATE_LIMIT_STEP;
        self.variation <= RATE_LIMIT_VARIATION_MAX
            && multiple > 0.0
            && (self.iops / multiple - 1.0).abs() <= RATE_LIMIT_VARIATION_MAX
    }
}

fn falls(levels: &[Level], index: usize) -> bool {
    let speed = |index: usize| levels.get(index).map_or(0.0, |level| level.bytes_per_s);
    speed(index + 1) < speed(index)
}

/// Returns true if the levels alternate between up and down.
fn is_swing(levels: &[Level]) -> bool {
    let ups: Vec<bool> = (1..levels.len()).map(|index| falls(levels, index - 1)).collect();
    ups.len() >= SWINGS && ups.windows(2).all(|pair| matches!(pair, [first, second] if first != second))
}

fn departures(seconds: &[SecondSample], kind: impl Fn(&[Level], usize) -> DepartureKind) -> Vec<Departure> {
    let speeds: Vec<f64> = seconds.iter().map(|second| second.bytes as f64).collect();
    let starts: Vec<usize> = std::iter::once(0).chain(changes(&speeds, LEVEL_S)).collect();
    let ends = starts.iter().skip(1).copied().chain([seconds.len()]);
    let level = |(from, to): (&usize, usize)| Level::of(*from, seconds.get(*from..to).unwrap_or_default());
    let levels: Vec<Level> = starts.iter().zip(ends).map(level).collect();
    let departure = |(index, pair): (usize, &[Level])| match pair {
        [before, after] => Some(Departure {
            kind: kind(&levels, index),
            at_ns: after.from_s as u64 * 1_000_000_000,
            after_bytes: seconds.iter().take(after.from_s).map(|second| second.bytes).sum(),
            before_bytes_per_s: before.bytes_per_s,
            after_bytes_per_s: after.bytes_per_s,
        }),
        _ => None,
    };
    levels.windows(2).enumerate().filter_map(departure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(iops: impl Iterator<Item = u64>) -> Vec<SecondSample> {
        iops.map(|requests| SecondSample { requests, bytes: requests * 4096, latency_ns_max: 0 }).collect()
    }

    /// Seconds with a varying speed around a level.
    fn unsteady(level: u64, count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |index| level + level * (index * 7919 % 11) / 100)
    }

    fn kinds(departures: &[Departure]) -> Vec<DepartureKind> {
        departures.iter().map(|departure| departure.kind).collect()
    }

    #[test]
    fn declines_are_classified_by_shape() {
        let region = seconds(unsteady(90_000, 20).chain(unsteady(15_000, 20)));
        let found = of_sequential_writing(&region);
        assert_eq!(kinds(&found), [DepartureKind::FastRegionFull]);
        assert_eq!(found[0].at_ns, 20_000_000_000);
        assert_eq!(found[0].after_bytes, region[..20].iter().map(|second| second.bytes).sum::<u64>());
        assert_eq!(kinds(&of_random_writing(&region)), [DepartureKind::CleaningBegan]);
    }

    #[test]
    fn credits_end_at_a_number_that_was_agreed_upon() {
        let volume = seconds(std::iter::repeat_n(3000, 30).chain(std::iter::repeat_n(300, 30)));
        assert_eq!(kinds(&of_random_writing(&volume)), [DepartureKind::BurstCreditsSpent]);
    }

    #[test]
    fn oscillation_is_throttling() {
        let hot = seconds((0..6).flat_map(|turn| unsteady(if turn % 2 == 0 { 50_000 } else { 20_000 }, 8)));
        let found = of_random_writing(&hot);
        assert_eq!(found.len(), 5);
        assert!(found.iter().all(|departure| departure.kind == DepartureKind::Throttled));
    }

    #[test]
    fn an_early_fall_is_a_departure() {
        // A small drive that pauses for 1.5 s whenever it collects garbage.
        let pauses = (0..40).map(|second| if second % 2 == 0 { 6_400 } else { 0 });
        let found = of_random_writing(&seconds([34_000, 13_700].into_iter().chain(pauses)));
        assert_eq!(kinds(&found), [DepartureKind::CleaningBegan]);
        assert_eq!((found[0].at_ns, found[0].after_bytes), (2_000_000_000, 47_700 * 4096));
        let bursts = (0..40).map(|second| if second % 4 == 0 { 30_000 } else { 2_000 });
        assert!(of_random_writing(&seconds(bursts)).is_empty(), "a speed that returns is not a fall");
    }

    #[test]
    fn a_steady_device_has_no_departures() {
        assert!(of_random_writing(&seconds(unsteady(40_000, 60))).is_empty());
        assert!(of_random_writing(&[]).is_empty());
    }
}
