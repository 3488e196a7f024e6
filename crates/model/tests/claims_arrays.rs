//! Arrays of modelled drives: nothing here is fitted but the controllers' ceilings; what the papers say of arrays must
//! follow from the drives.
//!
//! Preconditions, where nothing else is said: the drives are filled once in order, the first 16 GiB of the array are
//! used, 5 µs of host processor per request (chosen).
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::book::{Entry, Verdict};
use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::array::{Array, ArrayError, ArrayParameters, Drive, LayoutParameters};
use nandle_model::flash::FlashDrive;
use nandle_model::library;

const KIB: u64 = 1 << 10;
const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

fn build(parameters: &ArrayParameters) -> Array {
    let drive = |name: &str| {
        let mut drive = FlashDrive::new(&library::flash(name).unwrap()).unwrap();
        drive.fill_sequentially(1.0).unwrap();
        Drive { capacity_bytes: drive.parameters().capacity_bytes, timing: Box::new(drive) }
    };
    Array::new(parameters, parameters.drive_names().map(drive).collect()).unwrap()
}

fn megabytes_per_s(parameters: &ArrayParameters, load: Load) -> f64 {
    let mut array = build(parameters);
    let requests = ((768 << 20) / load.block_bytes).clamp(300, 30_000);
    let area_bytes = array.capacity_bytes().min(16 << 30);
    run(&mut array, Load { requests, area_bytes, host_ns: 5_000, ..load }, 0).megabytes_per_s()
}

fn read(parameters: &ArrayParameters, pattern: Pattern, block_kib: u64, depth: usize) -> f64 {
    megabytes_per_s(parameters, Load { depth, ..Load::read(pattern, block_kib * KIB, 0) })
}

fn diat(chunk_kib: u64) -> ArrayParameters {
    let mut parameters = library::array("x25-m-4").unwrap();
    parameters.software = LayoutParameters::Raid0 { chunk_bytes: chunk_kib * KIB };
    parameters
}

#[test]
fn four_drives_give_a_gigabyte_and_one_controller_less() {
    let two_ports = diat(64);
    let mut one_controller = two_ports.clone();
    let fourth = one_controller.controllers.pop().unwrap();
    one_controller.controllers[0].drives.extend(fourth.drives);
    let [whole, shared] =
        [&two_ports, &one_controller].map(|array| read(array, Pattern::Sequential, 1024, 32));
    Entry {
        id: "DIAT array ceiling",
        paper: "≈ 800 MB/s on one controller, ≈ 1 GB/s with the fourth drive on a port of its own",
        precondition: "sequential 1 MB at depth 32, chunks of 64 KB",
        tolerance: "10 %",
        model: format!("{shared:.0} and {whole:.0} MB/s"),
        verdict: Verdict::Met,
    }
    .print();
    assert!((720.0..880.0).contains(&shared) && (900.0..1100.0).contains(&whole), "{shared} {whole}");
}

#[test]
fn a_block_smaller_than_the_stripe_needs_a_deeper_queue() {
    let array = diat(64);
    let best = read(&array, Pattern::Sequential, 1024, 32);
    let enough = |block_kib: u64| {
        [1, 2, 4, 8, 16, 32, 64]
            .into_iter()
            .find(|&depth| read(&array, RANDOM, block_kib, depth) > 0.85 * best)
    };
    let depths: Vec<Option<usize>> = [32, 64, 256, 1024].map(enough).to_vec();
    Entry {
        id: "DIAT array depth",
        paper: "the depth that a block size needs rises while a block is smaller than the stripe; from some block size on a \
                shallow queue is enough",
        precondition: "random, group 1, chunks of 64 KB (a stripe of 256 KB)",
        tolerance: "85 % of the best: with few requests at a time they don't spread evenly over four drives",
        model: format!("depth for 32 KB, 64 KB, 256 KB, 1 MB: {depths:?}"),
        verdict: Verdict::Met,
    }
    .print();
    let depths: Vec<usize> = depths.into_iter().map(Option::unwrap).collect();
    assert!(depths.is_sorted_by(|small, large| small >= large) && depths[0] > depths[3], "{depths:?}");
    assert!(depths[0] > 4 && depths[3] <= 4, "{depths:?}");
}

#[test]
fn the_drop_of_large_blocks_moves_up_with_the_number_of_drives() {
    let array = diat(64);
    let curve: Vec<f64> = [1, 2, 4, 8, 16].map(|mib| read(&array, RANDOM, mib * 1024, 4)).to_vec();
    Entry {
        id: "DIAT array drop",
        paper: "the large-block drop moves up with the number of drives (one drive: 2 MB)",
        precondition: "random, group 1, depth 4, chunks of 64 KB",
        tolerance: "no drop over 10 % below 8 MB, one at 8 MB",
        model: format!("1, 2, 4, 8, 16 MB: {curve:.0?} MB/s"),
        verdict: Verdict::Met,
    }
    .print();
    let best = curve.iter().copied().fold(0.0, f64::max);
    assert!(curve[..3].iter().all(|bandwidth| *bandwidth > 0.9 * best) && curve[3] < 0.9 * best, "{curve:?}");
}

#[test]
fn two_controllers_lift_the_ceiling() {
    let bandwidth = |name: &str| {
        let parameters = library::array(name).unwrap();
        read(&parameters, Pattern::Sequential, 1024, 32)
    };
    let [one, two] = ["x25-e-4-1ctl", "x25-e-4-2ctl"].map(bandwidth);
    Entry {
        id: "FlashyDB ceiling",
        paper: "one and two controllers, each with its own ceiling",
        precondition: "sequential 1 MB at depth 32",
        tolerance: "one: its ceiling within 5 %; two: at least 20 % more",
        model: format!("{one:.0} and {two:.0} MB/s"),
        verdict: Verdict::Met,
    }
    .print();
    assert!((one / 820.0 - 1.0).abs() < 0.05 && two > 1.2 * one, "{one} {two}");
}

#[test]
fn the_cache_takes_bursts_and_fills_up_under_load() {
    let mut parameters = library::array("x25-e-4-1ctl").unwrap();
    parameters.controllers[0].cache.as_mut().unwrap().bytes = 16 << 20;
    let mut array = build(&parameters);
    let area_bytes = array.capacity_bytes();
    let load = Load { depth: 1, requests: 500, ..Load::write(RANDOM, 4 * KIB, area_bytes) };
    let burst = run(&mut array, load, 0);
    let soaked = run(&mut array, Load { depth: 64, requests: 200_000, seed: 2, ..load }, burst.end_ns);
    let bound = run(&mut array, Load { depth: 64, requests: 200_000, seed: 3, ..load }, soaked.end_ns);
    assert!(burst.mean_latency_ns < 60_000.0, "{burst:?}");
    assert!(
        bound.requests_per_s < 40_000.0 && bound.mean_latency_ns > 10.0 * burst.mean_latency_ns,
        "{bound:?}"
    );
}

#[test]
fn mirrors_read_from_both_and_write_to_both() {
    let mut parameters = library::array("x25-e-4-1ctl").unwrap();
    parameters.controllers[0].cache = None;
    let striped = parameters.clone();
    parameters.controllers[0].hardware = LayoutParameters::Raid10 { chunk_bytes: 64 * KIB };
    let write = |parameters: &ArrayParameters| {
        megabytes_per_s(parameters, Load { depth: 32, ..Load::write(Pattern::Sequential, 256 * KIB, 0) })
    };
    let (mirrored, single) = (write(&parameters), write(&striped));
    assert!((0.4..0.6).contains(&(mirrored / single)), "{mirrored} {single}");
    let reads = |parameters: &ArrayParameters| read(parameters, RANDOM, 32, 32);
    assert!(reads(&parameters) > 0.85 * reads(&striped));
    assert_eq!(build(&parameters).capacity_bytes() * 2, build(&striped).capacity_bytes());
}

#[test]
fn wrong_arrays_are_refused() {
    let text = library::toml_of("x25-e-4-1ctl").unwrap();
    let odd = text.replace("raid0", "raid10").replace("\"x25-e-64\"]", "\"x25-e-64\", \"x25-e-64\"]");
    assert!(matches!(ArrayParameters::from_toml(&odd), Err(ArrayError::OddMembers { members: 5, .. })));
    let tiny = text.replace("chunk_bytes = 65_536", "chunk_bytes = 1");
    let error = ArrayParameters::from_toml(&tiny).unwrap_err();
    assert!(error.to_string().contains("nearest right value is 512"), "{error}");
    let error = Array::new(&ArrayParameters::from_toml(text).unwrap(), Vec::new()).err().unwrap();
    assert!(matches!(error, ArrayError::WrongNumberOfDrives { expected: 4, got: 0, .. }), "{error}");
}
