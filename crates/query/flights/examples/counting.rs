//! Speed of counting codes in memory, in rows per second: `cargo run --release -p nandle-flights
//! --example counting -- [ROWS [MEMORY_MIB]]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, reason = "it is a program")]

use std::sync::Arc;
use std::time::Instant;

use nandle_columns::Codes;
use nandle_flights::{
    CodeBatch, CodeColumn, Counter, CubeCodes, CubeQuery, Generator, KeySpace, MemoryCounter, Shifted,
};
use nandle_io::Nanos;
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_spill::{Place, SpillCosts};

const SPACE_BYTES: u64 = 8 << 30;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap());
    let rows = arguments.next().unwrap_or(20_000_000);
    let memory_bytes = usize::try_from(arguments.next().unwrap_or(1024)).unwrap() << 20;
    let generator = Generator::new(rows, 1).unwrap();
    let chunks: Vec<CubeCodes> = (0..generator.chunks()).map(|number| generator.codes(number)).collect();
    for name in [
        "delay-airline",
        "delay-airline-dest",
        "delay-airline-origin-year",
        "delay-airline-dest-month-origin",
    ] {
        let query: CubeQuery = name.parse().unwrap();
        for threads in [1, 2] {
            measure(&format!("{name}, {threads} threads"), rows, || {
                in_memory(&generator, &chunks, query, memory_bytes, threads)
            });
        }
        measure(&format!("{name}, with temporary space"), rows, || {
            with_space(&generator, &chunks, query, memory_bytes)
        });
    }
}

fn measure(what: &str, rows: u64, count: impl Fn() -> String) {
    let began = Instant::now();
    let report = count();
    let seconds = began.elapsed().as_secs_f64();
    println!("{what:60} {seconds:6.2} s {:7.1} million rows/s {report}", rows as f64 / seconds / 1e6);
}

/// Key space of a cube, and tables of shifted codes.
fn space_of(generator: &Generator, query: CubeQuery) -> (Arc<KeySpace>, Vec<Shifted>) {
    let values = query
        .columns()
        .into_iter()
        .map(|column| (column.name().to_owned(), generator.values(column).unwrap()));
    let values: Vec<_> = values.collect();
    let sizes: Vec<u32> = values.iter().map(|(_, values)| u32::try_from(values.len()).unwrap()).collect();
    let space = Arc::new(KeySpace::new(values).unwrap());
    let table = |(at, size): (usize, &u32)| space.shifted(at, &(0..*size).collect::<Vec<_>>()).unwrap();
    let tables = sizes.iter().enumerate().map(table).collect();
    (space, tables)
}

fn columns_of<'a>(chunk: &'a CubeCodes, query: CubeQuery, tables: &'a [Shifted]) -> Vec<CodeColumn<'a>> {
    let codes = query.columns().into_iter().map(|column| chunk.column(column).unwrap());
    tables
        .iter()
        .zip(codes)
        .map(|(shifted, codes)| CodeColumn { shifted, codes: Codes::Each(codes) })
        .collect()
}

fn in_memory(
    generator: &Generator,
    chunks: &[CubeCodes],
    query: CubeQuery,
    memory_bytes: usize,
    threads: usize,
) -> String {
    let (space, tables) = space_of(generator, query);
    let count = |share: &[CubeCodes]| {
        let mut counter = MemoryCounter::new(&space, memory_bytes / threads).unwrap();
        for chunk in share {
            let columns = columns_of(chunk, query, &tables);
            if counter.push(&CodeBatch::new(&space, &columns).unwrap()).is_err() {
                return None;
            }
        }
        Some(counter)
    };
    let counters: Vec<_> = std::thread::scope(|scope| {
        let shares = chunks.chunks(chunks.len().div_ceil(threads));
        let threads: Vec<_> = shares.map(|share| scope.spawn(|| count(share))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let Some(counters) = counters.into_iter().collect::<Option<Vec<_>>>() else {
        return "memory is used up".to_owned();
    };
    let mut counters = counters.into_iter();
    let mut counter = counters.next().unwrap();
    counters.for_each(|other| counter.absorb(other));
    let pushed = Instant::now();
    let mut counts = counter.finish(threads, || nandle_io::Nanos::ZERO);
    while counts.next_batch().unwrap().is_some() {}
    format!("(of which results {:.2} s) {:?}", pushed.elapsed().as_secs_f64(), counts.report())
}

fn with_space(generator: &Generator, chunks: &[CubeCodes], query: CubeQuery, memory_bytes: usize) -> String {
    let (space, tables) = space_of(generator, query);
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    let device = world.add(SPACE_BYTES, 4096).id;
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let place = Place { device, start_bytes: 0, length_bytes: SPACE_BYTES, salt: 7, discards: false };
    runtime.block_on(async {
        let mut counter = Counter::new(&space, memory_bytes, &handle, place, SpillCosts::default()).unwrap();
        for chunk in chunks {
            let columns = columns_of(chunk, query, &tables);
            counter.push(&CodeBatch::new(&space, &columns).unwrap()).await.unwrap();
        }
        let mut counts = counter.finish(1, || nandle_io::Nanos::ZERO).await.unwrap();
        while counts.next_batch().await.unwrap().is_some() {}
        format!("{:?}", counts.report())
    })
}
