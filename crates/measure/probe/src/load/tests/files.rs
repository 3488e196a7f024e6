use std::os::unix::fs::FileExt;
use std::sync::Arc;

use nandle_io::{Device, DeviceFile, FileOptions, Io, Threads};

use super::*;
use crate::Unobserved;
use crate::fill::{BUFFER_BYTES, FillOptions, fill};

const FILE_BYTES: u64 = 16 << 20;

/// Sparse file of `FILE_BYTES`.
fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).unwrap();
    file.as_file().set_len(FILE_BYTES).unwrap();
    file
}

fn world(file: &tempfile::NamedTempFile, slots: u32) -> (Box<dyn Io>, Device) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
    let device_file = DeviceFile::new(file, FileOptions::default()).unwrap();
    let mut world = Threads::new(slots);
    let device = world.add(Arc::new(device_file));
    (Box::new(world), device)
}

fn lane(file: &tempfile::NamedTempFile) -> Lane {
    let (world, device) = world(file, 32);
    let options =
        LaneOptions { buffer_bytes: 4 * BUFFER_BYTES, read_pool_bytes: 0, patience: Nanos::from_secs(30) };
    Lane::new(world, device, options).unwrap()
}

fn filled(contents: Contents) -> (tempfile::NamedTempFile, Lane) {
    let file = file();
    let mut lane = lane(&file);
    let options = FillOptions { bytes: FILE_BYTES, time_limit: None, contents };
    let filled = fill(&mut lane, options, &mut Unobserved, &Cancel::default()).unwrap();
    assert_eq!(filled.bytes, FILE_BYTES);
    (file, lane)
}

fn check(lane: &mut Lane, contents: Contents) -> Measurement {
    let area = Area::new(0, FILE_BYTES, BLOCK_BYTES).unwrap();
    let pattern = PatternSpec::Sequential.start(area, 1, 1);
    let work = Work {
        pattern,
        block_bytes: BLOCK_BYTES,
        operation: OperationKind::Read,
        contents: Some(contents),
        seed: 1,
    };
    whole(8, Stop::after_bytes(FILE_BYTES)).run(lane, work, &Cancel::default()).unwrap()
}

#[test]
fn a_filled_file_holds_the_contents_and_reads_recognise_them() {
    let contents = Contents::new(11);
    let (file, mut lane) = filled(contents);
    let mut expected = vec![0; usize::try_from(FILE_BYTES).unwrap()];
    contents.fill(0, &mut expected);
    assert!(std::fs::read(file.path()).unwrap() == expected);
    let measured = check(&mut lane, contents);
    assert_eq!((measured.requests, measured.damaged), (FILE_BYTES / BLOCK_BYTES, 0));
}

#[test]
fn a_damaged_block_is_found() {
    let contents = Contents::new(11);
    let (file, mut lane) = filled(contents);
    file.as_file().write_all_at(&[1], 5 * BLOCK_BYTES).unwrap();
    file.as_file().write_all_at(&[1; 4], 9 * BLOCK_BYTES - 4).unwrap();
    file.as_file().sync_all().unwrap();
    let measured = check(&mut lane, contents);
    assert_eq!((measured.requests, measured.damaged), (FILE_BYTES / BLOCK_BYTES - 2, 2));
    assert!(measured.first_error.unwrap().contains("contents"));
}

#[test]
fn writes_and_mixes_keep_to_their_share() {
    let contents = Contents::new(11);
    let (file, mut lane) = filled(contents);
    let area = Area::new(0, FILE_BYTES, BLOCK_BYTES).unwrap();
    let pattern = PatternSpec::Sequential.start(area, 1, 1);
    let operation = OperationKind::Mixed { read_percent: 70 };
    let work = Work { pattern, block_bytes: BLOCK_BYTES, operation, contents: None, seed: 1 };
    let measured = whole(8, Stop::after_bytes(FILE_BYTES)).run(&mut lane, work, &Cancel::default()).unwrap();
    assert_eq!((measured.bytes, measured.failed), (FILE_BYTES, 0));
    let mut expected = vec![0; usize::try_from(FILE_BYTES).unwrap()];
    contents.fill(0, &mut expected);
    let now = std::fs::read(file.path()).unwrap();
    let block = usize::try_from(BLOCK_BYTES).unwrap();
    let written = now.chunks(block).zip(expected.chunks(block)).filter(|(now, then)| now != then).count();
    let share = written as f64 / (FILE_BYTES / BLOCK_BYTES) as f64;
    assert!((share - 0.3).abs() < 0.03, "{share} of the blocks were written");
}

#[test]
fn several_threads_add_up_and_count_processor_time_once() {
    let contents = Contents::new(11);
    let (file, _) = filled(contents);
    let open = |slots| Ok(world(&file, slots));
    let options = LaneOptions { buffer_bytes: 1 << 20, read_pool_bytes: 0, patience: Nanos::from_secs(30) };
    let run = |number: u32, lane: &mut Lane| {
        let area = Area::new(0, FILE_BYTES, BLOCK_BYTES).unwrap();
        let work = Work {
            pattern: PatternSpec::Random.start(area, 1, number.into()),
            block_bytes: BLOCK_BYTES,
            operation: OperationKind::Read,
            contents: Some(contents),
            seed: number.into(),
        };
        whole(4, Stop::after_bytes(500 * BLOCK_BYTES)).run(lane, work, &Cancel::default())
    };
    let cpu_before = lane(&file).io().cpu_time();
    let sum = run_on_threads(&open, 3, 4, options, &run, &|_| ()).unwrap();
    let cpu_passed = lane(&file).io().cpu_time().since(cpu_before);
    assert_eq!((sum.requests, sum.cpu_requests, sum.damaged), (1500, 1500, 0));
    assert!(sum.cpu <= cpu_passed, "{} of {cpu_passed}", sum.cpu);
    assert_eq!(sum.latency_ns.len(), 1500);
}
