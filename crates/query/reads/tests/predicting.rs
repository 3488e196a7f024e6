//! Predictions match the time of a simulated device with the same costs.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::sync::Arc;

use nandle_io::conformance::MemoryWorld;
use nandle_io::{DeviceId, Io, Nanos};
use nandle_reads::{
    BatchCost, Estimate, FileId, HostCosts, Plan, PlanFile, PlanOptions, ReadCosts, ReadFile, RequestCost,
    Scan, SequenceCost, Want,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LATENCY_NS: u64 = 80_000;

/// Costs of a memory world: a fixed time per request, up to `depth` at once.
fn costs(depth: u32) -> ReadCosts {
    let seconds = |bytes: u64| (LATENCY_NS + bytes / 8) as f64 * 1e-9;
    let random = (12..=17).flat_map(|power| {
        let depths = [1, depth];
        depths.map(|depth| RequestCost {
            request_bytes: 1 << power,
            depth,
            seconds: Estimate { value: 1.0, low: 0.9, high: 1.2 } * (seconds(1 << power) / f64::from(depth)),
        })
    });
    ReadCosts {
        logical_block_bytes: 4096,
        largest_request_bytes: 128 << 10,
        random: random.collect(),
        sequential: Vec::new(),
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
    }
}

fn wants(random: &mut Xoshiro256PlusPlus, count: u32, file_bytes: u64) -> Vec<Want> {
    let want = |step| {
        let length_bytes = 4096 << random.random_range(0..4);
        let offset_bytes = random.random_range(0..(file_bytes - length_bytes) / 4096) * 4096;
        Want { file: FileId(0), offset_bytes, length_bytes, step }
    };
    (0..count).map(want).collect()
}

#[test]
fn a_scan_takes_as_long_as_was_predicted() {
    let file_bytes = 64 << 20;
    for seed in 0..60 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let depth = [1, 8, 32][random.random_range(0..3)];
        let count = random.random_range(1..600);
        let wants = wants(&mut random, count, file_bytes);
        let file = PlanFile::new(file_bytes, 4096);
        let options = PlanOptions::new(random.random_range(400_000..8_000_000));
        let plan = Arc::new(Plan::new(wants, std::slice::from_ref(&file), &costs(depth), options).unwrap());
        let mut world = MemoryWorld::new(64, Nanos(LATENCY_NS));
        world.add(file_bytes, 512);
        let tail = bytes::Bytes::new();
        let file =
            ReadFile { device: DeviceId::from_index(0), start_bytes: 0, plan: file, tail, check: None };
        let mut scan = Scan::new(&mut world, Arc::new([file]), Arc::clone(&plan)).unwrap();
        while scan.next_step().unwrap().is_some() {}
        drop(scan);
        let took = world.now().0 as f64 * 1e-9;
        let predicted = plan.predict(HostCosts::default(), |_| 0.0);
        assert_eq!(
            (predicted.requests, predicted.read_bytes),
            (plan.reads().len() as u64, plan.read_bytes())
        );
        assert!(predicted.seconds.contains(took), "seed {seed}: {took} against {predicted:?}");
        assert!(
            (predicted.seconds.value / took - 1.0).abs() < 0.08,
            "seed {seed}: {took} against {predicted:?}"
        );
    }
}

#[test]
fn processor_and_device_work_at_the_same_time() {
    let file_bytes = 64 << 20;
    let wants = wants(&mut Xoshiro256PlusPlus::seed_from_u64(1), 1000, file_bytes);
    let plan =
        Plan::new(wants, &[PlanFile::new(file_bytes, 4096)], &costs(8), PlanOptions::new(4 << 20)).unwrap();
    let device = plan.predict(HostCosts::default(), |_| 0.0).seconds.value;
    let (little, much) = (device / 4000.0, device / 250.0);
    let overlapped = plan.predict(HostCosts::default(), |_| little).seconds.value;
    assert!(overlapped < 1.05 * device, "{overlapped} for the device's {device}");
    let bound = plan.predict(HostCosts::default(), |_| much).seconds.value;
    assert!((4.0 * device..4.1 * device).contains(&bound), "{bound} for the processor's {}", 4.0 * device);
}

#[test]
fn a_slow_reading_thread_is_waited_for_beside_a_fast_device() {
    let file_bytes = 64 << 20;
    let wants = wants(&mut Xoshiro256PlusPlus::seed_from_u64(1), 1000, file_bytes);
    let plan =
        Plan::new(wants, &[PlanFile::new(file_bytes, 4096)], &costs(8), PlanOptions::new(4 << 20)).unwrap();
    let device = plan.predict(HostCosts::default(), |_| 0.0).seconds.value;
    let host = |seconds: f64| {
        let requests = plan.reads().len() as f64;
        HostCosts { request_seconds: Estimate::exact(seconds / requests), ..HostCosts::default() }
    };
    let predict = |host: HostCosts| plan.predict(host, |_| 0.0);
    let (fast, slow) = (predict(host(device / 4.0)), predict(host(4.0 * device)));
    assert!((slow.host_seconds.value / (4.0 * device) - 1.0).abs() < 1e-9, "{slow:?}");
    assert!(fast.seconds.value < 1.05 * device, "{fast:?} for the device's {device}");
    assert!((4.0 * device..4.1 * device).contains(&slow.seconds.value), "{slow:?} for {device}");
}

/// Pages of 4 KiB at this distance, one per step.
fn pages(count: u32, apart_bytes: u64) -> Vec<Want> {
    let want = |step: u32| Want {
        file: FileId(0),
        offset_bytes: u64::from(step) * apart_bytes,
        length_bytes: 4096,
        step,
    };
    (0..count).map(want).collect()
}

fn predicted(wants: Vec<Want>, costs: &ReadCosts, host: HostCosts, memory_bytes: u64) -> Estimate {
    let file = PlanFile::new(1 << 34, 4096);
    let plan = Plan::new(wants, &[file], costs, PlanOptions::new(memory_bytes)).unwrap();
    plan.predict(host, |_| 0.0).seconds
}

fn batch(request_bytes: u64, requests: u32, value: f64) -> BatchCost {
    BatchCost { request_bytes, requests, seconds: Estimate { value, low: 0.8 * value, high: 1.3 * value } }
}

/// The last of a few requests determines their time, and the end of many.
#[test]
fn the_last_of_a_queue_is_waited_for_as_long_as_was_measured() {
    let (few, many) = (pages(8, 1 << 20), pages(1024, 1 << 20));
    let mut costs = costs(32);
    let even = predicted(many.clone(), &costs, HostCosts::default(), 64 << 20);
    costs.batches = vec![batch(4096, 8, 1e-3), batch(4096, 32, 5e-3)];
    let found = predicted(few, &costs, HostCosts::default(), 64 << 20);
    assert!((found.value - 1e-3).abs() < 1e-5 && (found.low - 0.8e-3).abs() < 1e-5, "{found:?}");
    assert!((found.high - 1.3e-3).abs() < 1e-5, "{found:?}");
    let found = predicted(many, &costs, HostCosts::default(), 64 << 20);
    let longer = found.value - even.value;
    assert!(
        (4.5e-3..5e-3).contains(&longer),
        "{longer} for a queue that takes 5 ms to empty instead of 80 us"
    );
}

/// A window's memory is reused only after its last request completes.
#[test]
fn windows_that_are_few_requests_wait_for_each_of_them() {
    let mut costs = costs(32);
    costs.batches = vec![batch(4096, 8, 4e-3), batch(4096, 32, 8e-3)];
    let [scarce, plenty] = [160 << 10, 64 << 20]
        .map(|memory| predicted(pages(1000, 1 << 20), &costs, HostCosts::default(), memory).value);
    // About 18 requests per window: more than 50 windows, two at a time.
    assert!(scarce > 0.15 && plenty < 0.02, "{scarce} and {plenty}");
}

/// If the thread takes the whole time of short requests, long ones overlap with it.
#[test]
fn what_was_the_threads_is_not_counted_for_the_device_again() {
    let mut costs = costs(1);
    let cells =
        [4096_u64, 32_768].into_iter().flat_map(|bytes| [1_u32, 2, 4, 8, 16].map(|depth| (bytes, depth)));
    let cell = |(request_bytes, depth): (u64, u32)| {
        let device = (10e-6 / f64::from(depth)).max(request_bytes as f64 / 8e9);
        RequestCost { request_bytes, depth, seconds: Estimate::exact(device.max(2e-6)) }
    };
    costs.random = cells.map(cell).collect();
    costs.largest_request_bytes = 32_768;
    let host = HostCosts { request_seconds: Estimate::exact(2e-6), ..HostCosts::default() };
    // 4 KiB: 2 us of the thread, 0.5 us of the device. 32 KiB: 2 us and 4.1 us.
    let want = |step: u32| Want {
        file: FileId(0),
        offset_bytes: u64::from(step) << 20,
        length_bytes: if step.is_multiple_of(2) { 4096 } else { 32_768 },
        step,
    };
    let found = predicted((0..4000).map(want).collect(), &costs, host, 64 << 20);
    let (thread, device): (f64, f64) = (4000.0 * 2e-6, 2000.0 * (0.512e-6 + 4.096e-6));
    // Without overlap.
    let both = 2000.0 * (2e-6 + 4.096e-6);
    assert!(
        found.value < 0.9 * both && found.value > device.max(thread),
        "{found:?} for {device} and {both}"
    );
}

/// Read-ahead is paid once per sequence.
#[test]
fn reading_ahead_of_rows_is_predicted() {
    let mut costs = costs(8);
    // Requests are at most 128 KiB: sequences of four.
    let sequences: Vec<Want> = (0..10_u64)
        .flat_map(|sequence| (0..128_u64).map(move |page| (sequence << 27) + page * 4096))
        .zip(0_u32..)
        .map(|(offset_bytes, step)| Want { file: FileId(0), offset_bytes, length_bytes: 4096, step })
        .collect();
    let without = predicted(sequences.clone(), &costs, HostCosts::default(), 64 << 20).value;
    let wasted = |value: f64| Estimate { value, low: 0.0, high: value };
    costs.sequences = vec![SequenceCost { request_bytes: 128 << 10, requests: 4, seconds: wasted(1e-3) }];
    let with = predicted(sequences, &costs, HostCosts::default(), 64 << 20).value;
    assert!((with - without - 10e-3).abs() < 1e-3, "{with} and {without}");
}

/// Derived prices have an error of their own.
#[test]
fn bounds_allow_for_the_error_of_prices() {
    let wants = pages(100, 1 << 20);
    let mut costs = costs(8);
    let narrow = predicted(wants.clone(), &costs, HostCosts::default(), 64 << 20);
    costs.price_error = 0.5;
    let wide = predicted(wants, &costs, HostCosts::default(), 64 << 20);
    assert!((wide.value - narrow.value).abs() < 1e-12);
    assert!(wide.low < narrow.value / 1.5 && wide.high > narrow.value * 1.5, "{wide:?} and {narrow:?}");
}
