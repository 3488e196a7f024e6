//! Data-sheet figures of the drives, within 10 % where their physics allow.
//!
//! Preconditions: reads on a drive filled once in order; writes on a drive never written to (as
//! measured for data sheets); the whole model is used; no host cost.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::book::{Entry, Verdict};
use common::driver::{Load, Outcome, run};
use common::patterns::Pattern;
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library::{self, Model};
use nandle_model::timing::TimedOperation;

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };
const SEQUENTIAL: Pattern = Pattern::Sequential;
const FRESH: &str = "reads: filled in order; writes: never written; no host cost";

fn measure(parameters: &FlashParameters, load: Load) -> Outcome {
    let mut drive = FlashDrive::new(parameters).unwrap();
    if load.operation == TimedOperation::Read {
        drive.fill_sequentially(1.0).unwrap();
    }
    let requests = (1 << 30) / load.block_bytes;
    let load = Load {
        area_bytes: parameters.capacity_bytes,
        requests: requests.clamp(1_000, 50 * load.depth.max(400) as u64),
        ..load
    };
    run(&mut drive, load, 0)
}

/// Figures of a data sheet, and the model's. Times of chips and firmware are rarely published, so
/// they were fitted to the sheet: its figures are no evidence for the model of its drive.
struct Sheet {
    id: &'static str,
    /// Fitted parameters.
    fitted: &'static str,
    figures: Vec<(&'static str, f64, f64)>,
}

impl Sheet {
    fn check(&self) {
        let line = |(what, sheet, model): &(&str, f64, f64)| format!("{what} {model:.2} (sheet {sheet:.2})");
        Entry {
            id: self.id,
            paper: "data sheet, see the model's line",
            precondition: FRESH,
            tolerance: "10 %",
            model: self.figures.iter().map(line).collect::<Vec<_>>().join(", "),
            verdict: Verdict::Encoded(self.fitted),
        }
        .print();
        for (what, sheet, model) in &self.figures {
            assert!((model / sheet - 1.0).abs() <= 0.1, "{}: {what} is {model}, sheet {sheet}", self.id);
        }
    }
}

fn sequential(parameters: &FlashParameters) -> [f64; 2] {
    let large = |load| measure(parameters, Load { depth: 32, ..load }).megabytes_per_s();
    [large(Load::read(SEQUENTIAL, 128 << 10, 0)), large(Load::write(SEQUENTIAL, 128 << 10, 0))]
}

#[test]
fn intel_x25_m() {
    let parameters = library::flash("x25-m-g2").unwrap();
    let [read, write] = sequential(&parameters);
    let random = measure(&parameters, Load { depth: 32, ..Load::read(RANDOM, 4096, 0) });
    Sheet {
        id: "X25-M data sheet",
        fitted: "firmware.read_ns is one 35 000th of a second, chips.program_ns is fitted to the writes; the reads follow \
                 from the link, which is fitted to C1",
        figures: vec![
            ("MB/s read", 250.0, read),
            ("MB/s write", 100.0, write),
            ("IOPS read", 35_000.0, random.requests_per_s),
        ],
    }
    .check();
    let single = measure(&parameters, Load::read(RANDOM, 4096, 0)).mean_latency_ms();
    Entry {
        id: "X25-M data sheet, latency",
        paper: "75–85 µs for a read",
        precondition: FRESH,
        tolerance: "none",
        model: format!("{:.0} µs for 4 KB", single * 1e3),
        verdict: Verdict::Contradictory(
            "the cell's read and one page over a 50 MB/s channel alone take longer, and the DIAT paper's figures at \
             depth 1 need both",
        ),
    }
    .print();
}

#[test]
fn crucial_m4() {
    let parameters = library::flash("crucial-m4-256").unwrap();
    let [read, write] = sequential(&parameters);
    let random_write = measure(&parameters, Load { depth: 32, ..Load::write(RANDOM, 4096, 0) });
    Sheet {
        id: "Crucial M4 data sheet",
        fitted: "link.bytes_per_s, chips.program_ns and firmware.write_ns are fitted to the three",
        figures: vec![
            ("MB/s read", 415.0, read),
            ("MB/s write", 260.0, write),
            ("IOPS write", 50_000.0, random_write.requests_per_s),
        ],
    }
    .check();
}

#[test]
fn c40_crucial_m4_on_a_slow_port() {
    let mut parameters = library::flash("crucial-m4-256").unwrap();
    parameters.link.bytes_per_s = 285_000_000;
    let bandwidth = |load| measure(&parameters, Load { depth: 32, ..load }).megabytes_per_s();
    let read = bandwidth(Load::read(RANDOM, 4096, 0));
    let [peak, small, middle] =
        [1 << 20, 4096, 32 << 10].map(|block_bytes| bandwidth(Load::write(RANDOM, block_bytes, 0)));
    let port = bandwidth(Load::read(SEQUENTIAL, 1 << 20, 0));
    Entry {
        id: "C40 (SSD)",
        paper: "4 KB random reads over 188 MB/s; random writes near their peak from about 4 KB, at 32 KB close to the maximum; \
                port limit 300 MB/s",
        precondition: "SATA 3 Gb/s port (285 MB/s of data), depth 32 (open in the paper), reads filled in order, writes \
                       never written",
        tolerance: "reads 188 MB/s and at most a tenth more; near the peak: 0.7 to 1.05 times at 4 KB; close to it: within 5 % at 32 KB; \
                    port 270 to 300 MB/s",
        model: format!("read {read:.0}; write 4 KB {small:.0}, 32 KB {middle:.0}, 1 MB {peak:.0}; port {port:.0} MB/s"),
        verdict: Verdict::Encoded(
            "firmware.read_ns is fitted to the 188 MB/s, link.bytes_per_s is the port's limit, writes are fitted to the data \
             sheet's, whose 40 000 IOPS of reads would be 164 MB/s: there the two contradict each other",
        ),
    }
    .print();
    assert!((188.0..207.0).contains(&read) && (270.0..=300.0).contains(&port), "{read} {port}");
    assert!(
        (0.7..1.05).contains(&(small / peak)) && (0.95..1.05).contains(&(middle / peak)),
        "{small} {middle} {peak}"
    );
}

#[test]
fn samsung_mcaqe32() {
    let parameters = library::flash("samsung-mcaqe32").unwrap();
    let [read, write] = sequential(&parameters);
    let random_read = measure(&parameters, Load::read(RANDOM, 2048, 0)).mean_latency_ms();
    let append = measure(&parameters, Load::write(SEQUENTIAL, 2048, 0)).mean_latency_ms();
    Sheet {
        id: "MCAQE32 data sheet",
        fitted: "link.bytes_per_s, chips.dies_per_channel, firmware.read_ns and firmware.write_ns are fitted to the four",
        figures: vec![
            ("MB/s read", 56.0, read),
            ("MB/s write", 32.0, write),
            ("ms read of 2 KB", 0.2, random_read),
            ("ms write of 2 KB, appended", 0.4, append),
        ],
    }
    .check();
}

#[test]
fn sd_card() {
    let parameters = library::flash("sd-card").unwrap();
    let [_, write] = sequential(&parameters);
    let random = measure(&parameters, Load { requests: 1_000, ..Load::write(RANDOM, 4096, 0) });
    Entry {
        id: "SD card, class 10",
        paper: "at least 10 MB/s of sequential writes",
        precondition: FRESH,
        tolerance: "10 to 15 MB/s: a card that does more is sold as one of a higher class",
        model: format!("{write:.0} MB/s; random writes of 4 KB {:.0} IOPS", random.requests_per_s),
        verdict: Verdict::Encoded("chips.program_ns is fitted to it"),
    }
    .print();
    assert!(
        (10.0..15.0).contains(&write) && (2.0..50.0).contains(&random.requests_per_s),
        "{write} {random:?}"
    );
}

#[test]
fn seagate_savvio() {
    let measure = |load: Load| {
        let mut disk = Model::named("savvio-15k").unwrap().device().unwrap().timing;
        run(&mut disk, Load { requests: 4_000, ..load }, 0)
    };
    let whole = 146_000_000_000;
    let sequential = measure(Load { depth: 4, ..Load::read(SEQUENTIAL, 128 << 10, whole) });
    let queued = measure(Load { depth: 32, ..Load::read(RANDOM, 4096, whole) });
    let alone = measure(Load::read(RANDOM, 4096, whole)).mean_latency_ms();
    Sheet {
        id: "Savvio 15k data sheet",
        fitted: "the outermost zone's sectors are those that the 160 MB/s need, queue.positioning_margin_us is fitted to \
                 the 350 IOPS",
        figures: vec![
            ("MB/s read", 160.0, sequential.megabytes_per_s()),
            ("IOPS read at depth 32", 350.0, queued.requests_per_s),
        ],
    }
    .check();
    Entry {
        id: "Savvio 15k data sheet, latency",
        paper: "3.2 ms for a read",
        precondition: "4 KB, random over the whole disk, depth 1",
        tolerance: "none",
        model: format!("{alone:.1} ms"),
        verdict: Verdict::Contradictory(
            "a mean seek of 2.9 ms and half a revolution of 2 ms make 4.9 ms: the figure leaves the rotation out",
        ),
    }
    .print();
    assert!((4.9..5.4).contains(&alone), "{alone}");
}

#[test]
fn nvme_drives() {
    for (name, sheet) in [("nvme-tlc", [7_000.0, 5_000.0]), ("nvme-plp", [6_800.0, 4_000.0])] {
        let parameters = library::flash(name).unwrap();
        let [read, write] = sequential(&parameters);
        let random = measure(&parameters, Load { depth: 1_024, ..Load::read(RANDOM, 4096, 0) });
        Sheet {
            id: name,
            fitted: "link.bytes_per_s, link.write_bytes_per_s and firmware.read_ns are fitted to the three",
            figures: vec![
                ("MB/s read", sheet[0], read),
                ("MB/s write", sheet[1], write),
                ("M IOPS read at depth 1 024", 1.0, random.requests_per_s / 1e6),
            ],
        }
        .check();
    }
}
