//! Longer sequential runs of reads are no slower, except through a mechanism with a source.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use common::driver::{Load, run};
use common::patterns::Pattern;
use nandle_model::library::{self, Model, ModelKind};
use nandle_model::timing::Timing;

const RUNS: [u64; 8] = [1, 2, 3, 4, 5, 8, 16, 64];

/// Drives whose longer runs may be slower, and the reason.
const MECHANISMS: [(&str, &str); 5] = [
    (
        "x25-m-g2",
        "read-ahead that starts with the fourth request in a row and fetches what a short run doesn't want (DIAT: C4, C8)",
    ),
    ("x25-e-64", "has the controller of the X25-M"),
    ("crucial-m4-256", "read-ahead, assumed to be like that of the X25-M"),
    (
        "samsung-mcaqe32",
        "read-ahead after two requests, without which it doesn't reach its data sheet's 56 MB/s",
    ),
    ("sd-card", "read-ahead after two requests, assumed"),
];

/// MB/s of random reads in runs of each length, at depth 1.
fn by_run<T: Timing>(new: impl Fn() -> T, block_bytes: u64, area_bytes: u64) -> [f64; 8] {
    RUNS.map(|group| {
        let load = Load::read(Pattern::RandomGroups { group }, block_bytes, area_bytes);
        run(&mut new(), Load { requests: 1_920, ..load }, 0).megabytes_per_s()
    })
}

/// Least ratio of a longer run's rate to the best rate of a shorter one.
fn least_part(by_run: &[f64; 8]) -> f64 {
    let mut best = 0.0_f64;
    let parts = by_run.iter().map(|rate| {
        best = best.max(*rate);
        rate / best
    });
    parts.fold(1.0, f64::min)
}

#[test]
fn no_model_gets_slower_with_longer_runs_without_a_stated_mechanism() {
    // The controller of this array reads 32 MiB ahead from the third sequential request on
    // (`read_ahead`, assumed), which makes runs of three five times slower than pairs.
    for name in library::names().filter(|name| *name != "regola-raid10") {
        let model = Model::named(name).unwrap();
        let facts = model.facts().unwrap();
        let is_array = model.kind() == ModelKind::Array;
        let area_bytes = facts.capacity_bytes / if is_array { 4 } else { 1 };
        for block_bytes in [4 << 10, 32 << 10] {
            let rates = if model.kind() == ModelKind::Flash {
                let parameters = library::flash(name).unwrap();
                by_run(|| filled(&parameters), block_bytes, area_bytes)
            } else {
                by_run(|| model.device().unwrap().timing, block_bytes, area_bytes)
            };
            let mechanism = mechanism(name);
            let least = if mechanism.is_some() { 0.6 } else { 0.95 };
            assert!(
                least_part(&rates) >= least,
                "{name}, {block_bytes} bytes in runs of {RUNS:?}: {rates:.1?} MB/s, stated is {mechanism:?}"
            );
        }
    }
}

/// Mechanism of a drive, or of the drives of an array.
fn mechanism(name: &str) -> Option<&'static str> {
    let array = library::array(name).ok();
    let drives = array.as_ref().map_or(vec![name], |array| array.drive_names().collect());
    MECHANISMS.iter().find(|(slower, _)| drives.contains(slower)).map(|(_, why)| *why)
}

fn filled(parameters: &nandle_model::flash::FlashParameters) -> nandle_model::flash::FlashDrive {
    let mut drive = nandle_model::flash::FlashDrive::new(parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    drive
}
