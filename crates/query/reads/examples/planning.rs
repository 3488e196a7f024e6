//! Measures planning time for 200 000 wants of pages, from every second to every thousandth page of
//! a file.
//!
//! `cargo run --release -p nandle-reads --example planning` prints a JSON object for each.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "it is a program")]

use std::time::Instant;

use nandle_reads::{Estimate, FileId, Plan, PlanFile, PlanOptions, ReadCosts, RequestCost, Strategy, Want};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

const WANTS: u32 = 200_000;
const ROUNDS: usize = 9;
/// Wants per step.
const STEP: u32 = 16;

fn main() {
    for (name, access_seconds, bytes_per_second, depth) in
        [("flash", 80e-6, 3e9, 32), ("disk", 8e-3, 1.5e8, 1)]
    {
        for page_bytes in [4096_u64, 16_384] {
            for one_in in [1_u64, 2, 10, 100, 1000] {
                let wants = wants(page_bytes, one_in);
                let file = PlanFile::new(wants.last().unwrap().end_bytes(), 4096);
                let costs = costs(access_seconds, bytes_per_second, depth);
                let options = PlanOptions { strategy: Strategy::Flexible, ..PlanOptions::new(256 << 20) };
                let mut milliseconds: Vec<f64> = (0..ROUNDS)
                    .map(|_| {
                        let wants = wants.clone();
                        let began = Instant::now();
                        let plan = Plan::new(wants, std::slice::from_ref(&file), &costs, options).unwrap();
                        assert!(!plan.reads().is_empty());
                        began.elapsed().as_secs_f64() * 1e3
                    })
                    .collect();
                milliseconds.sort_by(f64::total_cmp);
                println!(
                    "{}",
                    json!({ "device": name, "page_bytes": page_bytes, "one_in": one_in, "milliseconds": milliseconds[ROUNDS / 2] })
                );
            }
        }
    }
}

fn wants(page_bytes: u64, one_in: u64) -> Vec<Want> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(one_in);
    let mut page = 0;
    let want = |number| {
        page += if one_in == 1 { 1 } else { random.random_range(1..2 * one_in) };
        Want {
            file: FileId(0),
            offset_bytes: page * page_bytes,
            length_bytes: page_bytes,
            step: number / STEP,
        }
    };
    (0..WANTS).map(want).collect()
}

fn costs(access_seconds: f64, bytes_per_second: f64, depth: u32) -> ReadCosts {
    let random = (12..=20).map(|power| {
        let request_bytes = 1_u64 << power;
        let transfer = request_bytes as f64 / bytes_per_second;
        let seconds = ((access_seconds + transfer) / f64::from(depth)).max(transfer);
        RequestCost { request_bytes, depth, seconds: Estimate::exact(seconds) }
    });
    let sequential = RequestCost {
        request_bytes: 1 << 20,
        depth,
        seconds: Estimate::exact(f64::from(1 << 20) / bytes_per_second),
    };
    ReadCosts {
        logical_block_bytes: 4096,
        largest_request_bytes: 512 << 10,
        random: random.collect(),
        sequential: vec![sequential],
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
    }
}
