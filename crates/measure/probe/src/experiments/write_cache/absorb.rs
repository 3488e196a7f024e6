//! Filling of a cache and detection of its size.

use nandle_io::Nanos;
use nandle_profile::{Interval, OperationKind};

use crate::experiments::Lab;
use crate::experiments::change::changes;
use crate::experiments::series::{Length, Pool, Walk, series};
use crate::experiments::statistics::mean_interval;
use crate::load::LoadError;
use crate::pattern::{Area, Random};

/// Growth factor of the bins for the speed …
const BIN_GROWTH: f64 = 1.15;
/// … and fewest writes in a bin.
const BIN_WRITES_MIN: usize = 16;
/// Shortest level, in bins.
const LEVEL_BINS: usize = 3;
/// Most writes. More give no further information.
const WRITES_MAX: u64 = 400_000;

/// Random writes over the area.
pub(super) struct CacheFiller {
    walk: Walk,
}

/// Speeds at the start and at the end.
pub(super) struct Levels {
    pub(super) first: Option<Interval<f64>>,
    pub(super) last: Option<Interval<f64>>,
    /// Bytes written at the first level; `None` if there is only one level.
    pub(super) absorbed_bytes: Option<Interval<u64>>,
}

/// Consecutive writes that are counted together.
struct Bin {
    /// Bytes written before it.
    from_bytes: u64,
    bytes_per_s: f64,
}

impl CacheFiller {
    pub(super) fn new(lab: &Lab<'_>, block_bytes: u64) -> Result<Self, LoadError> {
        let area = Area::new(0, lab.circumstances.area_bytes, block_bytes);
        let area = area.ok_or_else(|| LoadError::Block {
            block_bytes,
            reason: "the area is smaller than that".into(),
        })?;
        let pattern = Box::new(Random::new(area, lab.seed ^ 0x6361));
        let operation = OperationKind::Write;
        Ok(Self { walk: Walk { pattern, operation, block_bytes, pause: Nanos::ZERO, burst_requests: 0 } })
    }

    /// Writes for a time, or until half of the write limit is used up.
    pub(super) fn fill(
        &mut self,
        lab: &mut Lab<'_>,
        pool: &mut Pool,
        time: Nanos,
    ) -> Result<Levels, LoadError> {
        lab.report("filling the cache");
        let half = lab.write_left_bytes() / 2 / self.walk.block_bytes;
        let length = Length { time, requests_least: 0, requests_most: half.min(WRITES_MAX) };
        let latencies_ns = series(lab, pool, &mut self.walk, length)?;
        Ok(levels(&bins(&latencies_ns, self.walk.block_bytes)))
    }

    /// Writes `bytes` and returns the bandwidth; `None` if the write limit is reached.
    pub(super) fn write(
        &mut self,
        lab: &mut Lab<'_>,
        pool: &mut Pool,
        bytes: u64,
    ) -> Result<Option<f64>, LoadError> {
        let requests = bytes.div_ceil(self.walk.block_bytes).max(1);
        let length = Length { time: Nanos::ZERO, requests_least: requests, requests_most: requests };
        let latencies_ns = series(lab, pool, &mut self.walk, length)?;
        let complete = latencies_ns.len() as u64 == requests;
        Ok(complete.then(|| rate(&latencies_ns, self.walk.block_bytes)))
    }
}

fn rate(latencies_ns: &[u64], block_bytes: u64) -> f64 {
    let time_ns: u64 = latencies_ns.iter().sum();
    (latencies_ns.len() as u64 * block_bytes) as f64 * 1e9 / time_ns.max(1) as f64
}

fn bins(mut latencies_ns: &[u64], block_bytes: u64) -> Vec<Bin> {
    let (mut bins, mut from_bytes, mut length) = (Vec::new(), 0, BIN_WRITES_MIN as f64);
    loop {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive length")]
        let count = length as usize;
        // An incomplete bin at the end is dropped.
        let Some((bin, rest)) = latencies_ns.split_at_checked(count) else { return bins };
        bins.push(Bin { from_bytes, bytes_per_s: rate(bin, block_bytes) });
        from_bytes += count as u64 * block_bytes;
        (latencies_ns, length) = (rest, length * BIN_GROWTH);
    }
}

fn levels(bins: &[Bin]) -> Levels {
    let speeds: Vec<f64> = bins.iter().map(|bin| bin.bytes_per_s).collect();
    let changes = changes(&speeds, LEVEL_BINS);
    let mean = |from: usize, to: usize| mean_interval(speeds.get(from..to).unwrap_or_default());
    let first_change = changes.first().copied();
    let first = mean(0, first_change.unwrap_or(speeds.len()));
    let last = mean(changes.last().copied().unwrap_or(0), speeds.len());
    let edge = |index: usize| bins.get(index).map_or(0, |bin| bin.from_bytes);
    let falls = first.zip(last).is_some_and(|(first, last)| last.value < first.value);
    let absorbed = first_change.filter(|_| falls).map(|at| Interval {
        value: edge(at),
        low: edge(at - 1),
        high: edge((at + 1).min(bins.len().saturating_sub(1))),
    });
    Levels { first, last, absorbed_bytes: absorbed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_before_the_slowdown_are_found() {
        let latencies_ns: Vec<u64> =
            (0..20_000).map(|i| if i < 2_000 { 100_000 } else { 1_000_000 }).collect();
        let levels = levels(&bins(&latencies_ns, 4096));
        let absorbed = levels.absorbed_bytes.unwrap();
        assert!(absorbed.contains(2_000 * 4096), "{absorbed:?}");
        assert!((levels.first.unwrap().value / 40.96e6 - 1.0).abs() < 0.1);
        assert!((levels.last.unwrap().value / 4.096e6 - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_device_of_constant_speed_absorbs_nothing() {
        let levels = levels(&bins(&vec![250_000; 9_000], 4096));
        assert!(levels.absorbed_bytes.is_none() && levels.first.is_some());
    }
}
