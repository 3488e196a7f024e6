//! The write buffer: reads from it, and rewrites of data waiting in it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

const WRITE: TimedOperation = TimedOperation::Write { durable: false };

fn drive(name: &str, change: impl Fn(&mut FlashParameters)) -> FlashDrive {
    let mut parameters = library::flash(name).unwrap();
    change(&mut parameters);
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    drive
}

/// Runs one request; returns its latency and advances the clock to its end.
fn request(drive: &mut FlashDrive, now_ns: &mut u64, operation: TimedOperation, offset_bytes: u64) -> u64 {
    drive.arrive(*now_ns, TimedRequest { id: 1, operation, offset_bytes, length_bytes: 4_096 });
    let mut completed = Vec::new();
    while completed.is_empty() {
        let event_ns = drive.next_event_ns().unwrap();
        drive.advance(event_ns, &mut completed);
    }
    let latency_ns = completed[0].completed_ns - *now_ns;
    *now_ns = completed[0].completed_ns;
    latency_ns
}

#[test]
fn what_was_just_written_is_read_from_the_buffer() {
    for name in ["x25-m-g2", "x25-e-64", "crucial-m4-256"] {
        let mut drive = drive(name, |_| {});
        let mut now_ns = 0;
        let elsewhere_ns = request(&mut drive, &mut now_ns, TimedOperation::Read, 1 << 20);
        request(&mut drive, &mut now_ns, WRITE, 0);
        let read_ns = request(&mut drive, &mut now_ns, TimedOperation::Read, 0);
        assert!(read_ns < elsewhere_ns, "{name}: {read_ns} ns, from the chips {elsewhere_ns} ns");
    }
}

/// One die, whose program operations take 2 ms: rewrites of a waiting page take no program
/// operation.
#[test]
fn a_page_that_waits_is_replaced() {
    let mut drive = drive("x25-m-g2", |parameters| {
        parameters.chips.channels = 1;
        parameters.chips.dies_per_channel = 1;
        parameters.chips.program_ns = 2_000_000;
        parameters.chips.cache_program = false;
        parameters.capacity_bytes = 1 << 29;
    });
    let mut now_ns = 0;
    for page in [0, 1, 2, 1, 1, 2] {
        request(&mut drive, &mut now_ns, WRITE, page * 4_096);
    }
    let stats = drive.stats();
    assert_eq!((stats.host_written_units, stats.overwritten_in_buffer_units), (6, 3));
    assert!(now_ns < 2_000_000, "nothing has left the buffer by {now_ns} ns");
    let flush_ns = request(&mut drive, &mut now_ns, TimedOperation::Flush, 0);
    assert!((5_000_000..7_000_000).contains(&(now_ns)), "three programs of 2 ms, the flush {flush_ns} ns");
}

#[test]
fn pages_that_wait_for_company_are_replaced_and_amplify_nothing() {
    let mut drive = drive("crucial-m4-256", |_| {});
    let load = Load { requests: 3_000, ..Load::write(Pattern::Ordered { stride: 0 }, 4_096, 1 << 20) };
    run(&mut drive, load, 0);
    let stats = drive.stats();
    assert!(stats.overwritten_in_buffer_units > 2_900, "{stats:?}");
    assert!(stats.write_amplification().unwrap() < 0.1, "{stats:?}");
}

/// A flush waits for the host's data, not for cleaning's.
#[test]
fn a_flush_does_not_wait_for_cleaning() {
    let parameters = library::flash("x25-e-64").unwrap().with_capacity_bytes(2 << 30).unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let area_bytes = parameters.capacity_bytes;
    let random = Load::write(Pattern::RandomGroups { group: 1 }, 4_096, area_bytes);
    let aged = run(&mut drive, Load { depth: 32, requests: 200_000, ..random }, 0);
    let mut now_ns = aged.end_ns + 1_000_000_000;
    let mut longest = 0;
    for page in 0..10_000_u64 {
        let erased = drive.stats().erased_superblocks;
        request(&mut drive, &mut now_ns, WRITE, page * 7_919 * 4_096 % area_bytes);
        let flush_ns = request(&mut drive, &mut now_ns, TimedOperation::Flush, 0);
        if drive.stats().erased_superblocks > erased {
            longest = longest.max(flush_ns);
        }
    }
    assert!((1..5_000_000).contains(&longest), "{longest} ns");
}
