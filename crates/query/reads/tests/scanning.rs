//! Scans hand out the contents of the files for any wants and strategy, within the stated memory.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::collections::VecDeque;
use std::sync::Arc;

use common::{Case, Faulty, byte_of, bytes_of, world};
use nandle_io::{DeviceId, Io, Nanos};
use nandle_reads::{FileId, Plan, PlanFile, PlanOptions, ReadsError, Scan, Step, Strategy, Want};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn cases() -> std::ops::Range<u64> {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let first = number("NANDLE_FIRST_SEED", 0);
    first..first + number("NANDLE_CASES", 400)
}

/// Plans a case; `None` if a step doesn't fit, which is verified.
fn plan(case: &Case) -> Option<Arc<Plan>> {
    let planned = |options| Plan::new(case.wants.clone(), &case.plan_files(), &case.costs, options);
    match planned(case.options) {
        Ok(plan) => Some(Arc::new(plan)),
        Err(ReadsError::Memory { memory_bytes, had_bytes, needed_bytes, .. }) => {
            assert!(needed_bytes > had_bytes && memory_bytes > case.options.memory_bytes);
            // The reported memory suffices for that step.
            let with_more = planned(PlanOptions { memory_bytes, ..case.options });
            if let Err(ReadsError::Memory { needed_bytes: more_bytes, .. }) = with_more {
                assert!(more_bytes > needed_bytes, "another step needs still more");
            }
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn check_plan(case: &Case, plan: &Plan) {
    let mut steps = 0;
    for window in plan.windows() {
        assert_eq!(window.steps.start, steps);
        assert!(2 * window.memory_bytes <= case.options.memory_bytes, "{window:?}");
        steps = window.steps.end;
    }
    assert_eq!(steps, plan.steps());
    let largest = case.options.request_bytes_max.unwrap_or(u64::MAX).min(case.costs.largest_request_bytes);
    for read in plan.reads() {
        let file = &case.files[read.file.0 as usize].plan;
        assert!(read.length_bytes > 0 && read.length_bytes <= largest.max(4096), "{read:?}");
        assert!(read.offset_bytes % file.align_bytes == 0 && read.length_bytes % 512 == 0, "{read:?}");
        assert!(read.offset_bytes + read.length_bytes <= file.readable_bytes, "{read:?}");
    }
}

fn check_step(step: &Step, case: &Case) {
    let mut wants = case.wants.iter().filter(|want| want.step == step.number());
    for (want, bytes) in step.parts() {
        assert_eq!(Some(want), wants.next());
        assert_eq!(bytes[..], bytes_of(want)[..], "{want:?}");
    }
    assert_eq!(wants.next(), None);
}

#[test]
fn every_want_gets_its_bytes() {
    for seed in cases() {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        check_plan(&case, &plan);
        let mut world = world(&case);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut scan = Scan::new(&mut world, Arc::clone(&case.files), Arc::clone(&plan)).unwrap();
        let mut held = VecDeque::new();
        let mut steps = 0;
        loop {
            let step = match scan.next_step() {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(ReadsError::Held { .. }) if !held.is_empty() => {
                    held.clear();
                    continue;
                }
                Err(error) => panic!("seed {seed}: {error}"),
            };
            assert_eq!(step.number(), steps, "seed {seed}");
            steps += 1;
            check_step(&step, &case);
            held.push_back(step);
            if random.random_bool(0.7) {
                held.pop_front();
            }
            if random.random_bool(0.1) {
                scan.go_on();
            }
            if random.random_bool(0.2) {
                urgent(&mut scan, &case, &mut random);
            }
        }
        for step in held {
            check_step(&step, &case);
        }
        assert_eq!(steps, plan.steps(), "seed {seed}");
        let counts = scan.counts();
        let unsent = plan.reads().len() - usize::try_from(counts.requests).unwrap();
        let unwanted = (1..=plan.reads().len() as u64).filter(|nth| !is_wanted(&case, &plan, *nth)).count();
        assert!(unsent <= unwanted, "seed {seed}: {unsent} of {unwanted}");
        assert!(counts.read_bytes <= plan.read_bytes(), "seed {seed}");
        assert_eq!(counts.wanted_bytes, plan.wanted_bytes(), "seed {seed}");
    }
}

fn urgent(scan: &mut Scan<'_>, case: &Case, random: &mut Xoshiro256PlusPlus) {
    let number = random.random_range(0..case.files.len());
    let file = FileId(u32::try_from(number).unwrap());
    let length_bytes = case.files[number].plan.length_bytes;
    let offset_bytes = random.random_range(0..length_bytes);
    let wanted_bytes = random.random_range(0..=length_bytes - offset_bytes);
    let bytes = scan.read_urgently(file, offset_bytes, wanted_bytes).unwrap();
    let expected: Vec<u8> =
        (offset_bytes..offset_bytes + wanted_bytes).map(|at| byte_of(file.0, at)).collect();
    assert!(bytes == expected, "{wanted_bytes} bytes of file {number} at {offset_bytes}");
}

fn all_steps(scan: &mut Scan<'_>, case: &Case) -> Result<(), ReadsError> {
    while let Some(step) = scan.next_step()? {
        check_step(&step, case);
    }
    Ok(())
}

/// Returns true if a want of its window needs the `nth` read. Reads for bridged gaps may still be
/// in flight at the last step.
fn is_wanted(case: &Case, plan: &Plan, nth: u64) -> bool {
    let index = usize::try_from(nth).unwrap() - 1;
    let read = plan.reads()[index];
    let window = plan.windows().iter().find(|window| window.reads.contains(&index)).unwrap();
    let end_bytes = read.offset_bytes + read.length_bytes;
    let touches = |want: &Want| want.offset_bytes < end_bytes && want.end_bytes() > read.offset_bytes;
    case.wants.iter().any(|want| window.steps.contains(&want.step) && want.file == read.file && touches(want))
}

#[test]
fn a_failing_read_is_an_error_and_no_wrong_byte() {
    for seed in 0..40 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        for nth in 1..=plan.reads().len() as u64 {
            let mut world = Faulty::new(world(&case), nth, false);
            let mut scan = Scan::new(&mut world, Arc::clone(&case.files), Arc::clone(&plan)).unwrap();
            let Err(error) = all_steps(&mut scan, &case) else {
                assert!(!is_wanted(&case, &plan, nth), "seed {seed}: read {nth} failed");
                continue;
            };
            assert!(matches!(error, ReadsError::Io { .. }), "{error}");
            assert_eq!(scan.next_step().unwrap_err(), error);
            drop(scan);
            assert_eq!(world.in_flight(), 0);
        }
    }
}

#[test]
fn damaged_bytes_of_a_file_with_sums_are_found() {
    let mut found = 0;
    for seed in 0..60 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        if case.files.iter().any(|file| file.check.is_none()) {
            continue;
        }
        for nth in 1..=plan.reads().len() as u64 {
            let mut world = Faulty::new(world(&case), nth, true);
            let mut scan = Scan::new(&mut world, Arc::clone(&case.files), Arc::clone(&plan)).unwrap();
            let Err(error) = all_steps(&mut scan, &case) else {
                assert!(!is_wanted(&case, &plan, nth), "seed {seed}: read {nth} was damaged");
                continue;
            };
            assert!(matches!(error, ReadsError::Damaged { .. }), "{error}");
            found += 1;
        }
    }
    assert!(found > 100, "{found} reads were damaged");
}

#[test]
fn a_scan_that_is_dropped_sends_no_more() {
    for seed in 0..50 {
        let case = Case::random(seed);
        let Some(plan) = plan(&case) else { continue };
        let mut world = Faulty::new(world(&case), u64::MAX, false);
        let reads = std::rc::Rc::clone(&world.reads);
        let mut scan = Scan::new(&mut world, Arc::clone(&case.files), Arc::clone(&plan)).unwrap();
        let _ = scan.next_step().unwrap();
        let sent = reads.get();
        drop(scan);
        assert_eq!((reads.get(), world.in_flight()), (sent, 0));
    }
}

#[test]
fn wants_that_cannot_be_are_refused() {
    let case = Case::random(1);
    let files = case.plan_files();
    let plan = |want| Plan::new(vec![want], &files, &case.costs, PlanOptions::new(1 << 20));
    let want = Want { file: FileId(0), offset_bytes: 0, length_bytes: 1, step: 3 };
    assert!(plan(want).is_ok());
    assert!(matches!(plan(Want { file: FileId(9), ..want }), Err(ReadsError::UnknownFile { .. })));
    assert!(matches!(plan(Want { length_bytes: 1 << 40, ..want }), Err(ReadsError::BeyondEnd { .. })));
    assert!(matches!(plan(Want { length_bytes: 0, ..want }), Err(ReadsError::BeyondEnd { .. })));
    let far = Want { offset_bytes: u64::MAX, length_bytes: u64::MAX, ..want };
    assert!(matches!(plan(far), Err(ReadsError::BeyondEnd { .. })));
}

#[test]
fn the_queue_is_as_deep_as_asked() {
    let costs = common::costs(100e-6, 1e9, 32, 131_072);
    let files = [nandle_reads::PlanFile::new(1 << 20, 4096)];
    let wants = (0..128).map(|step| Want {
        file: FileId(0),
        offset_bytes: u64::from(step * 37 % 256) * 4096,
        length_bytes: 4096,
        step,
    });
    let wants: Vec<_> = wants.collect();
    for depth in [1, 2, 7, 32] {
        let options = PlanOptions { strategy: Strategy::OneByOne { depth }, ..PlanOptions::new(4 << 20) };
        let plan = Arc::new(Plan::new(wants.clone(), &files, &costs, options).unwrap());
        let file = nandle_reads::ReadFile {
            device: DeviceId::from_index(0),
            start_bytes: 0,
            plan: files[0].clone(),
            tail: bytes::Bytes::new(),
            check: None,
        };
        let mut world = nandle_io::conformance::MemoryWorld::new(64, Nanos::from_micros(50));
        world.add(1 << 20, 512);
        let mut scan = Scan::new(&mut world, Arc::new([file]), plan).unwrap();
        while scan.next_step().unwrap().is_some() {}
        drop(scan);
        // Each takes 50 us and 512 ns, `depth` at once.
        let elapsed = world.now().0;
        let rounds = 128_u64.div_ceil(u64::from(depth));
        assert_eq!(elapsed, rounds * (50_000 + 512), "depth {depth}");
    }
}

/// Parquet pages aren't aligned: each shares its last logical block with the next one.
#[test]
fn blocks_that_share_logical_blocks_are_read_one_by_one_and_once() {
    let (wants, page_bytes) = (100, 10_000);
    let file = PlanFile::new(wants * page_bytes, 4096);
    let want = |number: u64| Want {
        file: FileId(0),
        offset_bytes: number * page_bytes,
        length_bytes: page_bytes,
        step: 0,
    };
    let options =
        PlanOptions { strategy: Strategy::FixedBlock { block_bytes: None }, ..PlanOptions::new(4 << 20) };
    let costs = common::costs(1e-4, 1e8, 32, 128 << 10);
    let plan =
        Plan::new((0..wants).map(want).collect(), std::slice::from_ref(&file), &costs, options).unwrap();
    // A page touches three or four blocks, and shares the outer ones.
    assert!(plan.reads().iter().all(|read| read.length_bytes <= 16_384), "{:?}", plan.reads());
    assert!((60..=100).contains(&plan.reads().len()), "{}", plan.reads().len());
    assert_eq!(plan.read_bytes(), file.readable_bytes);
}

#[test]
fn what_reaches_behind_the_last_block_stays_within_the_memory() {
    let (length_bytes, apart_bytes) = (90_100, 1 << 20);
    let file = |number: u32| {
        let plan = PlanFile::new(length_bytes, 4096);
        let tail = (plan.readable_bytes..length_bytes).map(|at| byte_of(number, at)).collect::<Vec<_>>();
        nandle_reads::ReadFile {
            device: DeviceId::from_index(0),
            start_bytes: u64::from(number) * apart_bytes,
            plan,
            tail: tail.into(),
            check: None,
        }
    };
    let files: Arc<[_]> = (0..3).map(file).collect();
    let wants = (0..3).map(|step| Want { file: FileId(step), offset_bytes: 0, length_bytes, step });
    let plan_files: Vec<_> = files.iter().map(|file| file.plan.clone()).collect();
    let costs = common::costs(1e-4, 1e8, 4, 32 << 10);
    // A step per window.
    let plan = Plan::new(wants.collect(), &plan_files, &costs, PlanOptions::new(300_000)).unwrap();
    assert_eq!(plan.windows().len(), 3);
    let mut world = nandle_io::conformance::MemoryWorld::new(64, Nanos::from_micros(50));
    world.add(3 * apart_bytes, 512);
    let mut scan = Scan::new(&mut world, files, Arc::new(plan)).unwrap();
    let held = [scan.next_step().unwrap().unwrap(), scan.next_step().unwrap().unwrap()];
    assert!(matches!(scan.next_step(), Err(ReadsError::Held { step: 2 })), "copies are memory beside it");
    for step in held {
        let (want, bytes) = step.parts().next().unwrap();
        let readable = usize::try_from(plan_files[0].readable_bytes).unwrap();
        assert_eq!(bytes.len() as u64, length_bytes);
        assert_eq!(bytes[readable..], bytes_of(want)[readable..]);
    }
    assert!(scan.next_step().unwrap().is_some());
}

/// Short sequences with wasteful read-ahead are sent in reverse; a whole file isn't.
#[test]
fn where_reading_ahead_is_wasted_no_request_follows_another() {
    let mut costs = common::costs(100e-6, 1e9, 8, 64 << 10);
    costs.sequences = vec![common::wasteful_sequences()];
    let sequences = |apart_bytes: u64| -> Vec<Want> {
        let place = |sequence: u64, page: u64| sequence * apart_bytes + page * 4096;
        let places = (0..8).flat_map(|sequence| (0..64).map(move |page| place(sequence, page)));
        let want = |(offset_bytes, step)| Want { file: FileId(0), offset_bytes, length_bytes: 4096, step };
        places.zip(0_u32..).map(want).collect()
    };
    let file = PlanFile::new(1 << 30, 4096);
    let continued = |wants: Vec<Want>| {
        let plan = Plan::new(wants, std::slice::from_ref(&file), &costs, PlanOptions::new(64 << 20)).unwrap();
        assert_eq!(plan.reads().len(), 32);
        plan.reads().iter().filter(|read| read.is_continued).count()
    };
    assert_eq!(continued(sequences(64 << 20)), 0, "eight sequences of 256 KiB");
    assert_eq!(continued(sequences(256 << 10)), 31, "2 MiB in one piece");
}
