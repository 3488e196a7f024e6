//! Each fault has an effect where it is planned, and nowhere else.

use nandle_io::{Arena, Cause, Durability, Operation};
use nandle_model::media::{Contents, Fault, FaultPlan, Media, When, faults::Lasts};
use proptest::prelude::*;

use crate::common::{BLOCK_BYTES, Held, Rig, held};

const EIO: Cause = Cause::System(5);
const ENOSPC: Cause = Cause::System(28);
const BLOCKS: u64 = 16;

fn rig(plan: FaultPlan) -> Rig {
    let mut rig = Rig::of_blocks(BLOCKS);
    rig.media = rig.media.with_faults(plan);
    rig
}

/// One fault at one operation.
fn once(fault: Fault, operation: u64) -> Rig {
    rig(FaultPlan::seeded(9).and(fault, When::Operation(operation)))
}

fn numbers(contents: &Contents) -> Vec<Held> {
    (0..BLOCKS).map(|block| held(contents, block)).collect()
}

fn flipped_bits(bytes: &[u8], number: u64) -> u32 {
    let expected = number.to_le_bytes().into_iter().cycle();
    bytes.iter().zip(expected).map(|(got, expected)| (got ^ expected).count_ones()).sum()
}

#[test]
fn a_failed_read_is_over_or_sticks_until_the_block_is_written() {
    for (lasts, second) in [(Lasts::Once, Ok(Held::Number(1))), (Lasts::Sticky, Err(EIO))] {
        let mut rig = once(Fault::FailedRead(lasts), 1);
        rig.put(3, 1).unwrap();
        assert_eq!(rig.get(3), Err(EIO));
        assert_eq!(rig.get(3), second);
        assert_eq!(rig.get(4), Ok(Held::Number(0)));
        rig.put(3, 2).unwrap();
        assert_eq!(rig.get(3), Ok(Held::Number(2)));
    }
}

#[test]
fn a_failed_write_took_some_of_its_blocks() {
    for (lasts, second) in [(Lasts::Once, Ok(())), (Lasts::Sticky, Err(EIO))] {
        let mut rig = once(Fault::FailedWrite(lasts), 0);
        let operation = rig.write(0, &[1; 12], Durability::Volatile);
        assert_eq!(rig.run(operation).result, Err(EIO));
        let taken = (0..12).filter(|block| rig.held(*block) == Held::Number(1)).count();
        assert!((1..12).contains(&taken), "{taken} of 12");
        assert_eq!(rig.put(5, 2), second);
        assert_eq!(rig.put(14, 2), Ok(()), "another block");
    }
}

#[test]
fn a_failed_flush_is_over_or_sticks() {
    for (lasts, second) in [(Lasts::Once, Ok(())), (Lasts::Sticky, Err(EIO))] {
        let mut rig = once(Fault::FailedFlush(lasts), 1);
        assert_eq!(rig.flush(), Ok(()));
        assert_eq!(rig.flush(), Err(EIO));
        assert_eq!(rig.flush(), second);
        assert_eq!(rig.put(0, 1), Ok(()));
    }
}

#[test]
fn damage_by_a_write_stays_and_by_a_read_does_not() {
    let mut stored = once(Fault::DamagedWrite, 0);
    stored.put(3, 7).unwrap();
    let Ok(Held::Other(bytes)) = stored.get(3) else { panic!("not damaged") };
    assert_eq!(flipped_bits(&bytes, 7), 1);
    assert_eq!(stored.get(3), Ok(Held::Other(bytes)));

    let mut returned = once(Fault::DamagedRead, 1);
    returned.put(3, 7).unwrap();
    let Ok(Held::Other(bytes)) = returned.get(3) else { panic!("not damaged") };
    assert_eq!(flipped_bits(&bytes, 7), 1);
    assert_eq!(returned.get(3), Ok(Held::Number(7)));
}

#[test]
fn a_misdirected_write_lands_elsewhere_whole() {
    for operation in 0..50 {
        let plan = FaultPlan::seeded(operation).and(Fault::MisdirectedWrite, When::Operation(0));
        let mut rig = rig(plan);
        let operation = rig.write(5, &[1, 2, 3], Durability::Volatile);
        rig.run(operation).result.unwrap();
        let found = numbers(rig.media.contents());
        let landed = found.iter().position(|held| *held == Held::Number(1)).unwrap();
        assert_ne!(landed, 5);
        assert_eq!(found[landed..landed + 3], [1, 2, 3].map(Held::Number));
        assert_eq!(found.iter().filter(|held| **held == Held::Number(0)).count(), 13);
    }
}

#[test]
fn a_lost_write_leaves_what_was() {
    let mut rig = once(Fault::LostWrite, 1);
    rig.put(3, 1).unwrap();
    rig.put(3, 2).unwrap();
    assert_eq!(rig.get(3), Ok(Held::Number(1)));
    rig.put(3, 3).unwrap();
    assert_eq!(rig.get(3), Ok(Held::Number(3)));
}

#[test]
fn a_stale_read_goes_one_write_back() {
    let mut rig = once(Fault::StaleRead, 3);
    for number in 1..=3 {
        rig.put(3, number).unwrap();
    }
    assert_eq!(rig.get(3), Ok(Held::Number(2)));
    assert_eq!(rig.get(3), Ok(Held::Number(3)));
}

#[test]
fn no_space_changes_nothing() {
    let mut planned = once(Fault::NoSpace, 0);
    assert_eq!(planned.put(0, 1), Err(ENOSPC));
    assert_eq!(planned.held(0), Held::Number(0));
    assert_eq!(planned.put(0, 1), Ok(()));
}

#[test]
fn a_thin_device_fills_up_and_takes_rewrites_still() {
    let mut thin = Rig::of_blocks(BLOCKS);
    thin.media = thin.media.with_space(2).with_discards(nandle_model::media::AfterDiscard::Zeros);
    let in_flight = thin.write(0, &[1], Durability::Volatile);
    let first = thin.begin(&in_flight);
    assert_eq!(thin.put(1, 1), Ok(()));
    assert_eq!(thin.put(2, 1), Err(ENOSPC), "the one in flight counts");
    drop(first);
    assert_eq!(thin.put(1, 2), Ok(()), "no new block");
    assert_eq!(thin.discard(1, 1), Ok(()));
    assert_eq!(thin.put(2, 1), Ok(()));
}

#[test]
fn a_spike_of_latency_is_told_and_changes_nothing() {
    let mut rig = once(Fault::LatencySpike { extra_ns: 5_000 }, 1);
    let spikes = [0; 3].map(|_| rig.run(Operation::Flush).extra_latency_ns);
    assert_eq!(spikes, [0, 5_000, 0]);
}

#[test]
fn blocks_of_one_write_have_fates_of_their_own() {
    let mut rig = rig(FaultPlan::seeded(1).and(Fault::LostWrite, When::PerMillion(500_000)));
    let operation = rig.write(0, &[1; 16], Durability::Volatile);
    rig.run(operation).result.unwrap();
    let lost = numbers(rig.media.contents()).into_iter().filter(|held| *held == Held::Number(0)).count();
    assert!((2..15).contains(&lost), "{lost} of 16");
}

#[test]
fn devices_of_one_plan_fail_apart() {
    let plan = FaultPlan::seeded(1).and(Fault::LostWrite, When::PerMillion(500_000));
    let found = [0, 1, 1].map(|index| {
        let mut rig = rig(plan.for_device(index));
        let operation = rig.write(0, &[1; 16], Durability::Volatile);
        rig.run(operation).result.unwrap();
        numbers(rig.media.contents())
    });
    assert!(found[0] != found[1] && found[1] == found[2]);
}

#[test]
fn faults_keep_to_their_blocks() {
    let plan = FaultPlan::none().and_on(4..6, Fault::LostWrite, When::PerMillion(1_000_000));
    let mut rig = rig(plan);
    let operation = rig.write(0, &[1; 16], Durability::Volatile);
    rig.run(operation).result.unwrap();
    for block in 0..BLOCKS {
        assert_eq!(rig.held(block), Held::Number(u64::from(!(4..6).contains(&block))));
    }
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let mut media = Media::new(16 * BLOCK_BYTES as u64, 64);
    let arena = Arena::new(1 << 20).unwrap();
    let beyond = Operation::read(15 * 64, arena.allocate(128).unwrap());
    assert_eq!(media.begin(&beyond), Err(Cause::BeyondEnd { end_bytes: 1088, capacity_bytes: 1024 }));
    let odd = Operation::read(32, arena.allocate(64).unwrap());
    assert_eq!(media.begin(&odd), Err(Cause::Misaligned { what: "offset", got: 32, needed: 64 }));
    let mut other = Media::new(64, 64);
    let id = other.begin(&Operation::Flush).unwrap();
    assert!(matches!(media.complete(id, &mut Operation::Flush).result, Err(Cause::Unsupported { .. })));
    assert_eq!(media.operations(), 0);
}

proptest! {
    /// A fault at one operation leaves the results of all others unchanged.
    #[test]
    fn a_decision_depends_on_nothing_before_it(
        blocks in prop::collection::vec(0..BLOCKS, 1..40),
        seed in any::<u64>(),
        skipped in 0_usize..40,
    ) {
        let plan = FaultPlan::seeded(seed).and(Fault::DamagedWrite, When::PerMillion(300_000));
        let run = |changed: bool| {
            let mut rig = rig(plan.clone());
            for (number, block) in blocks.iter().enumerate() {
                // The number of operations is unchanged, but one of them is a flush.
                if changed && number == skipped { rig.flush().unwrap() } else { rig.put(*block, 7).unwrap() }
            }
            numbers(rig.media.contents())
        };
        let (whole, changed) = (run(false), run(true));
        for block in (0..BLOCKS).filter(|block| blocks.get(skipped) != Some(block)) {
            prop_assert_eq!(&whole[usize::try_from(block).unwrap()], &changed[usize::try_from(block).unwrap()]);
        }
    }
}
