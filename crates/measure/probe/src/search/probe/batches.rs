//! Batches: what random reads take that find the device idle, from the first submission to the last completion.
//!
//! A cell says what a full queue gives. A short scan fills a queue and empties it: of many drives the one that has most to
//! do is waited for, and an arm has ever fewer requests to choose from. For some sizes some batches are measured that are
//! sent at once, up to the depth that keeps the device busy, and one of that depth that is several times as long, from which
//! the rate follows without the ends.

use std::collections::BTreeMap;

use nandle_io::Nanos;
use nandle_profile::Batch;
use rand::seq::SliceRandom;

use super::Search;
use crate::load::LoadError;
use crate::search::{CellKey, Surface};

/// Batches may take this part of the budget.
const PART: u64 = 6;
/// A shorter probe has hardly time for its cells, and a profile without sequential reads lacks more than one without batches.
const BUDGET_MIN: Nanos = Nanos::from_millis(8000);
/// How often each is measured, if there is time.
const ROUNDS: usize = 3;
/// Of the block sizes one in so many: what lies between follows.
const SIZES_STEP: usize = 2;
/// Batches that are sent at once grow by this factor.
const GROWTH: u32 = 4;
/// The long one has so many full queues at least, and takes so long at least.
const LONG_QUEUES: u64 = 5;
const LONG_MIN: Nanos = Nanos::from_millis(20);
/// A depth keeps the device busy that gives so much of what the best one does.
const BUSY: f64 = 0.97;

/// The elapsed times of each batch, by its cell and its requests.
pub(super) type Batches = BTreeMap<(CellKey, u64), Vec<Nanos>>;

impl Search<'_> {
    /// Measures batches in random order, a round after the other, as long as there is time for them. The cells that come after them have at least as
    /// much: a profile without sequential reads lacks more than one without batches.
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
                self.tell("batches", *key);
                if let Some(elapsed) = self.slicer.batch(*key, *requests)? {
                    self.batches.entry((*key, *requests)).or_default().push(elapsed);
                }
            }
        }
        Ok(())
    }
}

/// The batches of a block size, with the time that each takes about.
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
        let takes = Nanos((requests.max(u64::from(busy_depth)) as f64 * request_ns) as u64); // few take no longer than a full queue
        (CellKey::random(block_bytes, depth), requests, takes)
    };
    batches.map(batch).collect()
}

/// As a profile has them.
pub(super) fn found(batches: &Batches) -> Vec<Batch> {
    let batch = |((key, requests), elapsed): (&(CellKey, u64), &Vec<Nanos>)| Batch {
        block_bytes: key.block_bytes,
        requests: *requests,
        queue_depth: key.queue_depth,
        elapsed_ns: elapsed.iter().map(|elapsed| elapsed.0).collect(),
    };
    batches.iter().map(batch).collect()
}
