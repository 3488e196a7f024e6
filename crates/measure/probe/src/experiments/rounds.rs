//! Cells measured in turns. Two equal cells differ by a fifth if they are measured minutes apart.
//! So each cell is measured in short slices, one per round, in an order that is shuffled for each
//! round. Results are sums over the rounds and ratios of these.

use nandle_io::Nanos;
use nandle_profile::{Interval, OperationKind};
use rand::seq::SliceRandom;

use super::Lab;
use crate::error_model::{Part, Rate};
use crate::load::{ClosedLoop, Counting, LoadError, Measurement, Refill, Stop, Work};
use crate::pattern::{Area, Pattern, generator};

/// Shortest useful slice.
pub(super) const SLICE_MIN: Nanos = Nanos::from_millis(5);
/// Requests before a device has recognised a pattern.
const FIRST_REQUESTS: u64 = 3;

/// Result of a slice: an amount (requests, bytes, …) in a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) amount: f64,
    pub(super) time: Nanos,
}

/// Results of all cells in all rounds.
pub(super) struct Rounds {
    /// By cell and round; `None` if a slice had no result.
    samples: Vec<Vec<Option<Sample>>>,
}

/// Budget of the rounds.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    pub(super) time: Nanos,
    pub(super) rounds_max: usize,
    /// Longest slice.
    pub(super) slice_max: Nanos,
}

/// Default of `Turns::slice_max`.
pub(super) const SLICE_MAX: Nanos = Nanos::from_millis(250);

/// Remark for a single round, which has no spread to compute bounds from.
pub(super) const ONE_ROUND: &str = "The budget or the write limit allowed only one round of measurements. So \
    the spread of its figures is unknown, and their bounds equal the figures; a larger --budget or \
    --write-limit gives more rounds.";

impl Rounds {
    /// Measures cells in turns. `slice` receives the target duration and returns the result of a
    /// cell.
    pub(super) fn measure<C>(
        lab: &mut Lab<'_>,
        cells: &[C],
        turns: Turns,
        mut slice: impl FnMut(&mut Lab<'_>, &C, Nanos) -> Result<Option<Sample>, LoadError>,
    ) -> Result<Self, LoadError> {
        let began = lab.elapsed();
        let slices = (cells.len() * turns.rounds_max.max(1)) as u64;
        let slice_time = Nanos((turns.time.0 / slices.max(1)).clamp(SLICE_MIN.0, turns.slice_max.0));
        let mut rounds = Self { samples: vec![Vec::new(); cells.len()] };
        let mut order: Vec<usize> = (0..cells.len()).collect();
        let mut generator = generator(lab.seed, 41);
        for round in 0..turns.rounds_max {
            // A round that would overrun the time isn't started.
            let passed = lab.elapsed().since(began);
            if round > 0 && passed.0 + passed.0 / round as u64 > turns.time.0 {
                break;
            }
            order.shuffle(&mut generator);
            for &index in &order {
                let (Some(cell), Some(samples)) = (cells.get(index), rounds.samples.get_mut(index)) else {
                    continue;
                };
                samples.push(slice(lab, cell, slice_time)?);
            }
        }
        let most = rounds.samples.iter().map(Vec::len).max();
        if turns.rounds_max > 1 && most == Some(1) {
            lab.remark(ONE_ROUND);
        }
        Ok(rounds)
    }

    /// Rate of a cell per second.
    pub(super) fn rate(&self, cell: usize) -> Option<Interval<f64>> {
        let parts: Vec<Part> = self.samples.get(cell)?.iter().flatten().map(Sample::part).collect();
        Rate::of(&parts).map(|rate| rate.interval())
    }

    /// Ratio of two cells' rates, over the rounds in which both have results.
    pub(super) fn ratio(&self, cell: usize, base: usize) -> Option<Interval<f64>> {
        let rounds = self.samples.get(cell)?.iter().zip(self.samples.get(base)?);
        let both = rounds.filter_map(|(one, other)| Some((one.as_ref()?.part(), other.as_ref()?.part())));
        let (one, other): (Vec<Part>, Vec<Part>) = both.unzip();
        Some(Rate::of(&one)?.by(&Rate::of(&other)?))
    }
}

impl Sample {
    fn part(&self) -> Part {
        Part { amount: self.amount, time: self.time.as_secs_f64() }
    }

    /// Requests per time; `None` if none completed.
    pub(super) fn requests(measured: &Measurement) -> Option<Self> {
        let sample = Self { amount: measured.moved_requests, time: measured.elapsed };
        (measured.requests > 0).then_some(sample)
    }

    /// Bytes per time; `None` if none were moved.
    pub(super) fn bytes(measured: &Measurement) -> Option<Self> {
        let sample = Self { amount: measured.moved_bytes(), time: measured.elapsed };
        (measured.bytes > 0).then_some(sample)
    }
}

/// Median with a distribution-free 95 % interval between two order statistics (sign test). For
/// fewer than six values the interval covers all of them.
pub(super) fn median_interval(mut values: Vec<f64>) -> Option<Interval<f64>> {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let at = |index: usize| values.get(index).copied();
    let value = f64::midpoint(at(count.checked_sub(1)? / 2)?, at(count / 2)?);
    let outside = ranks_outside(count);
    Some(Interval { value, low: at(outside)?, high: at(count - 1 - outside)? })
}

/// Number of values outside the interval on either side: the largest number of heads whose
/// cumulative probability in `count` fair coin tosses is at most 2.5 %.
fn ranks_outside(count: usize) -> usize {
    let mut probability = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut sum = probability;
    let mut ranks = 0;
    if probability <= 0.0 {
        // 0.5^count underflows, so the normal approximation is used.
        let ranks = count as f64 / 2.0 - 0.98 * (count as f64).sqrt();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive for large counts"
        )]
        return ranks as usize;
    }
    while sum <= 0.025 && ranks + 1 < count / 2 {
        ranks += 1;
        probability *= (count + 1 - ranks) as f64 / ranks as f64;
        sum += probability;
    }
    if sum <= 0.025 { ranks } else { ranks.saturating_sub(1) }
}

/// A load of uniform requests.
#[derive(Clone, Copy)]
pub(super) struct Requests {
    pub(super) operation: OperationKind,
    pub(super) block_bytes: u64,
    pub(super) queue_depth: u32,
    /// Most requests counted in a slice, regardless of time. Without it, a fast device in virtual
    /// time would occupy the host for hours, and a write limit would be used up at once.
    pub(super) count_max: u64,
    /// Uncounted requests besides those that fill the queue.
    pub(super) first_uncounted: u64,
}

impl Requests {
    /// Most bytes moved by a slice.
    pub(super) fn bytes_max(self) -> u64 {
        (self.count_max + 2 * self.uncounted()) * self.block_bytes
    }

    fn uncounted(self) -> u64 {
        self.first_uncounted + u64::from(self.queue_depth) + FIRST_REQUESTS
    }

    /// Measures one slice.
    pub(super) fn slice(
        self,
        lab: &mut Lab<'_>,
        pattern: Pattern,
        seed: u64,
        time: Nanos,
    ) -> Result<Measurement, LoadError> {
        let Self { operation, block_bytes, queue_depth, .. } = self;
        let run = ClosedLoop {
            queue_depth,
            refill: Refill::Exact,
            counting: Counting::Window { warm_up_requests: self.uncounted() },
            stop: Stop { bytes: Some(self.bytes_max()), time: Some(time) },
        };
        lab.run(run, Work { pattern, block_bytes, operation, contents: None, seed })
    }
}

/// Whole blocks of the experiments' area from an offset on.
pub(super) fn area_from(lab: &Lab<'_>, start_bytes: u64, block_bytes: u64) -> Result<Area, LoadError> {
    let area_bytes = lab.circumstances.area_bytes.saturating_sub(start_bytes);
    let too_small = || LoadError::Block { block_bytes, reason: "the area has no room for one".into() };
    Area::new(start_bytes, area_bytes, block_bytes).ok_or_else(too_small)
}

/// Sequence of seeds, one per slice.
pub(super) struct Seeds(u64);

impl Seeds {
    pub(super) fn new(lab: &Lab<'_>) -> Self {
        Self(lab.seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::below;

    #[test]
    fn intervals_cover_the_true_median_at_the_stated_frequency() {
        let mut generator = generator(7, 1);
        for count in [6_usize, 9, 15, 40, 201] {
            let held = (0..2000).filter(|_| {
                let draw = |_| below(&mut generator, 1_000_001) as f64;
                let interval = median_interval((0..count).map(draw).collect()).unwrap();
                interval.contains(500_000.0)
            });
            let held = held.count();
            assert!((1880..=1999).contains(&held), "{held} of 2000 intervals over {count} values");
        }
    }

    #[test]
    fn intervals_of_few_and_of_many_values() {
        assert_eq!(median_interval(Vec::new()), None);
        assert_eq!(median_interval(vec![3.0]), Some(Interval::exact(3.0)));
        assert_eq!(median_interval(vec![5.0, 3.0, 4.0]), Some(Interval { value: 4.0, low: 3.0, high: 5.0 }));
        let many = median_interval((0..10_000).map(f64::from).collect()).unwrap();
        assert!(many.low > 4890.0 && many.high < 5110.0 && many.low < 4910.0, "{many:?}");
    }
}
