//! For any history, cut and choice: durable blocks are intact, and volatile ones hold allowed
//! versions.

use std::collections::BTreeSet;

use nandle_io::{Durability, Operation};
use nandle_model::media::{
    CrashImage, CrashImages, Fault, FaultPlan, Media, OperationId, PowerCut, Tearing, When, faults::Lasts,
};
use proptest::prelude::*;

use crate::common::{BLOCK_BYTES, Held, Rig, held};
use crate::oracle::{Step, What, allowed};

const BLOCKS: u64 = 24;

/// Step of a random history.
#[derive(Debug, Clone)]
enum Move {
    Write {
        first: u64,
        blocks: u64,
        durability: Durability,
    },
    Flush,
    /// Completes one of the operations in flight.
    Complete(prop::sample::Index),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let durability = prop_oneof![4 => Just(Durability::Volatile), 1 => Just(Durability::Durable)];
    let write = (0..BLOCKS, 1_u64..6, durability).prop_map(|(first, blocks, durability)| Move::Write {
        first,
        blocks: blocks.min(BLOCKS - first),
        durability,
    });
    let complete = any::<prop::sample::Index>().prop_map(Move::Complete);
    prop::collection::vec(prop_oneof![4 => write, 1 => Just(Move::Flush), 5 => complete], 1..40)
}

/// Runs a history and records its events.
struct History {
    rig: Rig,
    steps: Vec<Step>,
    in_flight: Vec<(OperationId, Operation, usize)>,
    begun: usize,
}

impl History {
    fn of(moves: &[Move], plan: FaultPlan) -> Self {
        let media = Media::new(BLOCKS * BLOCK_BYTES as u64, 64).with_faults(plan).recorded();
        let mut history = Self { rig: Rig::new(media), steps: Vec::new(), in_flight: Vec::new(), begun: 0 };
        for next in moves {
            history.make(next);
        }
        history
    }

    fn make(&mut self, next: &Move) {
        let number = self.begun;
        match next {
            Move::Write { first, blocks, durability } => {
                let numbers: Vec<u64> = (1..=*blocks).map(|block| number as u64 * 100 + block).collect();
                let operation = self.rig.write(*first, &numbers, *durability);
                let what = What::Begun { write: number, first: *first, numbers, durability: *durability };
                self.begin(operation, what);
            }
            Move::Flush => self.begin(Operation::Flush, What::FlushBegun { flush: number }),
            Move::Complete(_) if self.in_flight.is_empty() => {}
            Move::Complete(index) => self.complete(index.index(self.in_flight.len())),
        }
    }

    fn begin(&mut self, operation: Operation, what: What) {
        let id = self.rig.begin(&operation);
        self.in_flight.push((id, operation, self.begun));
        self.begun += 1;
        self.push(what);
    }

    fn complete(&mut self, index: usize) {
        let (id, mut operation, number) = self.in_flight.remove(index);
        let succeeded = self.rig.media.complete(id, &mut operation).result.is_ok();
        self.push(match operation {
            Operation::Flush => What::FlushCompleted { flush: number, succeeded },
            _ => What::Completed { write: number },
        });
    }

    fn push(&mut self, what: What) {
        self.steps.push(Step { position: self.rig.media.position(), what });
    }

    fn check(&self, image: &CrashImage, tearing: Tearing) {
        for block in 0..BLOCKS {
            let (durable, volatile) = allowed(&self.steps, image.cut, block);
            let found = held(&image.contents[0], block);
            let whole = std::iter::once(durable).chain(volatile.iter().copied());
            if whole.into_iter().any(|number| found == Held::Number(number)) {
                continue;
            }
            assert!(
                tearing == Tearing::InsideBlocks && !volatile.is_empty(),
                "cut {} choice {}: block {block} holds {found:?}, and may hold {durable} or {volatile:?}",
                image.cut,
                image.choice
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn only_what_may_survive_does(
        moves in moves(),
        failing in prop_oneof![Just(0_u32), Just(300_000)],
        seed in any::<u64>(),
        inside in any::<bool>(),
    ) {
        let failed = Fault::FailedFlush(Lasts::Once);
        let plan = FaultPlan::seeded(seed).and(failed, When::PerMillion(failing));
        let history = History::of(&moves, plan);
        let tearing = if inside { Tearing::InsideBlocks } else { Tearing::BetweenBlocks };
        let power = PowerCut { seed, choices: 12, tearing };
        let recording = history.rig.media.recording().unwrap();
        let mut images = 0;
        for image in CrashImages::new(&[recording], power) {
            history.check(&image, tearing);
            if images % 17 == 0 {
                let again = CrashImage::at(&[recording], power, image.cut, image.choice);
                prop_assert_eq!(again.hash(), image.hash());
            }
            images += 1;
        }
        prop_assert!((1 + recording.events()..=12 * (1 + recording.events())).contains(&images));
    }

    /// If all ways to survive are enumerated, each block takes each of its allowed versions.
    #[test]
    fn all_that_may_survive_does_in_some_image(
        moves in moves(),
        failing in prop_oneof![Just(0_u32), Just(300_000)],
        seed in any::<u64>(),
    ) {
        let failed = Fault::FailedFlush(Lasts::Once);
        let plan = FaultPlan::seeded(seed).and(failed, When::PerMillion(failing));
        let history = History::of(&moves, plan);
        let recordings = [history.rig.media.recording().unwrap()];
        let power = PowerCut { choices: 500, ..PowerCut::seeded(seed) };
        for cut in 0..=history.rig.media.position() {
            let images: Vec<_> = CrashImages::new(&recordings, power).within(cut..cut + 1).collect();
            for block in (0..BLOCKS).filter(|_| images.len() < 500) {
                let (durable, volatile) = allowed(&history.steps, cut, block);
                let may: BTreeSet<Held> =
                    volatile.into_iter().chain([durable]).map(Held::Number).collect();
                let found: BTreeSet<Held> =
                    images.iter().map(|image| held(&image.contents[0], block)).collect();
                prop_assert_eq!(found, may, "cut {} block {}", cut, block);
            }
        }
    }

    #[test]
    fn parts_of_all_cuts_make_all_cuts(moves in moves(), at in 0_u64..100) {
        let history = History::of(&moves, FaultPlan::none());
        let recordings = [history.rig.media.recording().unwrap()];
        let power = PowerCut { choices: 3, ..PowerCut::seeded(1) };
        let hashes = |images: &mut dyn Iterator<Item = CrashImage>| -> Vec<_> {
            images.map(|image| (image.cut, image.choice, image.hash())).collect()
        };
        let whole = hashes(&mut CrashImages::new(&recordings, power));
        let mut parts = hashes(&mut CrashImages::new(&recordings, power).within(0..at));
        parts.extend(hashes(&mut CrashImages::new(&recordings, power).within(at..u64::MAX)));
        parts.dedup();
        prop_assert!(whole.iter().all(|image| parts.contains(image)));
    }
}

/// Four blocks with two versions each: every mixture of old, first and second occurs, and no other.
/// If the number of choices is that of the mixtures, each occurs once.
#[test]
fn every_mixture_of_survivors_is_found() {
    let mut rig = Rig::of_blocks(4);
    rig.media = rig.media.recorded();
    for number in [10, 20] {
        let numbers: Vec<u64> = (0..4).map(|block| number + block).collect();
        let operation = rig.write(0, &numbers, Durability::Volatile);
        rig.run(operation);
    }
    let end = rig.media.position();
    let mixtures = |choices, seed| -> Vec<Vec<Held>> {
        let power = PowerCut { choices, ..PowerCut::seeded(seed) };
        let images = CrashImages::new(&[rig.media.recording().unwrap()], power).within(end..end + 1);
        images.map(|image| (0..4).map(|block| held(&image.contents[0], block)).collect()).collect()
    };
    let all = mixtures(81, 1);
    assert_eq!((all.len(), all.into_iter().collect::<BTreeSet<_>>().len()), (81, 81));
    let drawn: BTreeSet<_> = (0..200).flat_map(|seed| mixtures(80, seed)).collect();
    assert_eq!(drawn.len(), 81);
}

/// A torn block has a new beginning and an old end, or is garbage.
#[test]
fn torn_blocks_are_as_the_model_says() {
    let mut rig = Rig::of_blocks(1);
    rig.put(0, 1).unwrap();
    rig.media = rig.media.recorded();
    rig.put(0, u64::MAX).unwrap();
    let power = PowerCut { choices: 5_000, tearing: Tearing::InsideBlocks, seed: 4 };
    let (mut halves, mut garbage) = (BTreeSet::new(), 0);
    for image in CrashImages::new(&[rig.media.recording().unwrap()], power) {
        let Held::Other(bytes) = held(&image.contents[0], 0) else { continue };
        let new = bytes.iter().take_while(|byte| **byte == 0xFF).count();
        let old = 1_u64.to_le_bytes();
        let ends_old = bytes.iter().enumerate().skip(new).all(|(at, byte)| *byte == old[at % 8]);
        if ends_old {
            halves.insert(new);
        } else {
            garbage += 1;
        }
    }
    assert!(halves.len() > 40 && garbage > 50, "torn at {} places, garbage {garbage} times", halves.len());
}
