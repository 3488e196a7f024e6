//! Speed of the generator, in rows per second: `cargo run --release -p nandle-flights --example
//! generate -- [ROWS [CSV_FILE]]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::fs::File;
use std::time::Instant;

use nandle_flights::{CsvWriter, Generator};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rows = arguments.next().map_or(5_000_000, |text| text.parse().unwrap());
    let began = Instant::now();
    let generator = Generator::new(rows, 1).unwrap();
    println!("prepared in {:.2} s", began.elapsed().as_secs_f64());
    let mut writer = arguments.next().map(|path| CsvWriter::new(File::create(path).unwrap()).unwrap());
    let began = Instant::now();
    let mut bytes = 0;
    for number in 0..generator.chunks() {
        let chunk = generator.chunk(number).unwrap();
        bytes += chunk.get_array_memory_size();
        if let Some(writer) = &mut writer {
            writer.write(&chunk).unwrap();
        }
    }
    if let Some(writer) = writer {
        writer.finish().unwrap();
    }
    let rows_per_second = rows as f64 / began.elapsed().as_secs_f64();
    println!(
        "{rows} rows of all columns, {bytes} bytes: {:.2} million rows/s by one thread",
        rows_per_second / 1e6
    );
}
