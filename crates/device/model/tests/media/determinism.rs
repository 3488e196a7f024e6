//! Determinism across processes: equal operations and seeds give equal bytes.

use std::process::Command;

use nandle_io::Durability;
use nandle_model::media::{
    AfterDiscard, CrashImages, Fault, FaultPlan, Media, PowerCut, Tearing, When, faults::Lasts,
};

use crate::common::{BLOCK_BYTES, Rig};

const CHILD: &str = "NANDLE_TEST_MEDIA_SEED";

/// Hash of a run with all kinds of faults and of all its images.
fn hash_of_all(seed: u64) -> u128 {
    let plan = FaultPlan::seeded(seed)
        .and(Fault::DamagedWrite, When::PerMillion(50_000))
        .and(Fault::LostWrite, When::PerMillion(50_000))
        .and(Fault::MisdirectedWrite, When::PerMillion(50_000))
        .and(Fault::FailedWrite(Lasts::Once), When::PerMillion(50_000))
        .and(Fault::FailedFlush(Lasts::Once), When::PerMillion(200_000));
    let media = Media::new(100 * BLOCK_BYTES as u64, 64).with_faults(plan).recorded();
    let mut rig = Rig::new(media.with_discards(AfterDiscard::Garbage));
    for number in 1..300_u64 {
        let operation = rig.write(number * 37 % 90, &[number, number + 1, number + 2], Durability::Volatile);
        rig.run(operation);
        if number % 7 == 0 {
            let _ = rig.flush();
            let _ = rig.discard(number % 50, 4);
        }
    }
    let power = PowerCut { seed, choices: 6, tearing: Tearing::InsideBlocks };
    let images = CrashImages::new(&[rig.media.recording().unwrap()], power);
    images.fold(rig.media.contents_hash(), |all, image| all.rotate_left(1) ^ image.hash())
}

#[test]
fn seeds_make_runs() {
    assert_eq!(hash_of_all(1), hash_of_all(1));
    assert_ne!(hash_of_all(1), hash_of_all(2));
}

/// Threads can share the images of one recording.
#[test]
fn images_are_made_in_several_threads() {
    let mut rig = Rig::of_blocks(8);
    rig.media = rig.media.recorded();
    for number in 1..50 {
        rig.put(number % 8, number).unwrap();
    }
    let recording = rig.media.recording().unwrap();
    let hashes = |cuts| -> Vec<u128> {
        CrashImages::new(&[recording], PowerCut::seeded(1)).within(cuts).map(|image| image.hash()).collect()
    };
    let halves = std::thread::scope(|scope| {
        [0..40, 40..u64::MAX].map(|cuts| scope.spawn(|| hashes(cuts))).map(|half| half.join().unwrap())
    });
    assert_eq!(halves.concat(), hashes(0..u64::MAX));
}

#[test]
fn two_processes_agree() {
    if let Ok(seed) = std::env::var(CHILD) {
        println!("hash={:032x}", hash_of_all(seed.parse().unwrap()));
        return;
    }
    let mine = hash_of_all(7);
    for _ in 0..2 {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "determinism::two_processes_agree", "--nocapture"])
            .env(CHILD, "7")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&format!("hash={mine:032x}")), "{text}");
    }
}
