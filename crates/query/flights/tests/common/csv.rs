//! Flights of CSV files in memory.

use std::io::Cursor;

use nandle_flights::{CsvFlights, CsvOptions, LoadError, LoadReport, Reject, Source, flight_schema};

/// Flights, rejected rows, and the report.
pub(crate) type Loaded = (Vec<arrow_array::RecordBatch>, Vec<Reject>, LoadReport);

pub(crate) fn lenient() -> CsvOptions {
    CsvOptions { bad_max: 1.0, threads: 1, ..CsvOptions::default() }
}

pub(crate) fn source(name: &str, bytes: &[u8]) -> Source {
    Source::reader(name, Box::new(Cursor::new(bytes.to_vec())))
}

pub(crate) fn load_all(sources: Vec<Source>, options: CsvOptions) -> Result<Loaded, LoadError> {
    let mut flights = CsvFlights::new(sources, options);
    let (mut rejects, mut batches) = (Vec::new(), Vec::new());
    while let Some(batch) = flights.next_batch(&mut rejects)? {
        assert_eq!(batch.schema(), flight_schema());
        batches.push(batch);
    }
    Ok((batches, rejects, flights.report()))
}

pub(crate) fn load(bytes: &[u8], options: CsvOptions) -> Loaded {
    load_all(vec![source("flights.csv", bytes)], options).unwrap()
}
