//! Measured and predicted time of each strategy on a target, for different shares of wanted pages,
//! scattered or clustered.
//!
//! `cargo run --release -p nandle-predict --example strategies -- TARGET [FILE_BYTES [PAGE_BYTES
//! [MEMORY_BYTES]]]` prints a JSON object for each run.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::time::SystemTime;

use nandle_predict::{CostsSource, Player, PlayerOptions};
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_reads::{FileId, Groups, Plan, PlanOptions, Strategy, Want};
use nandle_session::{Access, Cancel, Unobserved};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

/// Pages of a cluster, and of a step.
const CLUSTER_PAGES: u64 = 64;
/// Pages of a group, as the paper's 2 KiB blocks of a 32 KiB group.
const GROUP_PAGES: u64 = 16;
/// Wanted pages of 10 000.
const SHARES: [u64; 9] = [1, 10, 50, 100, 300, 1000, 3000, 6000, 10_000];
/// Runs of each strategy; on a real device in turns.
const ROUNDS: u32 = 3;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().unwrap_or_else(|| "model:nvme-tlc".to_owned());
    let mut number = |default: u64| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (file_bytes, page_bytes, memory_bytes) = (number(1 << 30), number(8 << 10), number(64 << 20));
    let queries = ["scattered", "clustered"]
        .iter()
        .flat_map(|shape| SHARES.map(|share| query(shape, share, file_bytes / page_bytes, page_bytes)));
    let groups = Groups::Every(page_bytes * GROUP_PAGES);
    let recording = Recording {
        files: vec![RecordedFile { name: None, length_bytes: file_bytes, groups }],
        queries: queries.collect(),
    };
    let options = PlayerOptions {
        access: Access::default(),
        costs: CostsSource::Probe(None),
        made_at: SystemTime::now(),
        cancel: Cancel::default(),
    };
    let mut player = Player::open(&target.parse().unwrap(), &recording, &options, &mut Unobserved).unwrap();
    let strategies = [
        ("flexible", Strategy::Flexible),
        ("fixed-block", Strategy::FixedBlock { block_bytes: None }),
        ("whole-group", Strategy::WholeGroup),
        ("one-by-one:1", Strategy::OneByOne { depth: 1 }),
        ("one-by-one:32", Strategy::OneByOne { depth: 32 }),
    ];
    let rounds = if player.is_modelled() { 1 } else { ROUNDS };
    for query in &recording.queries {
        for round in 0..rounds {
            for (name, strategy) in strategies {
                let options = PlanOptions { strategy, ..PlanOptions::new(memory_bytes) };
                let wants = query.wants.clone();
                let plan = Plan::new(wants, &player.layout().files, player.costs(), options).unwrap();
                let predicted = plan.predict(player.host(), |_| 0.0);
                let result = player.play(query, options, 1.0).unwrap();
                let run = json!({
                    "target": target, "query": query.name, "round": round, "strategy": name,
                    "seconds": result.time_ns as f64 / 1e9,
                    "predicted": predicted.seconds.value, "low": predicted.seconds.low, "high": predicted.seconds.high,
                    "requests": result.requests, "read_bytes": result.read_bytes, "wanted_bytes": result.wanted_bytes,
                });
                println!("{run}");
            }
        }
    }
}

/// Wants `share` of 10 000 pages of a file, in file order.
fn query(kind: &str, share: u64, all_pages: u64, bytes_of_page: u64) -> RecordedQuery {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(share);
    let run = if kind == "clustered" { CLUSTER_PAGES } else { 1 };
    let chosen = (0..all_pages / run).filter(|_| random.random_range(0..10_000) < share);
    let wanted = chosen.flat_map(|number| number * run..(number + 1) * run);
    let wants: Vec<Want> = (0_u64..)
        .zip(wanted)
        .map(|(number, page)| Want {
            file: FileId(0),
            offset_bytes: page * bytes_of_page,
            length_bytes: bytes_of_page,
            step: u32::try_from(number / CLUSTER_PAGES).unwrap(),
        })
        .collect();
    let steps = wants.last().map_or(0, |want| want.step as usize + 1);
    RecordedQuery {
        name: Some(format!("{kind} {:.2} %", share as f64 / 100.0)),
        text: None,
        wants,
        cpu_after_ns: vec![0; steps],
        totals: QueryTotals::default(),
    }
}
