//! Batches: random reads on an idle device, measured from the first submission to the last
//! completion.
//!
//! A cell describes a full queue. A short scan fills and drains its queue: it waits for the drive
//! with the most work, and a disk arm has fewer and fewer requests to reorder. For some block
//! sizes, batches submitted at once are measured up to the saturating depth. One batch of that
//! depth is several times as long and gives the rate without the ramps.

use std::collections::BTreeMap;

use nandle_io::Nanos;
use nandle_profile::Batch;
use rand::seq::SliceRandom;

use super::Search;
use crate::load::LoadError;
use crate::search::{CellKey, Surface};

/// Fraction (one in `PART`) of the budget for batches.
const PART: u64 = 6;
/// Smallest budget with batches. A shorter probe needs its time for cells: sequential reads matter
/// more in a profile.
const BUDGET_MIN: Nanos = Nanos::from_millis(8000);
/// Measurements of each batch, if there is time.
const ROUNDS: usize = 3;
/// Step between measured block sizes. Sizes in between are interpolated.
const SIZES_STEP: usize = 2;
/// Growth factor of the batches that are submitted at once.
const GROWTH: u32 = 4;
/// Smallest length of the long batch, in full queues and in time.
const LONG_QUEUES: u64 = 5;
const LONG_MIN: Nanos = Nanos::from_millis(20);
/// Share of the best bandwidth from which a depth saturates the device.
const BUSY: f64 = 0.97;

/// Elapsed times of each batch, by cell and number of requests.
pub(super) type Batches = BTreeMap<(CellKey, u64), Vec<Nanos>>;

impl Search<'_> {
    /// Measures batches in random order, in rounds, within their time limit. At least half of the
    /// remaining time is left for the cells that follow.
    pub(super) fn measure_batches(&mut self) -> Result<(), LoadError> {
        let (now, budget) = (self.slicer.now(), self.ends.since(self.began));
        if budget < BUDGET_MIN {
            return Ok(());
        }
        let ends = now + Nanos((budget.0 / PART).min(self.ends.since(now).0 / 2));
        let surface = self.surface();
        let mut wanted: Vec<_> = self
            .grid
            .block_sizes
            .iter()
            .step_by(SIZES_STEP)
            .flat_map(|size| of_size(&surface, *size))
            .collect();
        for _ in 0..ROUNDS {
            wanted.shuffle(&mut self.generator);
            for (key, requests, takes) in &wanted {
                if self.slicer.now() + *takes > ends {
                    continue;
                }
                self.report("batches", *key);
                if let Some(elapsed) = self.slicer.batch(*key, *requests)? {
                    self.batches.entry((*key, *requests)).or_default().push(elapsed);
                }
            }
        }
        Ok(())
    }
}

/// Batches of a block size, with the estimated time of each.
fn of_size(surface: &Surface, block_bytes: u64) -> Vec<(CellKey, u64, Nanos)> {
    let by_depth = surface.random_by_depth(block_bytes);
    let Some((_, best)) = by_depth.last().copied().filter(|(_, best)| *best > 0.0) else { return Vec::new() };
    let busy = by_depth.iter().find(|(_, bandwidth)| *bandwidth >= BUSY * best);
    let Some((busy_depth, bandwidth)) = busy.copied() else { return Vec::new() };
    let request_ns = block_bytes as f64 / bandwidth * 1e9;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturates")]
    let long = (LONG_MIN.0 as f64 / request_ns) as u64;
    let long = long.max(LONG_QUEUES * u64::from(busy_depth));
    let at_once = std::iter::successors(Some(GROWTH), |requests| requests.checked_mul(GROWTH));
    let at_once = at_once.take_while(|requests| *requests < busy_depth).chain([busy_depth]);
    let batches = at_once.map(|depth| (depth, u64::from(depth))).chain([(busy_depth, long)]);
    let batch = |(depth, requests): (u32, u64)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let takes = Nanos((requests.max(u64::from(busy_depth)) as f64 * request_ns) as u64); // A few requests take no longer than a full queue.
        (CellKey::random(block_bytes, depth), requests, takes)
    };
    batches.map(batch).collect()
}

/// Batches in the form of the profile.
pub(super) fn found(batches: &Batches) -> Vec<Batch> {
    let batch = |((key, requests), elapsed): (&(CellKey, u64), &Vec<Nanos>)| Batch {
        block_bytes: key.block_bytes,
        requests: *requests,
        queue_depth: key.queue_depth,
        elapsed_ns: elapsed.iter().map(|elapsed| elapsed.0).collect(),
    };
    batches.iter().map(batch).collect()
}
