//! Distribution of read latency at depth 1: page types shape the body, read retries the tail.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::patterns::{Offsets, Pattern};
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library::{self, Model, Parameters};
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

const DRIVES: [&str; 2] = ["nvme-tlc", "nvme-plp"];
const READS: u64 = 200_000;
const BLOCK_BYTES: u64 = 4_096;

/// Sorted latencies of random reads on a drive that was filled once, one at a time.
fn latencies_ns(parameters: &FlashParameters) -> Vec<u64> {
    let mut drive = FlashDrive::new(parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let pattern = Pattern::RandomGroups { group: 1 };
    let offsets = Offsets::new(pattern, BLOCK_BYTES, parameters.capacity_bytes, 1);
    let (mut now_ns, mut completed) = (0, Vec::new());
    let mut read = |(id, offset_bytes)| {
        let operation = TimedOperation::Read;
        drive.arrive(now_ns, TimedRequest { id, operation, offset_bytes, length_bytes: BLOCK_BYTES });
        let submitted_ns = now_ns;
        while completed.is_empty() {
            now_ns = drive.next_event_ns().unwrap();
            drive.advance(now_ns, &mut completed);
        }
        completed.clear();
        now_ns - submitted_ns
    };
    let mut latencies_ns: Vec<u64> = (0..READS).zip(offsets).map(&mut read).collect();
    latencies_ns.sort_unstable();
    latencies_ns
}

/// Latency in microseconds that `of_ten_thousand` of ten thousand requests stay below.
fn quantile_us(latencies_ns: &[u64], of_ten_thousand: usize) -> f64 {
    latencies_ns[(latencies_ns.len() - 1) * of_ten_thousand / 10_000] as f64 / 1e3
}

fn mean_us(latencies_ns: &[u64]) -> f64 {
    latencies_ns.iter().sum::<u64>() as f64 / latencies_ns.len() as f64 / 1e3
}

/// One page type in three takes three sensing operations, the others two. So the median read takes
/// two sevenths of the three types' total read time, and the 90th percentile three sevenths. The
/// mean is that of a drive with equal pages.
#[test]
fn the_types_of_pages_make_the_body() {
    for name in DRIVES {
        let mut parameters = library::flash(name).unwrap();
        parameters.chips.read_retry = None;
        let typed = latencies_ns(&parameters);
        parameters.chips.senses = Vec::new();
        let alike = latencies_ns(&parameters);
        let read_us = parameters.chips.read_ns as f64 / 1e3;
        let spread_us = quantile_us(&typed, 9_000) - quantile_us(&typed, 5_000);
        assert!((spread_us - read_us * 3.0 / 7.0).abs() < 0.1, "{name}: {spread_us}");
        assert!((mean_us(&typed) / mean_us(&alike) - 1.0).abs() < 0.02, "{name}: as 32 pages are not 33");
        assert_eq!(alike.first(), alike.last(), "{name}: one at a time nothing else is in the way");
    }
}

/// One read in two hundred takes cells, channel and decoder twice, so the 99.9th percentile does.
#[test]
fn pages_that_are_read_again_make_the_tail() {
    for name in DRIVES {
        let parameters = library::flash(name).unwrap();
        let latencies_ns = latencies_ns(&parameters);
        let [half, most, rare] = [5_000, 9_000, 9_990].map(|part| quantile_us(&latencies_ns, part));
        assert!(rare > 1.3 * most && most > half, "{name}: {half} {most} {rare}");
        let chips = &parameters.chips;
        let transfer_us = BLOCK_BYTES as f64 / chips.channel_bytes_per_s as f64 * 1e6;
        let decode_us = chips.read_retry.as_ref().unwrap().decode_ns as f64 / 1e3;
        let slowest_us = chips.read_ns as f64 / 1e3 * 9.0 / 7.0;
        let once_more_us = slowest_us + transfer_us + decode_us;
        assert!((rare - most - once_more_us).abs() < 0.5, "{name}: {most} {rare}, not {once_more_us} more");
    }
}

/// At depth 1, 99.99 % of the reads of Intel's P4510 completed within little more than 2.5 times
/// their mean; other data-centre drives were faster (`AnandTech`, enterprise SSD round-up of 2019).
#[test]
fn the_tail_is_as_long_as_those_of_drives_that_were_measured() {
    let latencies_ns = latencies_ns(&library::flash("nvme-plp").unwrap());
    let ratio = quantile_us(&latencies_ns, 9_999) / mean_us(&latencies_ns);
    assert!((1.5..2.6).contains(&ratio), "{ratio}");
}

#[test]
fn worn_blocks_have_more_pages_that_are_read_again() {
    let mut parameters = library::flash("nvme-plp").unwrap();
    let mean_of_part = |part_of_pages: f64| {
        parameters.chips.read_retry.as_mut().unwrap().part_of_pages = part_of_pages;
        mean_us(&latencies_ns(&parameters))
    };
    let means_us = [0.0, 0.1, 1.0].map(mean_of_part);
    assert!(means_us[0] < means_us[1] && means_us[1] * 1.5 < means_us[2], "{means_us:?}");
}

/// Parameters absent from a drive's file have no effect: older drives, and those with one bit a
/// cell, are unchanged.
#[test]
fn only_drives_that_say_so_have_types_and_retries() {
    for name in library::names().filter(|name| !DRIVES.contains(name)) {
        if let Parameters::Flash(drive) = Model::named(name).unwrap().parameters() {
            let chips = &drive.chips;
            assert!(
                chips.senses.is_empty() && chips.read_retry.is_none() && chips.suspend_ns.is_none(),
                "{name}"
            );
        }
    }
}
