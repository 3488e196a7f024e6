//! Little's law in every cell of every model of the library: outstanding requests equal the rate
//! times the mean latency. No device, queue or busy host may lose a wait or count it twice.
//!
//! John D. C. Little: *A Proof for the Queuing Formula: L = λW*, Operations Research 9 (1961).
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use nandle_io::Nanos;
use nandle_model::library::{self, Model};
use nandle_model::world::{Host, ModelWorld};
use nandle_probe::load::{Cancel, ClosedLoop, Counting, Lane, LaneOptions, Measurement, Refill, Stop, Work};
use nandle_probe::pattern::{Area, Random};
use nandle_profile::OperationKind;

const DEPTHS: [u32; 4] = [1, 4, 32, 128];
const BLOCKS_BYTES: [u64; 2] = [4 << 10, 128 << 10];
const OPERATIONS: [OperationKind; 3] =
    [OperationKind::Read, OperationKind::Write, OperationKind::Mixed { read_percent: 70 }];
/// Requests of a run, in rounds of the queue.
const ROUNDS: u64 = 24;

/// Lane on a model in its own world.
fn lane(name: &str, queue_depth: u32, block_bytes: u64) -> Lane {
    let mut world = ModelWorld::new(Host::with_slots(queue_depth as usize));
    let device = world.add(Model::named(name).unwrap().device().unwrap());
    let buffer_bytes = u64::from(queue_depth) * block_bytes + (64 << 20);
    let options = LaneOptions { buffer_bytes, read_pool_bytes: 0, patience: Nanos::from_secs(3600) };
    Lane::new(Box::new(world), device, options).unwrap()
}

fn measure(lane: &mut Lane, queue_depth: u32, block_bytes: u64, operation: OperationKind) -> Measurement {
    let area = Area::new(0, lane.device().shape.capacity_bytes, block_bytes).unwrap();
    let pattern = Box::new(Random::new(area, 1));
    let work = Work { pattern, block_bytes, operation, contents: None, seed: 1 };
    let closed = ClosedLoop {
        queue_depth,
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop: Stop::after_bytes(ROUNDS * u64::from(queue_depth) * block_bytes),
    };
    closed.run(lane, work, &Cancel::default()).unwrap()
}

/// Checks the law in each cell of a model.
fn hold(name: &str) {
    for (block_bytes, operation) in
        BLOCKS_BYTES.iter().flat_map(|block| OPERATIONS.map(|kind| (*block, kind)))
    {
        for queue_depth in DEPTHS {
            let measured =
                measure(&mut lane(name, queue_depth, block_bytes), queue_depth, block_bytes, operation);
            let by_law = measured.iops() * measured.latency_ns.mean() / 1e9;
            let cell = format!("{name}, {operation:?} of {block_bytes} bytes at depth {queue_depth}");
            let outstanding = measured.mean_outstanding();
            assert!(outstanding > 0.5 * f64::from(queue_depth), "{cell}: {outstanding}");
            // Over a run from first submission to last completion the law is an identity, with two
            // small deviations: the first round counts as outstanding from the start, and latencies
            // are kept to three digits.
            assert!(
                (by_law / outstanding - 1.0).abs() < 0.04,
                "{cell}: {by_law} by the law, {outstanding} counted"
            );
        }
    }
}

#[test]
fn in_every_cell_of_every_model() {
    library::names().for_each(hold);
}

/// At depth 128 the host's processor is the bottleneck, so each request waits for the handling of
/// those before it.
#[test]
fn a_request_waits_for_the_busy_host() {
    let measured = measure(&mut lane("nvme-tlc", 128, 4096), 128, 4096, OperationKind::Read);
    let by_host_ns = 128.0 * Host::REQUEST_CPU.0 as f64;
    assert!((measured.latency_ns.mean() / by_host_ns - 1.0).abs() < 0.05, "{}", measured.latency_ns.mean());
}
