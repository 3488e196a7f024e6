//! Cost of cleaning on a current data-centre drive: a Samsung PM9A3 of 3.84 TB (4 TiB of flash),
//! compared with `nvme-plp`.
//!
//! Preconditions: the model with 1 GiB, with erase blocks and buffer scaled down in proportion (256
//! superblocks of data); filled in order, then overwritten four times, like the preconditioning of
//! SNIA and SSD-iq; no host cost.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::book::{Entry, Verdict};
use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;

const RANDOM: Pattern = Pattern::RandomGroups { group: 1 };

fn parameters(name: &str) -> FlashParameters {
    let mut parameters = library::flash(name).unwrap();
    parameters.chips.pages_per_block = 1;
    parameters.write_buffer.bytes /= 32;
    parameters.with_capacity_bytes(1 << 30).unwrap()
}

/// Write amplification in the steady state, with `used_percent` of the drive in use.
fn amplification(parameters: &FlashParameters, used_percent: u64, pattern: Pattern) -> f64 {
    let mut drive = FlashDrive::new(parameters).unwrap();
    drive.fill_sequentially(used_percent as f64 / 100.0).unwrap();
    let area_bytes = parameters.capacity_bytes / 100 * used_percent / 4096 * 4096;
    let turn = Load { depth: 32, requests: area_bytes / 4096, ..Load::write(pattern, 4096, area_bytes) };
    let worn = run(&mut drive, Load { requests: 4 * turn.requests, ..turn }, 0);
    let before = drive.stats();
    run(&mut drive, Load { seed: 2, ..turn }, worn.end_ns);
    let after = drive.stats();
    let moved = (after.moved_units - before.moved_units) as f64;
    1.0 + moved / (after.host_written_units - before.host_written_units) as f64
}

#[test]
fn a_full_drive_writes_flash_as_often_as_its_data_sheet_implies() {
    let model = amplification(&parameters("nvme-plp"), 100, RANDOM);
    Entry {
        id: "PM9A3 data sheet, random writes",
        paper: "3.5 GB/s in order, 200 000 random writes of 4 KB a second (0.82 GB/s): flash takes 4.3 × what random writes \
                bring, if it is what limits both",
        precondition: "whole drive, uniform random writes of 4 KB, steady state; spare 1.145 as 4 TiB of flash for 3.84 TB",
        tolerance: "10 %",
        model: format!("write amplification {model:.2}"),
        verdict: Verdict::Met,
    }
    .print();
    let sheet = 3.5e9 / (200_000.0 * 4096.0);
    assert!((model / sheet - 1.0).abs() < 0.1, "{model}, data sheet {sheet}");
}

#[test]
fn ninety_percent_of_a_drive_under_skewed_writes() {
    let [plp, tlc] = ["nvme-plp", "nvme-tlc"].map(parameters);
    let [zipf, uniform] = [Pattern::Zipf, RANDOM].map(|pattern| amplification(&plp, 90, pattern));
    let consumer = amplification(&tlc, 90, Pattern::Zipf);
    Entry {
        id: "PM9A3 at 90 %, ZLeanStore",
        paper: "18.85 KiB of flash for a page of 4 KiB updated in place, 90 % full, Zipf 0.8 (arXiv 2603.09927). The authors' \
                program writes every page twice there (doublewrite), so the drive itself wrote 2.36 × what it was given",
        precondition: "90 % of the drive used, the rest never written; steady state; that the paper's runs kept the program's \
                       default of writing twice is inferred from its source",
        tolerance: "15 %; uniform writes as skewed ones; all within the 2 to 5 of reviews of such drives at 90 %",
        model: format!("Zipf {zipf:.2}, uniform {uniform:.2}; nvme-tlc, with less spare, Zipf {consumer:.2}"),
        verdict: Verdict::Met,
    }
    .print();
    let paper = 18.85 / 4.0 / 2.0;
    assert!((zipf / paper - 1.0).abs() < 0.15, "{zipf}, paper {paper}");
    assert!((uniform / zipf - 1.0).abs() < 0.15, "{uniform} {zipf}");
    assert!([zipf, uniform, consumer].iter().all(|times| (2.0..5.0).contains(times)), "{uniform} {consumer}");
    assert!(consumer > zipf, "less spare: {consumer} {zipf}");
}
