//! Bytes per second of processor time for making runs and for merging them, on a device in memory.
//!
//! Run `cargo run --release -p nandle-spill --example throughput [ROWS [BUDGET_BYTES [KEY]]]`. KEY
//! is `bytes`, `integers`, `strings`, `sorted` or `equal`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::time::Instant;

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceId, Nanos};
use nandle_spill::{Budget, Place, Row, SortOptions, Sorter, SpillCosts};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const ROW_BYTES: usize = 100;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (rows, budget_bytes) = (number(5_000_000), number(64 << 20));
    let kind = arguments.next().unwrap_or_else(|| "bytes".to_owned());
    let space_bytes = (2 * rows * ROW_BYTES) as u64;
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    let device = world.add(space_bytes, 4096).id;
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let place = place(device, space_bytes);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    runtime.block_on(async {
        let options = SortOptions::new(Budget::new(budget_bytes).unwrap(), SpillCosts::default());
        let options = SortOptions { expected_bytes: Some((rows * ROW_BYTES) as u64), ..options };
        let mut sorter = Sorter::new(&handle, place, options).unwrap();
        let mut row = [0; ROW_BYTES];
        let began = Instant::now();
        for number in 0..rows as u64 {
            let key_bytes = key(&kind, number, &mut random, &mut row);
            let (key, payload) = row.split_at(key_bytes);
            sorter.push(Row { key, payload }).await.unwrap();
        }
        let mut merged = sorter.finish().await.unwrap();
        let runs_made = began.elapsed();
        let mut bytes = 0;
        while let Some(row) = merged.next().await.unwrap() {
            bytes += row.key.len() + row.payload.len();
        }
        let merging = began.elapsed().saturating_sub(runs_made);
        let by_second = |span: std::time::Duration| bytes as f64 / span.as_secs_f64() / 1e6;
        println!("runs {:.0} MB/s, merging {:.0} MB/s", by_second(runs_made), by_second(merging));
        println!("{:?}", merged.report());
    });
}

fn place(device: DeviceId, length_bytes: u64) -> Place {
    Place { device, start_bytes: 0, length_bytes, salt: 1, discards: false }
}

/// Writes a key to the beginning of the row. Returns the length of the key.
fn key(kind: &str, number: u64, random: &mut Xoshiro256PlusPlus, row: &mut [u8; ROW_BYTES]) -> usize {
    match kind {
        "integers" => row[..8].copy_from_slice(&random.random::<u64>().to_be_bytes()),
        "sorted" => row[..8].copy_from_slice(&number.to_be_bytes()),
        "equal" => {
            let value = if random.random_range(0..10) == 0 { random.random() } else { 7_u64 };
            row[..8].copy_from_slice(&value.to_be_bytes());
        }
        "strings" => {
            row[..52].fill(b'a');
            row[52..60].copy_from_slice(&random.random::<u64>().to_be_bytes());
            return 60;
        }
        _ => {
            row[..8].copy_from_slice(&random.random::<u64>().to_be_bytes());
            row[8..10].copy_from_slice(&random.random::<u16>().to_be_bytes());
            return 10;
        }
    }
    8
}
