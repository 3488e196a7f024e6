//! A sweep measures a cell in a world with slots for the cell's queue depth, a probe in one with
//! slots for its deepest queue. On an array the results must agree.

use nandle_io::Nanos;
use nandle_probe::Unobserved;
use nandle_probe::load::{Cancel, Lane, LaneOptions, Refill, Stop};
use nandle_probe::search::{ProbeOptions, probe};
use nandle_probe::sweep::{CellSpec, SweepContext, SweepOptions, run_cell};
use nandle_profile::{MeasuredCell, OperationKind};
use nandle_target::{OpenOptions, Target};
use nandle_units::format_bytes;

const PROBE_SLOTS: u32 = 256;
const BUDGET: Nanos = Nanos::from_secs(20);
/// Tolerance, since a probe's slices are short and both read at different positions.
const TOLERANCE: f64 = 0.1;
const LANE: LaneOptions =
    LaneOptions { buffer_bytes: 64 << 20, read_pool_bytes: 0, patience: Nanos::from_secs(30) };

fn probed(target: &Target) -> Vec<MeasuredCell> {
    let opened = target.io(PROBE_SLOTS).unwrap();
    let mut lane = Lane::new(opened.io, opened.device, LANE).unwrap();
    let options = ProbeOptions {
        budget: BUDGET,
        area_bytes: target.area_bytes(),
        contents: None,
        freshly_written: false,
        outstanding_bytes_max: LANE.buffer_bytes / 2,
        stated_split_bytes: None,
        seed: 5,
        without: std::collections::BTreeSet::new(),
    };
    probe(&mut lane, &options, &mut Unobserved, &Cancel::default()).unwrap().cells
}

fn swept_bytes_per_s(target: &Target, cell: &MeasuredCell) -> f64 {
    let spec = CellSpec {
        pattern: cell.cell.pattern.parse().unwrap(),
        operation: OperationKind::Read,
        block_bytes: cell.cell.block_bytes,
        group_blocks: cell.cell.group_blocks,
        queue_depth: cell.cell.queue_depth,
    };
    let options = SweepOptions {
        patterns: vec![spec.pattern],
        block_sizes: vec![spec.block_bytes],
        group_sizes: vec![spec.group_blocks],
        queue_depths: vec![spec.queue_depth],
        operations: vec![spec.operation],
        stop: Stop::after(Nanos::from_millis(500)),
        refill: Refill::Exact,
        rate: None,
        threads: 1,
        read_pool_bytes: 0,
        seed: 6,
        outstanding_bytes_max: LANE.buffer_bytes,
    };
    let open = |slots| {
        let opened = target.io(slots).map_err(|error| error.to_string())?;
        Ok((opened.io, opened.device))
    };
    let shape = target.io(1).unwrap().device.shape;
    let context = SweepContext {
        open: &open,
        shape: &shape,
        area_bytes: target.area_bytes(),
        patience: LANE.patience,
        contents: None,
        cancel: &Cancel::default(),
        stalled: &|error| panic!("{error}"),
    };
    run_cell(&context, &options, &spec).unwrap().bandwidth_bytes_per_s
}

fn assert_alike(spec: &str) {
    let target = Target::open(spec.parse().unwrap(), OpenOptions::default()).unwrap();
    let random = probed(&target).into_iter().filter(|cell| cell.cell.pattern == "random");
    let chosen: Vec<MeasuredCell> = random
        .filter(|cell| cell.cell.group_blocks == 1 && [1, 4, 32].contains(&cell.cell.queue_depth))
        .filter(|cell| [4 << 10, 64 << 10, 1 << 20].contains(&cell.cell.block_bytes))
        .collect();
    assert!(chosen.len() >= 6, "{spec}: {} cells to compare", chosen.len());
    for cell in chosen {
        let probe = cell.steady_bandwidth_bytes_per_s.value;
        let ratio = swept_bytes_per_s(&target, &cell) / probe;
        let (block, depth) = (format_bytes(cell.cell.block_bytes), cell.cell.queue_depth);
        assert!(
            (ratio - 1.0).abs() < TOLERANCE,
            "{spec}: {block} at depth {depth}: sweep {ratio:.2} of {probe}"
        );
    }
}

#[test]
fn a_striped_array_is_as_fast_in_a_sweep() {
    assert_alike("raid0:64KiB:model:x25-m-g2*4");
}

#[test]
fn a_mirrored_array_is_as_fast_in_a_sweep() {
    assert_alike("raid10:64KiB:model:x25-m-g2*4");
}
