//! Completion of flushes and durable writes on the three kinds of drives.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use nandle_model::flash::parameters::Durability;
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;
use nandle_model::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

fn parameters(durability: Durability) -> FlashParameters {
    let mut parameters = library::flash("x25-e-64").unwrap();
    parameters.write_buffer.durability = durability;
    parameters
}

/// Latency of one request on an idle drive.
fn alone_ns(drive: &mut FlashDrive, operation: TimedOperation, start_ns: u64) -> u64 {
    drive.arrive(start_ns, TimedRequest { id: 1, operation, offset_bytes: 0, length_bytes: 4096 });
    let mut completed: Vec<TimedCompletion> = Vec::new();
    while completed.is_empty() {
        let event_ns = drive.next_event_ns().unwrap();
        drive.advance(event_ns, &mut completed);
    }
    completed[0].completed_ns - start_ns
}

const CACHED: TimedOperation = TimedOperation::Write { durable: false };
const DURABLE: TimedOperation = TimedOperation::Write { durable: true };

#[test]
fn a_volatile_buffer_makes_flushes_wait_for_the_program_operation() {
    let parameters = parameters(Durability::Volatile);
    let program_ns = parameters.chips.program_ns;
    let mut drive = FlashDrive::new(&parameters).unwrap();
    let cached_ns = alone_ns(&mut drive, CACHED, 0);
    let flush_ns = alone_ns(&mut drive, TimedOperation::Flush, cached_ns);
    assert!(cached_ns < program_ns && flush_ns > program_ns, "{cached_ns} {flush_ns}");
    assert!(alone_ns(&mut drive, DURABLE, 10_000_000) > program_ns);
    let idle_flush_ns = alone_ns(&mut drive, TimedOperation::Flush, 20_000_000);
    assert_eq!(idle_flush_ns, parameters.firmware.flush_ns, "nothing is left to wait for");
}

#[test]
fn protected_and_lying_drives_do_not_wait() {
    for durability in [Durability::Protected, Durability::Lying] {
        let parameters = parameters(durability);
        let mut drive = FlashDrive::new(&parameters).unwrap();
        let write_ns = alone_ns(&mut drive, DURABLE, 0);
        let flush_ns = alone_ns(&mut drive, TimedOperation::Flush, write_ns);
        assert!(write_ns < parameters.chips.program_ns && flush_ns == parameters.firmware.flush_ns);
    }
}

#[test]
fn without_early_acknowledgement_every_write_waits() {
    let mut parameters = parameters(Durability::Volatile);
    parameters.write_buffer.acknowledges_early = false;
    let mut drive = FlashDrive::new(&parameters).unwrap();
    assert!(alone_ns(&mut drive, CACHED, 0) > parameters.chips.program_ns);
}

#[test]
fn a_flush_programs_what_waits_for_company() {
    let parameters = library::flash("nvme-tlc").unwrap();
    let mut drive = FlashDrive::new(&parameters).unwrap();
    let write_ns = alone_ns(&mut drive, CACHED, 0);
    let flush_ns = alone_ns(&mut drive, TimedOperation::Flush, write_ns);
    assert!(flush_ns > 200_000, "a program operation of the single-level region: {flush_ns}");
    assert_eq!(drive.stats().padded_units, 15, "one unit of sixteen had data");
}

#[test]
fn a_write_of_half_a_unit_reads_the_other_half() {
    let parameters = parameters(Durability::Volatile);
    let time_ns = |filled: bool| {
        let mut drive = FlashDrive::new(&parameters).unwrap();
        drive.fill_sequentially(if filled { 1.0 } else { 0.0 }).unwrap();
        let write = TimedRequest { id: 1, operation: DURABLE, offset_bytes: 2048, length_bytes: 2048 };
        drive.arrive(0, write);
        drive.next_event_ns().unwrap()
    };
    assert!(time_ns(true) >= time_ns(false) + parameters.chips.read_ns);
}
