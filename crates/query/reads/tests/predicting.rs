//! What is predicted for a device that behaves as its costs say is what it then takes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;

use std::sync::Arc;

use nandle_io::conformance::MemoryWorld;
use nandle_io::{DeviceId, Io, Nanos};
use nandle_reads::{
    Estimate, FileId, HostCosts, Plan, PlanFile, PlanOptions, ReadCosts, ReadFile, RequestCost, Scan, Want,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const LATENCY_NS: u64 = 80_000;

/// What a memory world does: each request by itself, and so many at once.
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
        rows: Vec::new(),
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
