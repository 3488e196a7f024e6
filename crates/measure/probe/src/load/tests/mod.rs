mod closed;
mod contents;
mod faults;
mod files;
mod open;
mod pool;
mod record;
mod run_all;
mod streams;
mod window;

use nandle_io::Nanos;
use nandle_profile::OperationKind;

use super::*;
use crate::pattern::{Area, PatternSpec};

const BLOCK_BYTES: u64 = 4096;
const CAPACITY_BYTES: u64 = 64 << 20;
const MICRO: u64 = 1000;

/// Random reads of single blocks, with unchecked contents.
fn reads(seed: u64) -> Work {
    work(PatternSpec::Random, OperationKind::Read, None, seed)
}

fn work(pattern: PatternSpec, operation: OperationKind, contents: Option<Contents>, seed: u64) -> Work {
    let area = Area::new(0, CAPACITY_BYTES, BLOCK_BYTES).unwrap();
    Work { pattern: pattern.start(area, 1, seed), block_bytes: BLOCK_BYTES, operation, contents, seed }
}

fn closed(queue_depth: u32, refill: Refill, counting: Counting, stop: Stop) -> ClosedLoop {
    ClosedLoop { queue_depth, refill, counting, stop }
}

fn whole(queue_depth: u32, stop: Stop) -> ClosedLoop {
    closed(queue_depth, Refill::Exact, Counting::Whole, stop)
}

fn assert_near(got: f64, expected: f64, relative: f64, what: &str) {
    let error = (got / expected - 1.0).abs();
    assert!(error <= relative, "{what}: got {got}, expected {expected}, off by {:.3} %", error * 100.0);
}

/// Service time of `micros` µs plus a few nanoseconds that vary by request, so that no two requests
/// complete at the same time.
fn uneven(micros: u64) -> impl FnMut(u64) -> Nanos {
    move |number| Nanos(micros * MICRO + number * 7919 % 1009)
}

fn even(micros: u64) -> impl FnMut(u64) -> Nanos {
    move |_| Nanos(micros * MICRO)
}
