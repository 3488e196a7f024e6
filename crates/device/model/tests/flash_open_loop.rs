//! Reads and writes at a fixed rate on a drive that cleans: mechanisms bound the wait of a read.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::driver::{Load, run};
use common::patterns::{Offsets, Pattern};
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

const MIB: u64 = 1 << 20;
const BLOCK_BYTES: u64 = 8 << 10;
const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

/// Small drive that erases as much as it writes, and its current time.
fn aged(parameters: &FlashParameters) -> (FlashDrive, u64) {
    let mut drive = FlashDrive::new(parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let load = Load::write(RANDOM, BLOCK_BYTES, parameters.capacity_bytes);
    let requests = parameters.capacity_bytes / BLOCK_BYTES / 2;
    let end_ns = run(&mut drive, Load { depth: 256, requests, ..load }, 0).end_ns;
    (drive, end_ns)
}

/// Sorted latencies of the reads among `requests` requests at equal intervals.
fn read_latencies_ns(
    (mut drive, start_ns): (FlashDrive, u64),
    requests_per_s: u64,
    requests: u64,
    write_every: u64,
) -> Vec<u64> {
    let mut offsets = Offsets::new(RANDOM, BLOCK_BYTES, drive.parameters().capacity_bytes, 7);
    let arrival_ns = |id: u64| start_ns + (id + 1) * 1_000_000_000 / requests_per_s;
    let (mut completed, mut latencies_ns) = (Vec::new(), Vec::new());
    let mut sent = 0;
    while sent < requests || drive.next_event_ns().is_some() {
        let due_ns = (sent < requests).then(|| arrival_ns(sent));
        match (due_ns, drive.next_event_ns()) {
            (Some(due_ns), event) if event.is_none_or(|event_ns| event_ns > due_ns) => {
                let write = sent % write_every == 0;
                let operation =
                    if write { TimedOperation::Write { durable: false } } else { TimedOperation::Read };
                let offset_bytes = offsets.next().unwrap();
                let request = TimedRequest { id: sent, operation, offset_bytes, length_bytes: BLOCK_BYTES };
                drive.arrive(due_ns, request);
                sent += 1;
            }
            (_, Some(event_ns)) => drive.advance(event_ns, &mut completed),
            (None, None) => break,
            (Some(_), None) => unreachable!("an arrival comes before no event"),
        }
        let reads = completed.drain(..).filter(|done| done.id % write_every != 0);
        latencies_ns.extend(reads.map(|done| done.completed_ns - arrival_ns(done.id)));
    }
    latencies_ns.sort_unstable();
    latencies_ns
}

/// At 250 000 requests a second, a fifth of them writes, the processor and the link to the host are
/// busy a quarter of the time, and the channels less than half, including cleaning. So a read
/// doesn't queue for milliseconds.
#[test]
fn reads_do_not_queue_behind_transfers_that_are_far_in_the_future() {
    let parameters = library::flash("nvme-plp").unwrap().with_capacity_bytes(8_192 * MIB).unwrap();
    let latencies_ns = read_latencies_ns(aged(&parameters), 250_000, 100_000, 5);
    let mean_us = latencies_ns.iter().sum::<u64>() as f64 / latencies_ns.len() as f64 / 1e3;
    assert!(mean_us < 1_500.0, "a mean of {mean_us} us");
}
