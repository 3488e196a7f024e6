//! Break-even of fetching rows by number from a table of 100 million rows: the number of random
//! page fetches on a busy device that take as long as a sequential scan. Compares the prediction
//! from a probe with a run on the target (papers' notes, Graefe's figures for an index).
//!
//! `cargo run --release -p nandle-predict --example break_even -- TARGET [ROWS [ROW_BYTES
//! [PAGE_BYTES]]]` prints a JSON object.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a program"
)]

use std::time::SystemTime;

use nandle_predict::{CostsSource, Player, PlayerOptions};
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_reads::{FileId, Groups, PlanOptions, Pricing, Strategy, Want};
use nandle_session::{Access, Cancel, Unobserved};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

const MEMORY_BYTES: u64 = 64 << 20;
/// Bytes per step of a scan.
const STEP_BYTES: u64 = 4 << 20;
/// Fetches outstanding: more than any of the drives needs.
const DEPTH: u32 = 32;
/// The time of fetches is nearly proportional to their number, so a few steps suffice.
const STEPS: u32 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().unwrap_or_else(|| "model:crucial-m4-256".to_owned());
    let mut number = |default: u64| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (rows, row_bytes, page_bytes) = (number(100_000_000), number(100), number(8 << 10));
    let file_bytes = (rows * row_bytes).next_multiple_of(STEP_BYTES);
    let recording = Recording {
        files: vec![RecordedFile { name: None, length_bytes: file_bytes, groups: Groups::Every(STEP_BYTES) }],
        queries: vec![scan(file_bytes)],
    };
    let options = PlayerOptions {
        access: Access::default(),
        costs: CostsSource::Probe(None),
        made_at: SystemTime::now(),
        cancel: Cancel::default(),
    };
    let mut player = Player::open(&target.parse().unwrap(), &recording, &options, &mut Unobserved).unwrap();
    let mut seconds = |query: &RecordedQuery, strategy| {
        let options = PlanOptions { strategy, ..PlanOptions::new(MEMORY_BYTES) };
        player.play(query, options, 1.0).unwrap().time_ns as f64 / 1e9
    };
    let scan_seconds = seconds(&scan(file_bytes), Strategy::Flexible);
    let mut fetches = 10_000.0;
    for _ in 0..STEPS {
        let query = fetched(fetches as u64, file_bytes / page_bytes, page_bytes);
        fetches *= scan_seconds / seconds(&query, Strategy::OneByOne { depth: DEPTH });
    }
    let predicted = Pricing::new(player.costs().clone()).unwrap().break_even_fetches(page_bytes, file_bytes);
    let line = json!({
        "target": target, "rows": rows, "row_bytes": row_bytes, "page_bytes": page_bytes,
        "scan_seconds": scan_seconds, "predicted_rows": predicted, "measured_rows": fetches,
    });
    println!("{line}");
}

fn scan(file_bytes: u64) -> RecordedQuery {
    let steps = u32::try_from(file_bytes / STEP_BYTES).unwrap();
    query((0..steps).map(|step| (u64::from(step) * STEP_BYTES, STEP_BYTES)).collect())
}

/// Pages in random order, as an index returns them.
fn fetched(count: u64, pages: u64, page_bytes: u64) -> RecordedQuery {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(count);
    query((0..count).map(|_| (random.random_range(0..pages) * page_bytes, page_bytes)).collect())
}

/// One step per range of the file.
fn query(stretches: Vec<(u64, u64)>) -> RecordedQuery {
    let wants = (0..).zip(stretches).map(|(step, (offset_bytes, length_bytes))| Want {
        file: FileId(0),
        offset_bytes,
        length_bytes,
        step,
    });
    let wants: Vec<Want> = wants.collect();
    RecordedQuery {
        name: None,
        text: None,
        cpu_after_ns: vec![0; wants.len()],
        wants,
        totals: QueryTotals::default(),
    }
}
