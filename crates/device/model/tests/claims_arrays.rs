//! Arrays of modelled drives. Only the controllers' ceilings are fitted; the papers' results for
//! arrays must follow from the drives.
//!
//! Default preconditions: the drives are filled once in order, the first 16 GiB of the array are
//! used, 5 µs of host processor per request (chosen).
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::arrays::{KIB, RANDOM, build, build_filled, megabytes_per_s, read};
use common::book::{Entry, Verdict};
use common::driver::{Load, Outcome, run};
use common::patterns::Pattern;
use nandle_model::array::{Array, ArrayError, ArrayParameters, LayoutParameters};
use nandle_model::library;
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

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
        tolerance: "one: its ceiling within 5 %; two: 20 to 40 % more",
        model: format!("{one:.0} and {two:.0} MB/s"),
        verdict: Verdict::Encoded(
            "the first figure is the controller's read_bytes_per_s, the second the sum of four drives' links",
        ),
    }
    .print();
    assert!((one / 820.0 - 1.0).abs() < 0.05 && (1.2..1.4).contains(&(two / one)), "{one} {two}");
}

/// Array with `drives` drives behind its first controller.
fn with_drives(drives: usize) -> ArrayParameters {
    let mut parameters = library::array("x25-e-4-1ctl").unwrap();
    parameters.controllers[0].drives.truncate(drives);
    parameters
}

/// The drives as simple volumes, striped by the host.
fn simple_volumes(drives: usize) -> ArrayParameters {
    let mut parameters = with_drives(drives);
    parameters.software = parameters.controllers[0].hardware;
    parameters.controllers[0].hardware = LayoutParameters::Simple;
    parameters
}

/// Requests of 8 KB at queue depth `depth`, on an array that is 70 % used.
fn load_of_8_kib(parameters: &ArrayParameters, load: Load, depth: usize) -> Outcome {
    let mut array = build(parameters);
    let area_bytes = array.capacity_bytes() / 10 * 7;
    run(&mut array, Load { depth, area_bytes, requests: 20_000, host_ns: 5_000, ..load }, 0)
}

#[test]
fn an_array_scales_by_drives_and_by_threads() {
    let reads = Load::read(RANDOM, 8 * KIB, 0);
    let [simple, hardware] = [simple_volumes, with_drives]
        .map(|array| [1, 2, 4].map(|drives| load_of_8_kib(&array(drives), reads, 32).requests_per_s));
    let four = simple_volumes(4);
    let by_depth = [1, 2, 4, 8, 16, 32].map(|depth| load_of_8_kib(&four, reads, depth).requests_per_s);
    Entry {
        id: "FlashyDB scaling, random reads",
        paper: "scaling by number of drives and by threads, up to the controller's ceiling",
        precondition: "8 KB, one controller; one, two, four drives at depth 32, four simple volumes at depth 1 … 32 (a \
                       thread has one request outstanding); 70 % used",
        tolerance: "simple volumes: two drives 1.9 to 2.1 times, four 3 to 4.2 times one, and each doubling of the depth gives \
                    1.1 to 2.1 times; RAID 0 in hardware: two drives 1.9 to 2.1 times, four the 50 000 to 60 000 of such firmware",
        model: format!(
            "by drives {simple:.0?} IOPS as simple volumes, {hardware:.0?} as RAID 0 in hardware; by threads {by_depth:.0?} IOPS"
        ),
        verdict: Verdict::Met,
    }
    .print();
    let gains = |rates: &[f64; 3]| [rates[1] / rates[0], rates[2] / rates[0]];
    let [two, four] = gains(&simple);
    assert!((1.9..2.1).contains(&two) && (3.0..4.2).contains(&four), "{simple:?}");
    assert!((1.9..2.1).contains(&gains(&hardware)[0]) && (50e3..60e3).contains(&hardware[2]), "{hardware:?}");
    assert!(by_depth.is_sorted_by(|fewer, more| (1.1..2.1).contains(&(more / fewer))), "{by_depth:?}");
}

#[test]
fn a_ceiling_shows_from_some_block_size_on() {
    let arrays = ["x25-e-4-1ctl", "x25-e-4-2ctl"].map(|name| library::array(name).unwrap());
    let curves = arrays
        .each_ref()
        .map(|array| [4, 8, 32, 128, 1024].map(|block_kib| read(array, RANDOM, block_kib, 32)).to_vec());
    Entry {
        id: "FlashyDB scaling, block sizes",
        paper: "one and two controllers scale by block size, each up to its ceiling",
        precondition: "random reads of 4 KB … 1 MB at depth 32",
        tolerance: "two have 1.1 to 2 times what one has at 8 KB, and 1.2 to 2 times at 1 MB; one comes within 5 % of its ceiling and \
                    never exceeds it",
        model: format!("4, 8, 32, 128, 1024 KB: {:.0?} and {:.0?} MB/s", curves[0], curves[1]),
        verdict: Verdict::Partly(
            "where both curves are flat they are parameters, the controller's read_bytes_per_s and four links; what follows is \
             where they part",
        ),
    }
    .print();
    let best = curves[0].iter().copied().fold(0.0, f64::max);
    assert!((780.0..821.0).contains(&best), "{curves:?}");
    let gain = |size: usize| curves[1][size] / curves[0][size];
    assert!((1.1..2.0).contains(&gain(1)) && (1.2..2.0).contains(&gain(4)), "{curves:?}");
}

#[test]
fn drives_nearly_full_slow_an_array_down() {
    let steady = |fill_percent: u64| {
        let mut parameters = with_drives(2);
        parameters.controllers[0].cache = None;
        let mut array = build_filled(&parameters, fill_percent as f64 / 100.0);
        let area_bytes = array.capacity_bytes() / 100 * fill_percent / 32_768 * 32_768;
        let load =
            Load { depth: 32, requests: area_bytes / (4 * KIB), ..Load::write(RANDOM, 8 * KIB, area_bytes) };
        let load = Load { warm_up: load.requests / 2, ..load };
        run(&mut array, load, 0).requests_per_s
    };
    let (emptier, fuller) = (steady(70), steady(92));
    Entry {
        id: "FlashyDB array, fill",
        paper: "an array over 90 % full is slower than one at 70 %",
        precondition: "two drives without controller cache, random writes of 8 KB at depth 32, twice the used area",
        tolerance: "by a quarter to three quarters",
        model: format!("{emptier:.0} IOPS at 70 %, {fuller:.0} IOPS at 92 %"),
        verdict: Verdict::Met,
    }
    .print();
    assert!((0.25..0.75).contains(&(fuller / emptier)), "{emptier} {fuller}");
}

#[test]
fn what_the_cache_holds_is_read_from_it() {
    let mut array = build(&with_drives(1));
    let area_bytes = array.capacity_bytes();
    let miss = run(&mut array, Load { requests: 100, ..Load::read(RANDOM, 4 * KIB, area_bytes) }, 0);
    // Writes arrive faster than a drive takes them. So the cache still holds the last one, and a
    // read of other data has to pass the writes already queued at the drive.
    let writes =
        Load { depth: 64, requests: 30_000, ..Load::write(Pattern::Sequential, 4 * KIB, area_bytes) };
    let written = run(&mut array, writes, miss.end_ns);
    let mut read = |now_ns: u64, offset_bytes| {
        let request =
            TimedRequest { id: 1, operation: TimedOperation::Read, offset_bytes, length_bytes: 4 * KIB };
        array.arrive(now_ns, request);
        let mut completed = Vec::new();
        while completed.is_empty() {
            array.advance(array.next_event_ns().unwrap(), &mut completed);
        }
        completed[0].completed_ns
    };
    let hit_ns = read(written.end_ns, (writes.requests - 1) * writes.block_bytes);
    assert!(((hit_ns - written.end_ns) as f64) < 0.3 * miss.mean_latency_ns, "{hit_ns} {written:?} {miss:?}");
    let passed_ns = read(hit_ns, area_bytes / 2);
    assert!(passed_ns - hit_ns < 20_000_000, "{} ns", passed_ns - hit_ns);
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

/// Each simple volume is a device of its own: a full cache destages to all four drives in parallel,
/// not to one after the other.
#[test]
fn a_full_cache_serves_simple_volumes_in_parallel() {
    let rate = |drives: usize| {
        let mut parameters = simple_volumes(drives);
        let controller = &mut parameters.controllers[0];
        controller.cache.as_mut().unwrap().bytes = (8 << 20) * drives as u64;
        controller.drives.iter_mut().for_each(|drive| "mtron-16".clone_into(drive));
        let mut array = build(&parameters);
        let load = Load::write(RANDOM, 4 * KIB, array.capacity_bytes());
        let load = Load { depth: 256, requests: 6_000 * drives as u64, ..load };
        run(&mut array, Load { warm_up: load.requests / 2, ..load }, 0).requests_per_s
    };
    let (one, four) = (rate(1), rate(4));
    assert!((3.0..4.4).contains(&(four / one)), "{one} of one drive, {four} of four");
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
