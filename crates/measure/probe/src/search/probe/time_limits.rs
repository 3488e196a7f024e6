//! Time limits of a probe: the length of a slice, and of filling and draining a queue.

use std::collections::BTreeMap;

use nandle_io::Nanos;

use super::Search;
use crate::search::CellKey;

/// Length of a slice: one in `SLICE_PART` of the budget, within these bounds. Many short slices
/// tell more than a few long ones, but each has its ramps.
const SLICE_PART: u64 = 1000;
pub(super) const SLICE_MIN: Nanos = Nanos::from_millis(20);
const SLICE_MAX: Nanos = Nanos::from_millis(100);
/// Time limit of filling the queue for a slice: one in `RAMP_PART` of the budget, at most
/// `RAMP_MAX`. Draining has the same limit.
const RAMP_PART: u64 = 40;
const RAMP_MAX: Nanos = Nanos::from_millis(500);

pub(super) fn slice_time(budget: Nanos) -> Nanos {
    Nanos(budget.0 / SLICE_PART).clamp(SLICE_MIN, SLICE_MAX)
}

impl Search<'_> {
    /// Deepest affordable queue of each block size, if not measured yet.
    pub(super) fn deepest_affordable(&mut self) -> Vec<CellKey> {
        let cells: Vec<CellKey> = self.grid.random_cells().collect();
        let affordable = cells.into_iter().filter(|key| self.is_affordable(*key));
        let deepest: BTreeMap<u64, CellKey> = affordable.map(|key| (key.block_bytes, key)).collect();
        deepest.into_values().filter(|key| self.is_new(*key)).collect()
    }

    pub(super) fn has_time_for(&mut self, key: CellKey) -> bool {
        let ramp = self.ramp(key).unwrap_or(Nanos::ZERO);
        // A slice ends with a whole round of the queue, which takes as long as filling it.
        self.slicer.now() + ramp + self.slicer.slice_time.max(ramp) + ramp < self.ends
    }

    /// Returns true if a slice's ramps are short enough. Slow devices don't get the deepest queues,
    /// and the profile reports this.
    pub(super) fn is_affordable(&mut self, key: CellKey) -> bool {
        let ramp_max = RAMP_MAX.min(Nanos(self.ends.since(self.began).0 / RAMP_PART));
        match self.ramp(key) {
            Some(ramp) if ramp > ramp_max && self.is_new(key) => {
                self.unaffordable.insert(key, ramp);
                false
            }
            _ => true,
        }
    }

    /// Time to fill the queue, estimated from the same block size at up to that depth.
    fn ramp(&self, key: CellKey) -> Option<Nanos> {
        let from = CellKey { queue_depth: 0, ..key };
        let random =
            CellKey::random(key.block_bytes, 0)..CellKey::random(key.block_bytes, key.queue_depth + 1);
        let known = self.slicer.fastest_of(from..key).or_else(|| self.slicer.fastest_of(random));
        let bandwidth = known.filter(|bandwidth| *bandwidth > 0.0)?;
        let ramp_ns = key.spec().outstanding_bytes() as f64 / bandwidth * 1e9;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let ramp = Nanos(ramp_ns as u64);
        Some(ramp)
    }
}
