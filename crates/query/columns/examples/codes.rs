//! Decoding speed of codes and of batches: creates a table of random rows in a folder and reads it
//! several times by both decoders.
//!
//!     cargo run --release -p nandle-columns --example codes -- /tmp/folder 10000000
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "an example prints, and fails where it can't go on"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{Int8Array, Int16Array, Int32Array, RecordBatch, StringArray};
use nandle_columns::{
    BatchDecoder, CodeDecoder, DirectBytes, Layout, ScanPlan, ScanSpec, StepBytes, StepData, Table,
    TableOptions,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn rows(random: &mut Xoshiro256PlusPlus, from: usize, rows: usize, names: &[String]) -> RecordBatch {
    let name = |random: &mut Xoshiro256PlusPlus, below: usize| {
        names.get(random.random_range(0..below)).map(String::as_str)
    };
    let carrier: StringArray = (0..rows).map(|_| name(random, 24)).collect();
    let origin: StringArray = (0..rows).map(|_| name(random, 340)).collect();
    let delay: Int32Array =
        (0..rows).map(|_| Some(random.random_range(-60..1400)).filter(|delay| delay % 50 != 0)).collect();
    let month = (from..from + rows).map(|row| i8::try_from(row / 500_000 % 12 + 1).unwrap());
    let year = (from..from + rows).map(|row| i16::try_from(1994 + row / 6_000_000).unwrap());
    let (month, year): (Int8Array, Int16Array) = (month.collect(), year.collect());
    let columns: Vec<(&str, arrow_array::ArrayRef)> = vec![
        ("year", Arc::new(year)),
        ("month", Arc::new(month)),
        ("carrier", Arc::new(carrier)),
        ("origin", Arc::new(origin)),
        ("delay", Arc::new(delay)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn load(directory: &Path, total: usize) -> Table {
    if let Ok(table) = Table::open(directory) {
        return table;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let names: Vec<String> = (0..340).map(|number| format!("N{number:03}")).collect();
    let first = rows(&mut random, 0, 1, &names);
    let layout = Layout { row_group_rows: 2 << 20, ..Layout::default() };
    let table =
        Table::create(directory, &TableOptions { layout, ..TableOptions::new(first.schema(), 1) }).unwrap();
    let started = Instant::now();
    let mut writer = table.load().unwrap();
    for from in (0..total).step_by(100_000) {
        writer.write(&rows(&mut random, from, 100_000.min(total - from), &names)).unwrap();
    }
    writer.commit().unwrap();
    println!(
        "load, with making rows: {:.1} million rows/s",
        total as f64 / started.elapsed().as_secs_f64() / 1e6
    );
    table
}

/// Steps from memory, so that only decoding is measured.
struct Held(std::vec::IntoIter<StepData>);

impl StepBytes for Held {
    fn next_step(&mut self) -> Result<Option<StepData>, nandle_columns::ColumnsError> {
        Ok(self.0.next())
    }
}

fn held(plan: &ScanPlan) -> Held {
    let mut bytes = DirectBytes::new(plan);
    Held(std::iter::from_fn(|| bytes.next_step().unwrap()).collect::<Vec<_>>().into_iter())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap();
    let total = arguments.next().map_or(10_000_000, |rows| rows.parse().unwrap());
    let table = load(Path::new(&directory), total);
    let snapshot = table.snapshot().unwrap();
    for columns in [vec!["origin"], vec!["delay"], vec!["carrier", "origin", "month", "delay"]] {
        let plan = snapshot.scan(&ScanSpec::of(columns.clone())).unwrap();
        let bytes: u64 = plan.wants().iter().map(|want| want.length_bytes).sum();
        println!(
            "{columns:?}: {} wants, {} steps, {:.2} bytes per row",
            plan.wants().len(),
            plan.steps(),
            bytes as f64 / total as f64
        );
        for _ in 0..3 {
            let (mut steps, mut decoder) = (held(&plan), CodeDecoder::new(&plan));
            let (started, mut rows, mut sum) = (Instant::now(), 0, 0_u64);
            while let Some(batch) = decoder.next(&mut steps).unwrap() {
                rows += batch.rows;
                sum += batch.columns.iter().map(|column| column.codes().rows() as u64).sum::<u64>();
            }
            let codes = rows as f64 / started.elapsed().as_secs_f64() / 1e6;
            let (mut steps, mut decoder) = (held(&plan), BatchDecoder::new(&plan));
            let (started, mut rows) = (Instant::now(), 0);
            while let Some(batch) = decoder.next(&mut steps).unwrap() {
                rows += batch.num_rows();
            }
            let batches = rows as f64 / started.elapsed().as_secs_f64() / 1e6;
            println!("  codes {codes:.0} million rows/s, batches {batches:.0} million rows/s ({sum})");
        }
    }
}
