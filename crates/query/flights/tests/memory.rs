//! Counting and loading stay within their memory, measured by the heap allocator.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

use std::io::{self, Read};
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt16Array};
use nandle_columns::Codes;
use nandle_flights::{
    CodeBatch, CodeColumn, CountMethod, Counter, CsvFlights, CsvOptions, KeySpace, MemoryCounter, Shifted,
    Source,
};
use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::Runtime;
use nandle_io::{DeviceId, Nanos};
use nandle_spill::{Place, SpillCosts};
use peak_alloc::PeakAlloc;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
const SPACE_BYTES: u64 = 512 << 20;

/// Groups, method and peak heap of counting random rows, most of them distinct groups.
fn count(memory_bytes: usize, rows: usize) -> (u64, CountMethod, usize) {
    let values: ArrayRef = Arc::new(UInt16Array::from_iter_values(0..4096));
    let columns = (0..3).map(|column| (format!("c{column}"), Arc::clone(&values)));
    let space = Arc::new(KeySpace::new(columns.collect()).unwrap());
    let all: Vec<u32> = (0..4096).collect();
    let tables: Vec<Shifted> = (0..3).map(|column| space.shifted(column, &all).unwrap()).collect();
    let mut world = MemoryWorld::new(64, Nanos::from_micros(1));
    let device: DeviceId = world.add(SPACE_BYTES, 4096).id;
    let runtime = Runtime::new(Box::new(world));
    let handle = runtime.handle();
    let place = Place { device, start_bytes: 0, length_bytes: SPACE_BYTES, salt: 7, discards: false };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    runtime.block_on(async {
        let mut counter = Counter::new(&space, memory_bytes, &handle, place, SpillCosts::default()).unwrap();
        for _ in 0..rows / 10_000 {
            let codes: Vec<Vec<u32>> =
                (0..3).map(|_| (0..10_000).map(|_| random.random_range(0..4096)).collect()).collect();
            let columns: Vec<CodeColumn<'_>> = tables
                .iter()
                .zip(&codes)
                .map(|(shifted, codes)| CodeColumn { shifted, codes: Codes::Each(codes) })
                .collect();
            counter.push(&CodeBatch::new(&space, &columns).unwrap()).await.unwrap();
        }
        let mut counts = counter.finish(1, || nandle_io::Nanos::ZERO).await.unwrap();
        while counts.next_batch().await.unwrap().is_some() {}
        let report = counts.report();
        assert_eq!(report.rows, rows as u64);
        (report.groups, report.method, HEAP.peak_usage() - before)
    })
}

/// Peak heap of a counter filled with distinct groups, and their number.
fn fill(memory_bytes: usize) -> (usize, usize) {
    let values: ArrayRef = Arc::new(UInt16Array::from_iter_values(0..4096));
    let columns = (0..3).map(|column| (format!("c{column}"), Arc::clone(&values)));
    let space = Arc::new(KeySpace::new(columns.collect()).unwrap());
    let all: Vec<u32> = (0..4096).collect();
    let tables: Vec<Shifted> = (0..3).map(|column| space.shifted(column, &all).unwrap()).collect();
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let mut counter = MemoryCounter::new(&space, memory_bytes).unwrap();
    let mut rows = 0;
    loop {
        let code = |row: u32, column: u32| row >> (12 * column) & 4095;
        let codes: Vec<Vec<u32>> =
            (0..3).map(|column| (rows..rows + 2048).map(|row| code(row, column)).collect()).collect();
        let columns: Vec<CodeColumn<'_>> = tables
            .iter()
            .zip(&codes)
            .map(|(shifted, codes)| CodeColumn { shifted, codes: Codes::Each(codes) })
            .collect();
        if counter.try_push(&CodeBatch::new(&space, &columns).unwrap(), 0) < 2048 {
            return (rows as usize, HEAP.peak_usage() - before);
        }
        rows += 2048;
    }
}

/// A file of unlimited length.
struct Endless {
    row: Vec<u8>,
    rest: usize,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.rest);
        for byte in &mut buffer[..length] {
            *byte = self.row[self.at % self.row.len()];
            self.at += 1;
        }
        self.rest -= length;
        Ok(length)
    }
}

/// A single test, so that nothing else allocates in the meantime.
#[test]
fn memory_is_bounded() {
    // The world's temporary space is on the heap, too, but isn't the counter's memory.
    let rows = 2_000_000;
    let written_bytes = rows * 2 * size_of::<u64>();
    let (groups, method, peak_bytes) = count(16 * MIB, rows);
    assert_eq!(method, CountMethod::Runs);
    assert!(groups > 1_900_000, "{groups}");
    let results_bytes = 8 * MIB;
    assert!(peak_bytes < 16 * MIB + written_bytes + results_bytes, "{} MiB", peak_bytes / MIB);
    // Counts that fit aren't spilled, and stay within the memory.
    let (_, method, peak_bytes) = count(64 * MIB, rows);
    assert_eq!(method, CountMethod::Partitions);
    assert!(peak_bytes < 64 * MIB + results_bytes, "{} MiB", peak_bytes / MIB);

    for memory_bytes in [8 * MIB, 64 * MIB, 200 * MIB] {
        let (groups, peak_bytes) = fill(memory_bytes);
        assert!(peak_bytes < memory_bytes + MIB, "{} of {} MiB", peak_bytes / MIB, memory_bytes / MIB);
        // At least half of it is groups, except for overhead with little memory.
        assert!(groups * 16 + 4 * MIB > memory_bytes / 2, "{groups} in {} MiB", memory_bytes / MIB);
    }

    let header = b"Year,Month,DayofMonth,UniqueCarrier,Origin,Dest,DepTime,ArrDelay,Cancelled,Diverted\n";
    let row = b"2008,1,31,AA,DFW,IAH,0915,-3,0,0\n".to_vec();
    let peak_of = |bytes: usize| {
        let file = header.chain(Endless { row: row.clone(), rest: bytes / row.len() * row.len(), at: 0 });
        let options = CsvOptions { chunk_bytes: MIB, ..CsvOptions::default() };
        let mut flights = CsvFlights::new(vec![Source::reader("endless", Box::new(file))], options);
        let (before, mut rejects) = (HEAP.current_usage(), Vec::new());
        HEAP.reset_peak_usage();
        while flights.next_batch(&mut rejects).unwrap().is_some() {}
        assert_eq!(flights.report().rows, (bytes / row.len()) as u64);
        HEAP.peak_usage() - before
    };
    let (short, long) = (peak_of(24 * MIB), peak_of(96 * MIB));
    assert!(long < 64 * MIB && long < short + 16 * MIB, "{} and {} MiB", short / MIB, long / MIB);
}
