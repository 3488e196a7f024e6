//! Sequential cells of a sweep use one position, so that block sizes are comparable on a disk with
//! zones.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::OnceLock;

use nandle_io::{Device, Io, Nanos, Shape};
use nandle_model::library::Model;
use nandle_model::world::{Host, ModelWorld};
use nandle_probe::load::{Cancel, Refill, Stop};
use nandle_probe::pattern::PatternSpec;
use nandle_probe::sweep::{CellSpec, SweepContext, SweepOptions, run_cell};
use nandle_profile::{Cell, OperationKind};

const BLOCKS_BYTES: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const SEEDS: [u64; 4] = [1, 2, 3, 4];

fn world(name: &str, slots: u32) -> (Box<dyn Io>, Device) {
    let mut world = ModelWorld::new(Host::with_slots(slots as usize));
    let device = world.add(Model::named(name).unwrap().device().unwrap());
    (Box::new(world), device)
}

fn shape() -> &'static Shape {
    static SHAPE: OnceLock<Shape> = OnceLock::new();
    SHAPE.get_or_init(|| world("wd2003fyys", 1).1.shape.clone())
}

/// Sequential cell of a disk with outer zones twice as fast as inner ones.
fn sequential(seed: u64, operation: OperationKind, block_bytes: u64, queue_depth: u32, stop: Stop) -> Cell {
    let pattern = PatternSpec::Sequential;
    let options = SweepOptions {
        patterns: vec![pattern],
        block_sizes: BLOCKS_BYTES.to_vec(),
        group_sizes: vec![1],
        queue_depths: vec![1, 4],
        operations: vec![operation],
        stop,
        refill: Refill::Exact,
        rate: None,
        threads: 1,
        read_pool_bytes: 0,
        seed,
        outstanding_bytes_max: 1 << 30,
    };
    let context = SweepContext {
        open: &|slots| Ok(world("wd2003fyys", slots)),
        shape: shape(),
        area_bytes: shape().capacity_bytes,
        patience: Nanos::from_secs(3600),
        contents: None,
        cancel: &Cancel::default(),
        stalled: &|_| (),
    };
    let spec = CellSpec { pattern, operation, block_bytes, group_blocks: 1, queue_depth };
    run_cell(&context, &options, &spec).unwrap()
}

#[test]
fn sequential_throughput_does_not_fall_with_the_block_size() {
    for operation in [OperationKind::Read, OperationKind::Write] {
        for (seed, queue_depth) in SEEDS.iter().flat_map(|seed| [1, 4].map(|depth| (*seed, depth))) {
            let rates = BLOCKS_BYTES.map(|block_bytes| {
                let stop = Stop::after_bytes(32 << 20);
                sequential(seed, operation, block_bytes, queue_depth, stop).bandwidth_bytes_per_s
            });
            assert!(
                rates.is_sorted_by(|smaller, larger| *larger > 0.97 * smaller),
                "{operation} at depth {queue_depth}, seed {seed}: {rates:?}"
            );
        }
    }
}

#[test]
fn the_largest_latency_is_exact() {
    for seed in SEEDS {
        let stop = Stop::after(Nanos::from_secs(2));
        let cell = sequential(seed, OperationKind::Write, 1 << 20, 4, stop);
        let longest = cell.seconds.iter().map(|second| second.latency_ns_max).max();
        assert!(longest.is_some() && cell.latency_ns.max == longest, "{cell:?}");
    }
}
