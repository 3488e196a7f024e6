//! Sizes of all 69 cubes of generated flights, compared with those published in the Dashboard paper
//! (papers' notes, C42), and the time to count each: `cargo run --release -p nandle-flights
//! --example cubes -- [ROWS [SEED [THREADS]]]`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, reason = "it is a program")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use nandle_columns::Codes;
use nandle_flights::{
    CodeBatch, CodeColumn, Column, CubeCodes, CubeQuery, Dimension, Fact, Generator, KeySpace, MemoryCounter,
    Shifted,
};

const MEMORY_BYTES: usize = 1 << 30;

/// Published averages over the cubes with a dimension, by number of partners.
const PUBLISHED: [(Fact, Dimension, [u64; 4]); 7] = [
    (Fact::Diverted, Dimension::Airline, [48, 3_714, 112_470, 513_922]),
    (Fact::Diverted, Dimension::Dest, [677, 20_261, 205_416, 513_922]),
    (Fact::Diverted, Dimension::Year, [24, 4_275, 50_113, 130_657]),
    (Fact::Cancelled, Dimension::Airline, [48, 3_841, 141_526, 650_070]),
    (Fact::Cancelled, Dimension::Month, [280, 47_793, 478_213, 1_149_864]),
    (Fact::Delay, Dimension::Airline, [18_895, 515_278, 6_339_232, 20_444_384]),
    (Fact::Delay, Dimension::Origin, [127_367, 1_677_018, 9_956_825, 20_444_384]),
];

/// Codes in few bytes per row.
struct Compact {
    bytes: [Vec<u8>; 5],
    words: [Vec<u16>; 3],
}

const BYTES: [Column; 5] =
    [Column::Airline, Column::Month, Column::Year, Column::Diverted, Column::Cancelled];
const WORDS: [Column; 3] = [Column::Dest, Column::Origin, Column::ArrDelay];

impl Compact {
    fn of(codes: &CubeCodes) -> Self {
        let column = |column| codes.column(column).unwrap().iter();
        Self {
            bytes: BYTES.map(|name| column(name).map(|code| u8::try_from(*code).unwrap()).collect()),
            words: WORDS.map(|name| column(name).map(|code| u16::try_from(*code).unwrap()).collect()),
        }
    }

    fn column(&self, column: Column, codes: &mut Vec<u32>) {
        codes.clear();
        if let Some(at) = BYTES.iter().position(|name| *name == column) {
            codes.extend(self.bytes[at].iter().map(|code| u32::from(*code)));
        } else {
            let at = WORDS.iter().position(|name| *name == column).unwrap();
            codes.extend(self.words[at].iter().map(|code| u32::from(*code)));
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap());
    let rows = arguments.next().unwrap_or(70_000_000);
    let seed = arguments.next().unwrap_or(1);
    let threads = usize::try_from(arguments.next().unwrap_or(2)).unwrap();
    let generator = Generator::new(rows, seed).unwrap();
    let began = Instant::now();
    let chunks = generate(&generator, threads);
    let seconds = began.elapsed().as_secs_f64();
    println!("{rows} rows made in {seconds:.1} s, {:.2} million a second", rows as f64 / seconds / 1e6);
    let sizes: Vec<(CubeQuery, u64)> = CubeQuery::all()
        .into_iter()
        .map(|query| {
            let began = Instant::now();
            let groups = count(&generator, &chunks, query, threads);
            let seconds = began.elapsed().as_secs_f64();
            println!(
                "{query:32} {groups:>10} groups {seconds:7.2} s {:7.1} million rows/s",
                rows as f64 / seconds / 1e6
            );
            (query, groups)
        })
        .collect();
    println!("{:10} {:8} partners {:>12} {:>12} ratio", "fact", "with", "published", "ours");
    for (fact, dimension, published) in PUBLISHED {
        for (partners, published) in (0..).zip(published) {
            let class = sizes.iter().filter(|(query, _)| {
                query.fact() == fact
                    && query.partners() == partners
                    && query.dimensions().any(|other| other == dimension)
            });
            let class: Vec<u64> = class.map(|(_, groups)| *groups).collect();
            let ours = class.iter().sum::<u64>() as f64 / class.len() as f64;
            let ratio = ours / published as f64;
            let (fact, dimension) = (format!("{fact:?}"), format!("{dimension:?}"));
            println!("{fact:10} {dimension:8} {partners:>8} {published:>12} {ours:>12.0} {ratio:5.2}");
        }
    }
}

fn generate(generator: &Generator, threads: usize) -> Vec<Compact> {
    let next = AtomicUsize::new(0);
    let made: Vec<(u64, Compact)> = std::thread::scope(|scope| {
        let make = || {
            let mut made = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed) as u64;
                if number >= generator.chunks() {
                    return made;
                }
                made.push((number, Compact::of(&generator.codes(number))));
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(make)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut made = made;
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, compact)| compact).collect()
}

fn count(generator: &Generator, chunks: &[Compact], query: CubeQuery, threads: usize) -> u64 {
    let columns = query.columns();
    let values = columns.iter().map(|column| (column.name().to_owned(), generator.values(*column).unwrap()));
    let space = Arc::new(KeySpace::new(values.collect()).unwrap());
    let tables: Vec<Shifted> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let codes = u32::try_from(generator.values(*column).unwrap().len()).unwrap();
            space.shifted(at, &(0..codes).collect::<Vec<_>>()).unwrap()
        })
        .collect();
    let count_share = |share: &[Compact]| {
        let mut counter = MemoryCounter::new(&space, MEMORY_BYTES).unwrap();
        let mut codes = vec![Vec::new(); columns.len()];
        for chunk in share {
            columns.iter().zip(&mut codes).for_each(|(column, codes)| chunk.column(*column, codes));
            let columns: Vec<CodeColumn<'_>> = tables
                .iter()
                .zip(&codes)
                .map(|(shifted, codes)| CodeColumn { shifted, codes: Codes::Each(codes) })
                .collect();
            counter.push(&CodeBatch::new(&space, &columns).unwrap()).unwrap();
        }
        counter
    };
    let mut counters = std::thread::scope(|scope| {
        let shares = chunks.chunks(chunks.len().div_ceil(threads));
        let threads: Vec<_> = shares.map(|share| scope.spawn(|| count_share(share))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>().into_iter()
    });
    let mut counter = counters.next().unwrap();
    counters.for_each(|other| counter.absorb(other));
    let mut counts = counter.finish(threads, || nandle_io::Nanos::ZERO);
    while counts.next_batch().unwrap().is_some() {}
    counts.report().groups
}
