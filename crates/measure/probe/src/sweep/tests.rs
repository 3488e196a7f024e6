use std::os::unix::fs::FileExt;
use std::sync::Arc;

use nandle_io::{Access, Device, DeviceFile, DurableWrites, FileOptions, Io, Nanos, Shape, Threads};
use nandle_profile::OperationKind;

use super::*;
use crate::load::{Arrivals, Cancel, Contents, LoadError, Refill, Stop};
use crate::pattern::PatternSpec;

const AREA_BYTES: u64 = 8 << 20;

fn options() -> SweepOptions {
    SweepOptions {
        patterns: vec![PatternSpec::Random, PatternSpec::Sequential],
        block_sizes: vec![4096, 65_536],
        group_sizes: vec![1, 4],
        queue_depths: vec![1, 8, 32],
        operations: vec![OperationKind::Read],
        stop: Stop::after_bytes(1 << 20),
        refill: Refill::Exact,
        rate: None,
        threads: 1,
        read_pool_bytes: 0,
        seed: 1,
        outstanding_bytes_max: 1 << 20,
    }
}

fn shape() -> Shape {
    Shape {
        capacity_bytes: AREA_BYTES,
        logical_block_bytes: 512,
        memory_alignment_bytes: 4096,
        largest_transfer_bytes: 1 << 30,
        access: Access::Direct,
        durable_writes: DurableWrites::Unknown,
        writable: true,
        discards: false,
    }
}

#[test]
fn every_combination_is_run_or_skipped_once_and_groups_only_where_they_differ() {
    let plan = plan(&options(), &shape(), AREA_BYTES).unwrap();
    // Random: 2 blocks × 2 groups × 3 depths; sequential: 2 × 1 × 3. 32 × 64 KiB exceeds the limit
    // of outstanding bytes.
    assert_eq!((plan.cells.len(), plan.skipped.len()), (12 + 6 - 3, 3));
    for skipped in &plan.skipped {
        assert_eq!((skipped.block_bytes, skipped.queue_depth), (65_536, 32));
        assert!(
            skipped.reason.contains("2MiB would be outstanding")
                && skipped.reason.contains("--outstanding-max")
        );
    }
    for (index, cell) in plan.cells.iter().enumerate() {
        assert!(!plan.cells[..index].contains(cell), "{cell} twice");
        assert!(cell.group_blocks == 1 || cell.pattern == PatternSpec::Random);
    }
}

#[test]
fn groups_that_do_not_fit_are_skipped_with_a_reason() {
    let options = SweepOptions { group_sizes: vec![1, 1 << 40, u64::MAX], ..options() };
    let plan = plan(&options, &shape(), AREA_BYTES).unwrap();
    assert!(plan.cells.iter().all(|cell| cell.group_blocks == 1));
    assert!(
        plan.skipped.iter().any(|cell| cell.reason.contains("a group of") && cell.reason.contains("8MiB"))
    );
}

#[test]
fn spaces_that_make_no_sense_are_errors_that_name_the_option() {
    let error = |options: SweepOptions| plan(&options, &shape(), AREA_BYTES).unwrap_err().to_string();
    assert!(error(SweepOptions { patterns: vec![], ..options() }).contains("--patterns"));
    assert!(error(SweepOptions { operations: vec![], ..options() }).contains("--operation"));
    assert!(error(SweepOptions { block_sizes: vec![4096, 0], ..options() }).contains("--block-sizes"));
    assert!(error(SweepOptions { group_sizes: vec![0], ..options() }).contains("--group-sizes"));
    assert!(error(SweepOptions { queue_depths: vec![0], ..options() }).contains("--queue-depths"));
    // Direct I/O needs memory aligned to 4 KiB.
    assert!(error(SweepOptions { block_sizes: vec![512], ..options() }).contains("multiples of 4KiB"));
    assert!(error(SweepOptions { block_sizes: vec![16 << 20], ..options() }).contains("--file-size"));
}

struct TestFile {
    file: tempfile::NamedTempFile,
    shape: Shape,
    contents: Contents,
}

impl TestFile {
    fn new() -> Self {
        let file = tempfile::NamedTempFile::new_in(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).unwrap();
        let contents = Contents::new(3);
        let mut bytes = vec![0; usize::try_from(AREA_BYTES).unwrap()];
        contents.fill(0, &mut bytes);
        file.as_file().write_all_at(&bytes, 0).unwrap();
        file.as_file().sync_all().unwrap();
        let shape = device_file(&file).shape().clone();
        Self { file, shape, contents }
    }

    fn run(&self, options: &SweepOptions, spec: &CellSpec) -> Result<nandle_profile::Cell, LoadError> {
        let open = |slots: u32| -> Result<(Box<dyn Io>, Device), String> {
            let mut world = Threads::new(slots);
            let device = world.add(Arc::new(device_file(&self.file)));
            Ok((Box::new(world), device))
        };
        let context = SweepContext {
            open: &open,
            shape: &self.shape,
            area_bytes: AREA_BYTES,
            patience: Nanos::from_secs(30),
            contents: Some(self.contents).filter(|_| options.reads_only()),
            cancel: &Cancel::default(),
            stalled: &|_| (),
        };
        run_cell(&context, options, spec)
    }
}

fn device_file(file: &tempfile::NamedTempFile) -> DeviceFile {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
    DeviceFile::new(file, FileOptions::default()).unwrap()
}

#[test]
fn each_cell_of_a_plan_runs_on_a_file() {
    let file = TestFile::new();
    for operation in [OperationKind::Read, OperationKind::Write, OperationKind::Mixed { read_percent: 50 }] {
        let options = SweepOptions { operations: vec![operation], ..options() };
        for spec in plan(&options, &file.shape, AREA_BYTES).unwrap().cells {
            let cell = file.run(&options, &spec).unwrap();
            assert!(spec.is(&cell));
            assert_eq!((cell.bytes, cell.errors), (1 << 20, 0), "{spec}");
            assert_eq!(cell.requests, (1 << 20) / spec.block_bytes);
            let rate = cell.bytes as f64 / cell.elapsed_ns as f64 * 1e9;
            assert!((cell.bandwidth_bytes_per_s / rate - 1.0).abs() < 1e-9, "{spec}");
            assert!(cell.mean_outstanding <= f64::from(spec.queue_depth) + 1e-9, "{spec}");
        }
        if operation == OperationKind::Read {
            continue;
        }
        // Writes have replaced the initial contents.
        let now = std::fs::read(file.file.path()).unwrap();
        let mut then = vec![0; now.len()];
        file.contents.fill(0, &mut then);
        assert!(now != then);
    }
}

#[test]
fn threads_share_the_depth_and_the_bytes_out() {
    let file = TestFile::new();
    let spec = CellSpec {
        pattern: PatternSpec::Random,
        operation: OperationKind::Read,
        block_bytes: 4096,
        group_blocks: 1,
        queue_depth: 7,
    };
    for threads in [1, 3, 7, 100] {
        let cell = file.run(&SweepOptions { threads, ..options() }, &spec).unwrap();
        // Each thread rounds its share up to a block.
        assert!((256..256 + 7).contains(&cell.requests), "{threads}: {}", cell.requests);
        assert_eq!((cell.queue_depth, cell.errors), (7, 0));
    }
}

#[test]
fn small_blocks_have_memory_enough() {
    let file = TestFile::new();
    let block_bytes = file.shape.logical_block_bytes.max(file.shape.memory_alignment_bytes).max(512);
    let operation = OperationKind::Mixed { read_percent: 50 };
    let pattern = PatternSpec::Random;
    let spec = CellSpec { pattern, operation, block_bytes, group_blocks: 1, queue_depth: 1000 };
    let options = SweepOptions { operations: vec![operation], ..options() };
    assert_eq!(file.run(&options, &spec).unwrap().bytes, 1 << 20);
}

#[test]
fn a_schedule_reports_its_lag() {
    let file = TestFile::new();
    let spec = CellSpec {
        pattern: PatternSpec::Random,
        operation: OperationKind::Read,
        block_bytes: 4096,
        group_blocks: 1,
        queue_depth: 8,
    };
    let rate = Some(OpenLoopRate { per_s: 500.0, arrivals: Arrivals::Fixed });
    let stop = Stop::after(Nanos::from_millis(400));
    let cell = file.run(&SweepOptions { rate, stop, threads: 2, ..options() }, &spec).unwrap();
    let arrivals = cell.requests + cell.unsent.unwrap();
    assert!((196..=200).contains(&arrivals), "{arrivals}");
    assert!(cell.schedule_lag_ns.unwrap().mean.is_some());
    // A run limited by bytes has no end time for arrivals, so it must fail.
    assert!(file.run(&SweepOptions { rate, ..options() }, &spec).is_err());
}
