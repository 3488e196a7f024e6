//! C20–C23: measurements of an Intel X25-E in `FlashyDB` (TU Darmstadt 2010), and its data sheet,
//! compared with the model.
//!
//! Default preconditions: a model of 2 GB whose first 70 % are written and used (the paper: "up to
//! 70 % full"); 5 µs of host processor per request (chosen). "Aged" is after random writes of three
//! times the used area at depth 32 (chosen, for the paper's hours).
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::book::{Entry, Verdict};
use common::driver::{Load, Outcome, run};
use common::patterns::Pattern;
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };
const SEQUENTIAL: Pattern = Pattern::Sequential;

/// A drive with its own clock.
struct Bench {
    drive: FlashDrive,
    area_bytes: u64,
    now_ns: u64,
}

fn parameters() -> FlashParameters {
    library::flash("x25-e-64").unwrap().with_capacity_bytes(2 << 30).unwrap()
}

impl Bench {
    fn new(parameters: &FlashParameters, fill_percent: u64) -> Self {
        let mut drive = FlashDrive::new(parameters).unwrap();
        drive.fill_sequentially(fill_percent as f64 / 100.0).unwrap();
        let area_bytes = parameters.capacity_bytes / 100 * fill_percent / 32_768 * 32_768;
        Self { drive, area_bytes, now_ns: 0 }
    }

    fn run(&mut self, load: Load) -> Outcome {
        let outcome =
            run(&mut self.drive, Load { host_ns: 5_000, area_bytes: self.area_bytes, ..load }, self.now_ns);
        self.now_ns = outcome.end_ns;
        outcome
    }

    fn age(&mut self, block_bytes: u64) {
        let requests = 3 * self.area_bytes / block_bytes;
        self.run(Load { depth: 32, requests, seed: 9, ..Load::write(RANDOM, block_bytes, 0) });
    }
}

/// Mean latencies in milliseconds of sequential and random reads, sequential and random writes;
/// then the maxima.
fn latencies(parameters: &FlashParameters, block_bytes: u64, aged: bool) -> ([f64; 4], [f64; 4]) {
    let mut bench = Bench::new(parameters, 70);
    let loads = [
        Load::read(SEQUENTIAL, block_bytes, 0),
        Load::read(RANDOM, block_bytes, 0),
        Load::write(SEQUENTIAL, block_bytes, 0),
        Load::write(RANDOM, block_bytes, 0),
    ];
    let outcomes = loads.map(|load| {
        if aged && matches!(load.pattern, Pattern::RandomGroups { .. }) {
            bench.age(block_bytes);
        }
        bench.run(Load { requests: 20_000, ..load })
    });
    (outcomes.each_ref().map(Outcome::mean_latency_ms), outcomes.each_ref().map(Outcome::max_latency_ms))
}

fn within(value: f64, target: f64, tolerance: f64) -> bool {
    (value / target - 1.0).abs() <= tolerance
}

#[test]
fn c20_mean_latencies() {
    let cached = parameters();
    let mut uncached = cached.clone();
    uncached.write_buffer.acknowledges_early = false;
    let (on, _) = latencies(&cached, 4096, false);
    let (off, _) = latencies(&uncached, 4096, false);
    let (aged, longest) = latencies(&cached, 8192, true);
    Entry {
        id: "C20",
        paper: "ms, cache on / off: sequential read 0.053; sequential write 0.059 / 0.455; random read 0.167; random write \
                0.113 / 0.435; maxima reads 12, sequential write 95 / 100, random write 175 / 101",
        precondition: "depth 1, 4 KB and no cleaning yet, except: random patterns also with 8 KB and aged (block size and \
                       state are open in the paper)",
        tolerance: "15 % for the sequential ones and all without cache; 25 % for random reads and for aged random writes; longest \
                    sequential write 25 %; random writes of a new drive and the longest random write are missed",
        model: format!(
            "sequential read {:.3}; sequential write {:.3} / {:.3}; random read {:.3} (8 KB: {:.3}); random write {:.3} \
             (8 KB, aged: {:.3}) / {:.3}; longest sequential write {:.0}, random write {:.0}",
            on[0], on[2], off[2], on[1], aged[1], on[3], aged[3], off[3], longest[2], longest[3]
        ),
        verdict: Verdict::Partly(
            "random reads: the paper's 0.167 and its data sheet's 0.075 ms differ by a factor of two; the model lies \
             between them while new, above both once worn; random writes: the paper does not say how worn the drive was, and a new one takes half of its time; the longest random write \
             is half as long at this filling, the next entry shows at which it isn't; \
             of the sequential ones firmware.write_ns is fitted to the 0.059 and chips.program_ns to the 0.455; reads never meet cleaning here, so \
             their longest is their mean. The longest sequential write is fitted (mapping.pace), the next entry is what follows",
        ),
    }
    .print();
    assert!(within(on[0], 0.053, 0.15) && within(on[2], 0.059, 0.15), "{on:?}");
    assert!(within(off[2], 0.455, 0.15) && within(off[3], 0.435, 0.15), "{off:?}");
    assert!(within(on[1], 0.167, 0.25), "{on:?}");
    assert!(within(longest[2], 95.0, 0.25) && within(aged[3], 0.113, 0.25), "{longest:?} {aged:?}");
    // Missed, as in the entry.
    assert!(within(on[3], 0.113 / 2.0, 0.1) && within(longest[3], 175.0 / 2.0, 0.15), "{on:?} {longest:?}");
}

#[test]
fn c21_sequential_write_bandwidth() {
    let cached = parameters();
    let mut uncached = cached.clone();
    uncached.write_buffer.acknowledges_early = false;
    let write = |parameters: &FlashParameters, block_bytes: u64, depth: usize| {
        let load = Load { depth, requests: 4_000, ..Load::write(SEQUENTIAL, block_bytes, 0) };
        Bench::new(parameters, 70).run(load).megabytes_per_s()
    };
    let on = write(&cached, 128 << 10, 32);
    let off =
        [(4 << 10, 1), (32 << 10, 1), (128 << 10, 1)].map(|(block, depth)| write(&uncached, block, depth));
    Entry {
        id: "C21",
        paper: "sequential write ≈ 189 MB/s with the cache on, much lower with it off",
        precondition: "on: 128 KB at depth 32; off: 4, 32, 128 KB at depth 1 (sizes and depth open in the paper)",
        tolerance: "10 %; off 15 % of the 9 MB/s that C20's 0.455 ms are at 4 KB, and less than half at 32 KB",
        model: format!("{on:.0} MB/s; off {:.0} / {:.0} / {:.0} MB/s", off[0], off[1], off[2]),
        verdict: Verdict::Encoded(
            "chips.dies_per_channel is fitted to the 189 MB/s, which chips.program_ns is not; that it is much less without \
             the cache follows",
        ),
    }
    .print();
    assert!(within(on, 189.0, 0.1), "{on}");
    assert!(within(off[0], 4.096 / 0.455, 0.15) && off[1] < on / 2.0 && off[0] < off[1], "{off:?}");
}

#[test]
fn c22_reads_are_up_to_ten_times_faster_than_writes() {
    let mut bench = Bench::new(&parameters(), 100);
    let read = bench.run(Load { depth: 32, requests: 20_000, ..Load::read(RANDOM, 4096, 0) }).requests_per_s;
    bench.age(4096);
    let write =
        bench.run(Load { depth: 32, requests: 150_000, ..Load::write(RANDOM, 4096, 0) }).requests_per_s;
    Entry {
        id: "C22",
        paper: "random throughput: reads up to 10 × writes; data sheet 35 000 / 3 300 IOPS (10.6 ×)",
        precondition: "4 KB, depth 32, wholly filled, aged (the data sheet's state is open)",
        tolerance: "reads 10 %, writes a factor of 1.25; ratio 8–12",
        model: format!("{read:.0} / {write:.0} IOPS, {:.1} ×", read / write),
        verdict: Verdict::Partly(
            "the rate of reads is the processor time that was taken from the data sheet. Random writes are fitted to nothing \
             here: they follow from 64 GiB of flash for 64 GB, less the blocks that SLC chips may have bad and the map's space",
        ),
    }
    .print();
    assert!(within(read, 35_000.0, 0.1), "{read}");
    assert!((3_300.0 / 1.25..3_300.0 * 1.25).contains(&write), "{write}");
    assert!((8.0..12.0).contains(&(read / write)), "{}", read / write);
}

// long: one claim, from its loads to its verdict
#[test]
fn c23_what_fragmentation_costs() {
    let loads = [
        Load { depth: 1, ..Load::read(SEQUENTIAL, 8192, 0) },
        Load { depth: 32, ..Load::read(RANDOM, 8192, 0) },
        Load { depth: 1, ..Load::write(SEQUENTIAL, 8192, 0) },
        Load { depth: 32, ..Load::write(RANDOM, 8192, 0) },
    ];
    let single_read = Load { requests: 15_000, ..Load::read(RANDOM, 8192, 0) };
    let mut bench = Bench::new(&parameters(), 70);
    let fresh_single = bench.run(single_read).bytes_per_s;
    let fresh = loads.map(|load| bench.run(Load { requests: 15_000, ..load }).bytes_per_s);
    bench.age(8192);
    let aged_single = bench.run(single_read).bytes_per_s;
    let written_before = bench.drive.stats();
    let whole_pass = bench.area_bytes / 8192;
    let requests = [15_000, 15_000, whole_pass, 60_000];
    let mut aged = [0.0; 4];
    for pattern in 0..3 {
        let load = Load { requests: requests[pattern], seed: 2, ..loads[pattern] };
        aged[pattern] = bench.run(load).bytes_per_s;
    }
    bench.age(8192);
    aged[3] = bench.run(Load { requests: requests[3], seed: 2, ..loads[3] }).bytes_per_s;
    let written = bench.drive.stats();
    let moved = (written.moved_units - written_before.moved_units) as f64;
    let amplification = 1.0 + moved / (written.host_written_units - written_before.host_written_units) as f64;
    let change: Vec<f64> =
        aged.iter().zip(&fresh).map(|(after, before)| (after / before - 1.0) * 100.0).collect();
    Entry {
        id: "C23, reads",
        paper: "at 70 %, 8 KB: sequential reads −52 %, random reads −11 %",
        precondition: "sequential at depth 1, random at depth 32 (chosen: the paper's depth is open), right after the random \
                       writes",
        tolerance: "10 percentage points; random reads are missed by 11",
        model: format!(
            "{:+.0} / {:+.0} %; random reads at depth 1 {:+.0} %",
            change[0],
            change[1],
            (aged_single / fresh_single - 1.0) * 100.0
        ),
        verdict: Verdict::Partly(
            "read_ahead.physically_sequential is fitted to the sequential reads. Random reads lose nothing: a map that is fetched by \
             pages would make them slower, but on a full drive by a third, which no source has",
        ),
    }
    .print();
    Entry {
        id: "C23, writes",
        paper: "at 70 %, 8 KB: sequential writes −18 %, random writes −50 %",
        precondition: "sequential at depth 1, random at depth 32 (chosen: the paper's depth is open); sequential writes as the \
                       mean of one pass over the used area after random ones; spare space is the drive's own",
        tolerance: "10 percentage points",
        model: format!("{:+.0} / {:+.0} %, write amplification {amplification:.2}", change[2], change[3]),
        verdict: Verdict::Met,
    }
    .print();
    assert!((change[0] + 52.0).abs() < 10.0, "{change:?}");
    assert!(change[1].abs() < 1.0, "the entry says that random reads are missed: {change:?}");
    assert!((change[2] + 18.0).abs() < 10.0, "{change:?}");
    assert!((change[3] + 50.0).abs() < 10.0, "{change:?}");
}

#[test]
fn c20_pauses_of_a_fuller_drive() {
    let longest = [70, 80, 90, 98].map(|fill_percent| {
        let mut bench = Bench::new(&parameters(), fill_percent);
        bench.age(8192);
        let load = Load { requests: 20_000, seed: 3, ..Load::write(RANDOM, 8192, 0) };
        bench.run(load).max_latency_ms()
    });
    Entry {
        id: "C20, pauses",
        paper: "longest writes: sequential 95 ms, random 175 ms with the cache, 100 and 101 without",
        precondition: "random writes of 8 KB at depth 1, 70, 80, 90, 98 % full, aged (the paper's filling is open)",
        tolerance: "all within 80–250 ms, 175 among them",
        model: format!("{} ms", longest.map(|longest| format!("{longest:.0}")).join(" / ")),
        verdict: Verdict::Met,
    }
    .print();
    assert!(longest.iter().all(|longest| (80.0..250.0).contains(longest)), "{longest:?}");
    assert!(longest[0] < 175.0 && longest[3] > 175.0, "{longest:?}");
}

#[test]
fn over_ninety_percent_full_random_writes_fall_further() {
    let speed = |fill_percent| {
        let mut bench = Bench::new(&parameters(), fill_percent);
        bench.age(8192);
        bench
            .run(Load { depth: 32, requests: 15_000, seed: 3, ..Load::write(RANDOM, 8192, 0) })
            .megabytes_per_s()
    };
    let speeds = [50, 70, 90, 98].map(speed);
    assert!(speeds.is_sorted_by(|emptier, fuller| *fuller < emptier * 0.9), "{speeds:?}");
}
