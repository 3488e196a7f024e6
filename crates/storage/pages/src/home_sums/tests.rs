#![allow(clippy::cast_possible_truncation, reason = "helpers of tests are part of them")]

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{Nanos, WriteBuffers};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::extents::Scan;
use crate::{CreateOptions, PolicyKind};

const CHUNKS: u64 = 3;
const PAGES: u64 = CHUNKS * CHUNK_PAGES as u64 - 5;

/// A device, a label with three chunks, and the expected sums.
struct Trial {
    disk: Rc<Disk>,
    label: Label,
    random: Xoshiro256PlusPlus,
    known: Vec<u32>,
}

fn run(seed: u64, test: impl AsyncFnOnce(Trial)) {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    let device = world.add(32 << 20, 512);
    let runtime = Runtime::new(Box::new(world));
    let handle: Handle = runtime.handle();
    let disk = Disk::new(&handle, device.id, false).unwrap();
    let options = CreateOptions::new(PolicyKind::StableRing, BLOCK_BYTES, PAGES);
    let label = Label::plan(&options, BLOCK_BYTES as u64, 1 << 20).unwrap();
    let (random, known) = (Xoshiro256PlusPlus::seed_from_u64(seed), vec![0; PAGES as usize]);
    runtime.block_on(test(Trial { disk, label, random, known }));
}

impl Trial {
    async fn recovered(&self, round: u64, may_forget: bool) -> Result<HomeSums, PageError> {
        let scan = Scan::new(&self.disk, &self.label).unwrap();
        recover(&scan, Rounds { newest: round, complete_after: None }, may_forget).await.map(Option::unwrap)
    }

    /// Writes `count` random sums, some of which mark a page as unknown.
    async fn write(&mut self, sums: &HomeSums, count: usize) {
        let mut entries = Vec::new();
        for _ in 0..count {
            let page = self.random.random_range(0..PAGES);
            let sum = if self.random.random_bool(0.1) { 0 } else { self.random.random_range(1..u32::MAX) };
            self.known[page as usize] = sum;
            entries.push((PageNumber(page), sum));
        }
        sums.write(&self.disk, &entries).await.unwrap();
    }

    /// Pages with wrong sums, and number of missing sums.
    fn differences(&self, sums: &HomeSums) -> (Vec<u64>, usize) {
        let found = sums.state.borrow().sums.clone();
        let is_wrong =
            |page: &u64| found[*page as usize] != 0 && found[*page as usize] != self.known[*page as usize];
        let missing = self.known.iter().zip(&found).filter(|(known, found)| **known != 0 && **found == 0);
        ((0..PAGES).filter(is_wrong).collect(), missing.count())
    }

    async fn block(&self, block: u64) -> Buffer {
        let into = arena().unwrap().allocate(BLOCK_BYTES).unwrap();
        self.disk.read("a test", self.offset_of(block), into).await.unwrap()
    }

    async fn put_back(&self, block: u64, contents: Buffer) {
        let from: WriteBuffers = [contents].into_iter().collect();
        self.disk.write("a test", self.offset_of(block), from).await.unwrap();
    }

    fn offset_of(&self, block: u64) -> u64 {
        self.label.sums_offset + block * BLOCK_BYTES as u64
    }
}

/// Few entries, a full log block, several log blocks, and more than all of them.
const COUNTS: [usize; 6] = [1, 30, ENTRIES_MAX, ENTRIES_MAX + 1, 3 * ENTRIES_MAX, 2000];

#[test]
fn what_was_written_is_known_again_after_any_round() {
    for seed in 0..20 {
        run(seed, async |mut trial| {
            let mut sums = trial.recovered(0, false).await.unwrap();
            for _ in 0..30 {
                let count = COUNTS[trial.random.random_range(0..COUNTS.len())];
                trial.write(&sums, count).await;
                let again = trial.recovered(sums.round(), false).await.unwrap();
                assert_eq!(trial.differences(&again), (vec![], 0), "seed {seed}, round {}", sums.round());
                sums = again;
            }
        });
    }
}

/// Rounds written ahead of the valid one, for a ledger that was lost.
#[test]
fn what_was_written_ahead_counts_for_nothing() {
    for seed in 0..20 {
        run(seed, async |mut trial| {
            let sums = trial.recovered(0, false).await.unwrap();
            for _ in 0..20 {
                trial.write(&sums, 30).await;
                let (round, known) = (sums.round(), trial.known.clone());
                let ahead = trial.recovered(round, false).await.unwrap();
                let count = COUNTS[trial.random.random_range(0..COUNTS.len())];
                trial.write(&ahead, count).await;
                trial.known = known;
                let again = trial.recovered(round, false).await.unwrap();
                assert_eq!(trial.differences(&again), (vec![], 0), "seed {seed}, round {round}");
            }
        });
    }
}

#[test]
fn a_block_that_is_damaged_or_older_is_made_up_for_or_missed() {
    let (mut lost, mut made_up_for) = (0, 0);
    for seed in 0..30 {
        run(seed, async |mut trial| {
            let sums = trial.recovered(0, false).await.unwrap();
            for _ in 0..trial.random.random_range(1..20) {
                trial.write(&sums, 30).await;
            }
            let mut older = Vec::new();
            for block in 0..4 * CHUNKS {
                older.push(trial.block(block).await);
            }
            for _ in 0..trial.random.random_range(1..20) {
                let count = COUNTS[trial.random.random_range(0..3)];
                trial.write(&sums, count).await;
            }
            for (block, older) in (0..).zip(older) {
                let newest = trial.block(block).await;
                trial.put_back(block, older).await;
                match trial.recovered(sums.round(), false).await {
                    Ok(found) => {
                        assert_eq!(trial.differences(&found), (vec![], 0), "seed {seed}, block {block}");
                        made_up_for += 1;
                    }
                    Err(error) => {
                        assert!(matches!(error, PageError::SumsLost { .. }), "{error}");
                        lost += 1;
                        let found = trial.recovered(sums.round(), true).await.unwrap();
                        let (wrong, missing) = trial.differences(&found);
                        assert!(wrong.is_empty() && missing > 0, "seed {seed}, block {block}: {wrong:?}");
                        assert!(found.have_gaps());
                    }
                }
                trial.put_back(block, newest).await;
            }
        });
    }
    assert!(lost > 10 && made_up_for > 100, "{lost} lost, {made_up_for} made up for");
}

#[test]
fn what_is_lost_is_missed_once() {
    run(7, async |mut trial| {
        let sums = trial.recovered(0, false).await.unwrap();
        for _ in 0..10 {
            trial.write(&sums, 100).await;
        }
        let log_block = sums.area.log_block(sums.round());
        trial.put_back(log_block, trial.block(log_block + 1).await).await;
        assert!(trial.recovered(sums.round(), false).await.is_err());
        let forgetting = trial.recovered(sums.round(), true).await.unwrap();
        forgetting.write_table(&trial.disk).await.unwrap();
        let again = trial.recovered(forgetting.round(), false).await.unwrap();
        assert_eq!(trial.differences(&again).0, vec![]);
        trial.write(&again, 50).await;
        let again = trial.recovered(again.round(), false).await.unwrap();
        assert_eq!(trial.differences(&again).0, vec![]);
    });
}
