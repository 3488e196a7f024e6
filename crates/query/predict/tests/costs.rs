//! Read costs derived from a profile, and its missing figures.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

use std::sync::OnceLock;
use std::time::SystemTime;

use nandle_io::{Access, DurableWrites, Nanos, Shape};
use nandle_predict::{CostsError, MissingFigure, host_costs, read_costs};
use nandle_profile::{Batch, DeviceProfile, Interval, ReferenceSlice, SplitObservation, SplitSize};
use nandle_reads::Estimate;
use nandle_session::{ProbeOptions, Unobserved, probe};

/// A probe of a disk, which is quick.
fn profile() -> DeviceProfile {
    static PROFILE: OnceLock<DeviceProfile> = OnceLock::new();
    let made = || {
        let options =
            ProbeOptions { budget: Nanos::from_secs(60), ..ProbeOptions::new(SystemTime::UNIX_EPOCH) };
        probe(&"model:wd2003fyys".parse().unwrap(), &options, &mut Unobserved).unwrap()
    };
    PROFILE.get_or_init(made).clone()
}

fn shape(logical_block_bytes: u64, largest_transfer_bytes: u64) -> Shape {
    Shape {
        capacity_bytes: 1 << 40,
        logical_block_bytes,
        memory_alignment_bytes: 512,
        largest_transfer_bytes,
        access: Access::Direct,
        durable_writes: DurableWrites::Unknown,
        writable: false,
        discards: false,
    }
}

#[test]
fn times_are_those_of_the_cells() {
    let profile = profile();
    let (costs, missing) = read_costs(&profile, None).unwrap();
    // The modelled disk doesn't split requests and reports no limit.
    assert_eq!(missing, [MissingFigure::Split]);
    costs.check().unwrap();
    let small = costs.random.iter().find(|cost| (cost.request_bytes, cost.depth) == (4096, 1)).unwrap();
    // Half a revolution at 7200 rpm, and about twice that for the seek.
    assert!((4e-3..25e-3).contains(&small.seconds.value), "{small:?}");
    assert!(small.seconds.low < small.seconds.value && small.seconds.value < small.seconds.high, "{small:?}");
    let sequential = costs.sequential.iter().max_by_key(|cost| cost.request_bytes).unwrap();
    let bytes_per_second = sequential.request_bytes as f64 / sequential.seconds.value;
    assert!((5e7..2e8).contains(&bytes_per_second), "{sequential:?}");
    let cells =
        profile.cells.iter().filter(|cell| cell.cell.pattern == "random" && cell.cell.group_blocks == 1);
    assert!(costs.random.len() >= cells.count());
}

#[test]
fn a_measured_cell_goes_before_a_fitted_one_and_errors_count_as_not_measured() {
    let mut profile = profile();
    let cell = profile
        .cells
        .iter_mut()
        .find(|cell| cell.cell.pattern == "random" && cell.cell.group_blocks == 1)
        .unwrap();
    cell.steady_bandwidth_bytes_per_s = Interval { value: 5.0, low: 4.0, high: 10.0 };
    let (bytes, depth) = (cell.cell.block_bytes, cell.cell.queue_depth);
    let fitted = nandle_profile::FittedCell {
        block_bytes: bytes,
        queue_depth: depth,
        bandwidth_bytes_per_s: Interval::exact(1.0),
    };
    profile.fitted_cells.push(fitted);
    let found = |profile: &DeviceProfile| {
        let (costs, _) = read_costs(profile, None).unwrap();
        let of_cell: Vec<f64> = costs
            .random
            .iter()
            .filter(|cost| (cost.request_bytes, cost.depth) == (bytes, depth))
            .flat_map(|cost| [cost.seconds.value, cost.seconds.low, cost.seconds.high])
            .collect();
        of_cell.into_iter().map(|seconds| seconds / bytes as f64).collect::<Vec<_>>()
    };
    assert_eq!(found(&profile), [0.2, 0.1, 0.25]);
    profile
        .cells
        .iter_mut()
        .filter(|cell| cell.cell.block_bytes == bytes)
        .for_each(|cell| cell.cell.errors = 1);
    assert_eq!(found(&profile), [1.0, 1.0, 1.0]);
}

#[test]
fn what_is_split_or_not_transferred_bounds_the_longest_request() {
    let mut profile = profile();
    let longest = |profile: &DeviceProfile, shape: Option<&Shape>| {
        read_costs(profile, shape).unwrap().0.largest_request_bytes
    };
    profile.derived.split_bytes = Some(SplitSize { stated_bytes: Some(512 << 10), seen: None });
    assert_eq!(longest(&profile, None), 512 << 10);
    assert_eq!(longest(&profile, Some(&shape(512, 100_000))), 99_840);
    let seen = SplitObservation { whole_bytes: 128 << 10, ratio: None, sign: String::new() };
    profile.derived.split_bytes = Some(SplitSize { stated_bytes: Some(512 << 10), seen: Some(seen) });
    assert_eq!(longest(&profile, None), 128 << 10);
    assert_eq!(read_costs(&profile, Some(&shape(4096, 1 << 20))).unwrap().0.logical_block_bytes, 4096);
}

#[test]
fn what_is_missing_is_said() {
    let mut profile = profile();
    profile.derived.sequential_bandwidth_bytes_per_s_max = None;
    profile.derived.split_bytes = None;
    profile.cells.retain(|cell| cell.cell.queue_depth > 1 && cell.cell.pattern == "random");
    profile.fitted_cells.clear();
    let (costs, missing) = read_costs(&profile, None).unwrap();
    let expected = [MissingFigure::Split, MissingFigure::Sequential, MissingFigure::Alone];
    assert_eq!(missing, expected);
    assert!(costs.sequential.is_empty());
    let longest = profile
        .cells
        .iter()
        .filter(|cell| cell.cell.pattern == "random")
        .map(|cell| cell.cell.block_bytes)
        .max();
    assert!(costs.largest_request_bytes <= longest.unwrap());
    profile.system.queue = None;
    profile.system.direct_offset_alignment_bytes = None;
    assert!(matches!(read_costs(&profile, None), Err(CostsError::NoLogicalBlock { .. })));
    assert_eq!(read_costs(&profile, Some(&shape(512, 1 << 20))).unwrap().0.logical_block_bytes, 512);
    profile.cells.clear();
    let error = read_costs(&profile, None).unwrap_err();
    assert!(error.to_string().contains("nandle probe model:wd2003fyys"), "{error}");
}

#[test]
fn what_a_request_takes_of_a_processor_has_bounds_where_it_varies() {
    let mut profile = profile();
    let of_model = host_costs(&profile).request_seconds;
    let nanos = |estimate: Estimate| {
        [estimate.low, estimate.value, estimate.high].map(|seconds| format!("{:.0}", seconds * 1e9))
    };
    assert_eq!(nanos(of_model), ["2000"; 3], "a modelled processor takes 2 us for each");
    // Like a real one, where deep queues are processed in batches.
    let random = profile.cells.iter_mut().filter(|cell| cell.cell.pattern == "random");
    random.for_each(|cell| {
        let by_length = cell.cell.block_bytes as f64 / 4096.0;
        cell.cell.cpu_ns_per_request = 3000.0 + by_length + 20_000.0 / f64::from(cell.cell.queue_depth);
    });
    let of_real = host_costs(&profile).request_seconds;
    // The deepest queue has at most 64 requests, at the shortest size; longer requests take a
    // little more.
    assert!((3.3e-6..3.7e-6).contains(&of_real.value) && of_real.low >= of_real.value, "{of_real:?}");
    assert!(of_real.high > of_real.value && of_real.high < 6e-6, "{of_real:?}");
}

#[test]
fn batches_are_what_the_probe_measured_and_correct_the_cells() {
    let mut profile = profile();
    let is_at_once = |batch: &&Batch| batch.requests == u64::from(batch.queue_depth);
    let at_once = profile.batches.iter().filter(is_at_once).count();
    assert!(at_once > 4 && profile.batches.len() > at_once, "{:?}", profile.batches);
    let (costs, _) = read_costs(&profile, None).unwrap();
    assert_eq!(costs.batches.len(), at_once);
    costs.check().unwrap();
    // Repeated batches on a disk vary, and so will the next one.
    assert!(costs.batches.iter().all(|batch| batch.seconds.low < 0.95 * batch.seconds.high));
    let of = |profile: &DeviceProfile, depth: u32| {
        let (costs, _) = read_costs(profile, None).unwrap();
        let found = costs.random.into_iter().find(|cost| (cost.request_bytes, cost.depth) == (8192, depth));
        found.unwrap().seconds.value
    };
    let long = profile.batches.iter().find(|batch| batch.block_bytes == 8192 && !is_at_once(batch)).unwrap();
    let depth = long.queue_depth;
    // A long batch twice as slow per request as the cells, with a negligible spread.
    profile.batches.clear();
    let (alone, busy) = (of(&profile, 1), of(&profile, depth));
    let batch = |requests: u64, seconds: f64| {
        let nanos = std::time::Duration::from_secs_f64(seconds).as_nanos();
        let elapsed_ns = vec![u64::try_from(nanos).unwrap(); 3];
        Batch { block_bytes: 8192, requests, queue_depth: depth, elapsed_ns }
    };
    let queue = u64::from(depth);
    profile.batches = vec![batch(queue, 1.0), batch(11 * queue, 1.0 + 20.0 * f64::from(depth) * busy)];
    assert!((of(&profile, depth) / busy - 2.0).abs() < 0.1, "{} and {busy}", of(&profile, depth));
    assert!((of(&profile, 1) / alone - 1.0).abs() < 1e-9, "a single request at a time has no ends");
}

#[test]
fn groups_say_what_is_read_ahead_of_rows() {
    let mut profile = profile();
    let group = profile.cells.iter_mut().find(|cell| cell.cell.group_blocks == 4).unwrap();
    group.steady_bandwidth_bytes_per_s = Interval::exact(1000.0);
    let (bytes, depth) = (group.cell.block_bytes, group.cell.queue_depth);
    // Of equal groups the deepest counts.
    profile.cells.retain(|cell| {
        (cell.cell.block_bytes, cell.cell.group_blocks) != (bytes, 4) || cell.cell.queue_depth == depth
    });
    let (costs, _) = read_costs(&profile, None).unwrap();
    let sequence = costs
        .sequences
        .iter()
        .find(|sequence| (sequence.request_bytes, sequence.requests) == (bytes, 4))
        .unwrap();
    let single = profile
        .cells
        .iter()
        .map(|cell| (&cell.cell, cell.steady_bandwidth_bytes_per_s.value))
        .find(|(cell, _)| {
            (cell.block_bytes, cell.queue_depth, cell.group_blocks) == (bytes, depth, 1)
                && cell.pattern == "random"
        })
        .unwrap();
    // A continuing block takes no longer than a random one.
    let continued = costs.sequential.iter().filter(|cost| cost.request_bytes == bytes);
    let single = bytes as f64 / single.1;
    let continued = continued.map(|cost| cost.seconds.value).fold(single, f64::min);
    let expected = 4.0 * bytes as f64 / 1000.0 - single - 3.0 * continued;
    assert!((sequence.seconds.value / expected - 1.0).abs() < 1e-9, "{sequence:?} and {expected}");
    assert!(
        sequence.seconds.low <= sequence.seconds.value && sequence.seconds.value <= sequence.seconds.high
    );
}

#[test]
fn a_restless_device_has_wider_bounds() {
    let mut profile = profile();
    let steady = read_costs(&profile, None).unwrap().0.price_error;
    let reference = profile.conditions.reference.as_mut().unwrap();
    let slice = reference.series[0];
    // Eight of ten slices are alike, and one lies beyond the 90th percentile.
    let bandwidths = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 9.0];
    reference.series =
        bandwidths.map(|factor| ReferenceSlice { bandwidth_bytes_per_s: factor * 1e6, ..slice }).into();
    let restless = read_costs(&profile, None).unwrap().0.price_error;
    let of_fit = profile.fit.as_ref().unwrap().error_p90.ln_1p();
    let expected = of_fit.hypot(2.0_f64.ln()).exp_m1();
    assert!(restless > steady, "{restless} {steady}");
    assert!((restless - expected.min(0.9)).abs() < 1e-9, "{restless} {expected}");
}
