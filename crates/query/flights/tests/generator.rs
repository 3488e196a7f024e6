//! Generated flights: deterministic and plausible in every column, and all their 69 cubes compared
//! with a hash map.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

mod common;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, UInt8Type, UInt16Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use common::{concat, text};
use nandle_columns::Codes;
use nandle_flights::{
    CodeBatch, CodeColumn, Column, CsvFlights, CsvOptions, CsvWriter, CubeCodes, CubeQuery, Generator,
    KeySpace, MemoryCounter, Shifted, Source, flight_schema,
};

const ROWS: u64 = 150_000;

fn all(generator: &Generator) -> RecordBatch {
    let chunks: Vec<RecordBatch> =
        (0..generator.chunks()).map(|number| generator.chunk(number).unwrap()).collect();
    concat(&chunks)
}

fn minutes(batch: &RecordBatch, column: Column, row: usize) -> Option<i16> {
    let cells = batch.column(column.index()).as_primitive::<Int16Type>();
    cells.is_valid(row).then(|| cells.value(row))
}

fn number(batch: &RecordBatch, column: Column, row: usize) -> Option<u16> {
    let cells = batch.column(column.index()).as_primitive::<UInt16Type>();
    cells.is_valid(row).then(|| cells.value(row))
}

fn flag(batch: &RecordBatch, column: Column, row: usize) -> bool {
    batch.column(column.index()).as_primitive::<UInt8Type>().value(row) == 1
}

#[test]
fn the_same_seed_gives_the_same_flights_in_any_order() {
    let one = Generator::new(ROWS, 7).unwrap();
    let again = Generator::new(ROWS, 7).unwrap();
    assert_eq!(one.chunks(), 3);
    assert_eq!(one.chunk(2).unwrap(), again.chunk(2).unwrap());
    assert_eq!(one.chunk(0).unwrap(), again.chunk(0).unwrap());
    let other = Generator::new(ROWS, 8).unwrap();
    assert_ne!(one.chunk(0).unwrap(), other.chunk(0).unwrap());
    let rows: usize = (0..3).map(|number| one.chunk(number).unwrap().num_rows()).sum();
    assert_eq!(rows as u64, ROWS);
    assert_eq!(one.chunk(3).unwrap().num_rows(), 0);
    assert_eq!(one.chunk(0).unwrap().schema(), flight_schema());
}

#[test]
fn columns_agree_with_each_other() {
    let flights = all(&Generator::new(ROWS, 1).unwrap());
    let days = flights.column(Column::FlightDate.index()).as_primitive::<Date32Type>();
    let mut before = (0, String::new());
    for row in 0..flights.num_rows() {
        let (cancelled, diverted) =
            (flag(&flights, Column::Cancelled, row), flag(&flights, Column::Diverted, row));
        assert!(!(cancelled && diverted));
        let delay = minutes(&flights, Column::ArrDelay, row);
        assert_eq!(delay.is_none(), cancelled || diverted);
        assert_eq!(number(&flights, Column::DepTime, row).is_none(), cancelled);
        assert_eq!(text(&flights, Column::CancellationCode, row).is_some(), cancelled);
        let elapsed =
            [Column::AirTime, Column::TaxiIn, Column::TaxiOut].map(|column| minutes(&flights, column, row));
        if let [Some(air), Some(taxi_in), Some(taxi_out)] = elapsed {
            assert_eq!(minutes(&flights, Column::ActualElapsedTime, row), Some(air + taxi_in + taxi_out));
        }
        let month = text(&flights, Column::Month, row).unwrap();
        assert_eq!(month[..4].parse(), Ok(number(&flights, Column::Year, row).unwrap()));
        assert_ne!(text(&flights, Column::Origin, row), text(&flights, Column::Dest, row));
        let place = (days.value(row), text(&flights, Column::Airline, row).unwrap());
        assert!(before <= place, "{before:?} before {place:?}");
        before = place;
    }
}

#[test]
fn there_is_as_much_as_there_was() {
    let generator = Generator::new(ROWS, 2).unwrap();
    let flights = all(&generator);
    let distinct =
        |column| (0..flights.num_rows()).map(|row| text(&flights, column, row)).collect::<HashSet<_>>().len();
    assert_eq!((distinct(Column::Month), distinct(Column::Airline)), (140, 24));
    assert!((300..=342).contains(&distinct(Column::Origin)), "{}", distinct(Column::Origin));
    let share = |is: &dyn Fn(usize) -> bool| {
        (0..flights.num_rows()).filter(|row| is(*row)).count() as f64 / ROWS as f64
    };
    let cancelled = share(&|row| flag(&flights, Column::Cancelled, row));
    let diverted = share(&|row| flag(&flights, Column::Diverted, row));
    // The published figures of these years are about 1.9 % and 0.22 %.
    assert!((0.012..0.03).contains(&cancelled), "{cancelled}");
    assert!((0.0012..0.004).contains(&diverted), "{diverted}");
    let late = |hours: std::ops::Range<u16>| {
        let those: Vec<usize> = (0..flights.num_rows())
            .filter(|row| hours.contains(&(number(&flights, Column::CrsDepTime, *row).unwrap() / 100)))
            .collect();
        let late = those
            .iter()
            .filter(|row| minutes(&flights, Column::DepDelay, **row).is_some_and(|late| late > 15));
        late.count() as f64 / those.len() as f64
    };
    assert!(late(17..20) > 1.8 * late(6..9), "evenings {}, mornings {}", late(17..20), late(6..9));
}

#[test]
fn codes_are_those_of_the_flights() {
    let generator = Generator::new(ROWS, 3).unwrap();
    let (flights, codes) = (generator.chunk(1).unwrap(), generator.codes(1));
    for column in [Column::Airline, Column::Dest, Column::Month, Column::Origin] {
        let values = generator.values(column).unwrap();
        let codes = codes.column(column).unwrap();
        for (row, code) in codes.iter().enumerate() {
            assert_eq!(
                text(&flights, column, row).as_deref(),
                Some(values.as_string::<i32>().value(*code as usize))
            );
        }
    }
    let delays = generator.values(Column::ArrDelay).unwrap();
    let years = generator.values(Column::Year).unwrap();
    for row in 0..flights.num_rows() {
        let code = codes.delay[row] as usize;
        let delay = delays.is_valid(code).then(|| delays.as_primitive::<Int16Type>().value(code));
        assert_eq!(delay, minutes(&flights, Column::ArrDelay, row));
        let year = years.as_primitive::<UInt16Type>().value(codes.year[row] as usize);
        assert_eq!(Some(year), number(&flights, Column::Year, row));
        assert_eq!(codes.cancelled[row] == 1, flag(&flights, Column::Cancelled, row));
        assert_eq!(codes.diverted[row] == 1, flag(&flights, Column::Diverted, row));
    }
}

#[test]
fn files_of_generated_flights_are_loaded_as_they_were() {
    let generator = Generator::new(20_000, 6).unwrap();
    let flights = all(&generator);
    let mut file = Vec::new();
    let mut writer = CsvWriter::new(&mut file).unwrap();
    writer.write(&flights).unwrap();
    writer.finish().unwrap();
    let source = Source::reader("generated", Box::new(std::io::Cursor::new(file)));
    let (mut reading, mut rejects) = (CsvFlights::new(vec![source], CsvOptions::default()), Vec::new());
    let mut loaded = Vec::new();
    while let Some(batch) = reading.next_batch(&mut rejects).unwrap() {
        loaded.push(batch);
    }
    assert_eq!(rejects, []);
    let loaded = concat(&loaded);
    for column in Column::ALL {
        let (one, other) = (flights.column(column.index()), loaded.column(column.index()));
        if matches!(one.data_type(), arrow_schema::DataType::Dictionary(..)) {
            let is_same = |row| text(&flights, *column, row) == text(&loaded, *column, row);
            assert!((0..flights.num_rows()).all(is_same), "{}", column.name());
        } else {
            assert_eq!(one, other, "{}", column.name());
        }
    }
}

/// Counts a cube of generated rows; returns groups by code.
fn count(generator: &Generator, chunks: &[CubeCodes], query: CubeQuery) -> HashMap<Vec<u32>, u64> {
    let columns = query.columns();
    // Values equal their codes, so that results can be compared as numbers.
    let sizes: Vec<u32> = columns
        .iter()
        .map(|column| u32::try_from(generator.values(*column).unwrap().len()).unwrap())
        .collect();
    let numbers = columns.iter().zip(&sizes).map(|(column, size)| {
        let values = arrow_array::UInt16Array::from_iter_values(0..u16::try_from(*size).unwrap());
        (column.name().to_owned(), Arc::new(values) as arrow_array::ArrayRef)
    });
    let space = Arc::new(KeySpace::new(numbers.collect()).unwrap());
    let tables: Vec<Shifted> = sizes
        .iter()
        .enumerate()
        .map(|(at, size)| space.shifted(at, &(0..*size).collect::<Vec<_>>()).unwrap())
        .collect();
    let mut counter = MemoryCounter::new(&space, 256 << 20).unwrap();
    for chunk in chunks {
        let codes = columns.iter().map(|column| chunk.column(*column).unwrap());
        let columns: Vec<CodeColumn<'_>> = tables
            .iter()
            .zip(codes)
            .map(|(shifted, codes)| CodeColumn { shifted, codes: Codes::Each(codes) })
            .collect();
        counter.push(&CodeBatch::new(&space, &columns).unwrap()).unwrap();
    }
    let mut counts = counter.finish(1, || nandle_io::Nanos::ZERO);
    let mut groups = HashMap::new();
    while let Some(batch) = counts.next_batch().unwrap() {
        let columns: Vec<_> =
            (0..columns.len()).map(|at| batch.column(at).as_primitive::<UInt16Type>()).collect();
        let counts = batch.column(columns.len()).as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let codes = columns.iter().map(|column| u32::from(column.value(row))).collect();
            assert!(groups.insert(codes, counts.value(row)).is_none());
        }
    }
    groups
}

#[test]
fn all_69_cubes_against_a_plain_map() {
    let generator = Generator::new(20_000, 4).unwrap();
    let chunks: Vec<CubeCodes> = (0..generator.chunks()).map(|number| generator.codes(number)).collect();
    for query in CubeQuery::all() {
        let mut plain: HashMap<Vec<u32>, u64> = HashMap::new();
        for chunk in &chunks {
            let columns: Vec<&[u32]> =
                query.columns().into_iter().map(|column| chunk.column(column).unwrap()).collect();
            for row in 0..chunk.delay.len() {
                *plain.entry(columns.iter().map(|codes| codes[row]).collect()).or_default() += 1;
            }
        }
        assert!(count(&generator, &chunks, query) == plain, "{query}");
    }
}
