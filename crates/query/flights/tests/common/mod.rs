//! Helpers shared by the tests.

#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing, reason = "each test uses its part")]

use arrow_array::RecordBatch;
pub(crate) mod codes;
pub(crate) mod csv;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use nandle_flights::{Column, flight_schema};

pub(crate) fn concat(batches: &[RecordBatch]) -> RecordBatch {
    arrow_select::concat::concat_batches(&flight_schema(), batches).unwrap()
}

/// Text of a dictionary-encoded column in a row.
pub(crate) fn text(batch: &RecordBatch, column: Column, row: usize) -> Option<String> {
    let cells = batch.column(column.index()).as_dictionary::<UInt16Type>();
    let names = cells.values().as_string::<i32>();
    cells.key(row).map(|key| names.value(key).to_owned())
}
