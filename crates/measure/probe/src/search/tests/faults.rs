use super::super::*;
use super::drives;
use super::truth::{AREA_BYTES, OUTSTANDING_MAX, options, world};
use crate::Unobserved;
use crate::load::{Cancel, LoadError};
use crate::virtual_world::{FakeWorld, Fault};

fn run(world: FakeWorld, options: &ProbeOptions) -> Result<Findings, LoadError> {
    probe(&mut world.lane(OUTSTANDING_MAX), options, &mut Unobserved, &Cancel::default())
}

#[test]
fn failed_reads_are_counted_and_reported() {
    let world = world(&drives::cloud()).faults(|number| number % 1000 == 0, Fault::Fail);
    let found = run(world, &options(5, 1)).unwrap();
    assert!(found.errors > 10);
    assert!(found.partial.iter().any(|reason| reason.contains("Input/output error")), "{:?}", found.partial);
    assert!(matches!(found.failed, Some(LoadError::SomeFailed { requests, .. }) if requests == found.errors));
    assert!(found.derived.efficient_block_bytes.is_some());
}

#[test]
fn a_device_that_fails_every_read_is_an_error() {
    let error = run(world(&drives::cloud()).faults(|_| true, Fault::Fail), &options(5, 1)).unwrap_err();
    assert!(matches!(error, LoadError::AllFailed { .. }), "{error}");
}

#[test]
fn a_stall_keeps_the_findings_so_far() {
    let world = world(&drives::cloud()).faults(|number| number >= 50_000, Fault::Silence);
    let found = run(world, &options(20, 1)).unwrap();
    assert!(found.cells.len() > 10);
    assert!(
        found.partial.iter().any(|reason| reason.contains("has not answered for")),
        "{:?}",
        found.partial
    );
}

#[test]
fn an_interruption_before_the_first_figure_is_an_error() {
    let cancel = Cancel::default();
    cancel.cancel();
    let mut lane = world(&drives::cloud()).lane(OUTSTANDING_MAX);
    let error = probe(&mut lane, &options(5, 1), &mut Unobserved, &cancel).unwrap_err();
    assert!(matches!(error, LoadError::Cancelled), "{error}");
}

#[test]
fn small_files_are_searched_as_far_as_they_go() {
    for area_bytes in [16 << 10, 100 << 10, 1 << 20, 30 << 20] {
        let world = FakeWorld::new(AREA_BYTES, drives::cloud().timing());
        let found = run(world, &ProbeOptions { area_bytes, ..options(5, 1) }).unwrap();
        let largest = found.cells.iter().map(|cell| cell.cell.block_bytes).max().unwrap();
        assert!(largest <= area_bytes / 8 && largest > area_bytes / 16, "{largest} of {area_bytes}");
        assert!(found.first_touch.is_none());
    }
    let world = FakeWorld::new(AREA_BYTES, drives::cloud().timing());
    let error = run(world, &ProbeOptions { area_bytes: 8 << 10, ..options(5, 1) }).unwrap_err();
    assert!(error.to_string().contains("too small"), "{error}");
}

#[test]
fn a_probe_respects_the_limit_of_outstanding_bytes() {
    for outstanding_bytes_max in [4 << 10, 24 << 10, 500 << 10, 4 << 20] {
        // A slow first touch makes the probe read the whole file once.
        let mut world = FakeWorld::new(AREA_BYTES, drives::slow_first_touch(&drives::fast()));
        let ledger = world.ledger();
        let found =
            run(world, &ProbeOptions { outstanding_bytes_max, freshly_written: true, ..options(5, 1) })
                .unwrap();
        assert!(
            ledger.outstanding_bytes_max() <= outstanding_bytes_max,
            "{}",
            ledger.outstanding_bytes_max()
        );
        assert!(!found.cells.is_empty());
        let read_once =
            found.remarks.iter().any(|remark| remark.contains("First reads of blocks are slower"));
        assert_eq!(read_once, outstanding_bytes_max >= 128 << 10, "{:?}", found.remarks);
    }
    let options = ProbeOptions { outstanding_bytes_max: 100, ..options(5, 1) };
    let error = run(world(&drives::fast()), &options).unwrap_err();
    assert!(error.to_string().contains("--outstanding-max"), "{error}");
}
