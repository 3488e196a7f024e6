//! Speed of loading CSV files, in rows per second: `cargo run --release -p nandle-flights --example
//! load -- FILE…`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::path::Path;
use std::time::Instant;

use nandle_flights::{CsvFlights, CsvOptions, Source};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for threads in [1, 2] {
        let began = Instant::now();
        let sources = files.iter().map(|file| Source::file(Path::new(file))).collect();
        let mut flights = CsvFlights::new(sources, CsvOptions { threads, ..CsvOptions::default() });
        let mut rejects = Vec::new();
        let (mut batches, mut bytes) = (0_u64, 0);
        while let Some(batch) = flights.next_batch(&mut rejects).unwrap() {
            batches += 1;
            bytes += batch.get_array_memory_size();
        }
        let seconds = began.elapsed().as_secs_f64();
        let report = flights.report();
        let rows_per_second = report.rows as f64 / seconds;
        println!(
            "{threads} threads: {rows_per_second:.0} rows/s, {batches} batches of {bytes} bytes, {report:?}"
        );
        for reject in rejects.iter().take(5) {
            println!("  {reject}");
        }
    }
}
