use arrow_array::{ArrayRef, BooleanArray};
use arrow_select::filter::{SlicesIterator, filter};

use super::chunk::Chunk;
use super::file::Column;
use super::rows::{self, Rows};
use super::values;
use crate::ColumnsError;
use crate::guard::guarded;
use crate::number::index;

/// Rows of a batch that no predicate has excluded yet, with their decoded columns. A column is
/// decoded when it is first used, for the remaining rows: if predicates exclude most rows, other
/// columns' pages needn't be decompressed.
pub(super) struct Candidates<'a> {
    columns: &'a [Column],
    chunks: &'a mut [Chunk],
    rows: Rows,
    decoded: Vec<Option<ArrayRef>>,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(columns: &'a [Column], chunks: &'a mut [Chunk], rows: Rows) -> Self {
        Self { columns, chunks, rows, decoded: vec![None; columns.len()] }
    }

    pub(super) fn count(&self) -> usize {
        index(rows::count(&self.rows))
    }

    /// Returns the values of a column.
    pub(super) fn column(&mut self, place: usize) -> Result<ArrayRef, ColumnsError> {
        let (Some(slot), Some(column), Some(chunk)) =
            (self.decoded.get_mut(place), self.columns.get(place), self.chunks.get_mut(place))
        else {
            unreachable!("a plan's predicates and outputs are among its columns")
        };
        if let Some(values) = slot {
            return Ok(values.clone());
        }
        let name = chunk.place.clone();
        let (levels, data_type, rows) = (&column.levels, column.field.data_type(), &self.rows);
        let values = guarded(&name, || values::decode(chunk, levels, data_type, rows))?;
        Ok(slot.insert(values).clone())
    }

    /// Keeps the rows for which `found` is true; it is never null.
    pub(super) fn keep(&mut self, found: &BooleanArray) -> Result<(), ColumnsError> {
        if found.true_count() == found.len() {
            return Ok(());
        }
        let places = SlicesIterator::new(found).map(|(start, end)| start as u64..end as u64);
        self.rows = rows::at_places(&self.rows, places);
        for values in self.decoded.iter_mut().flatten() {
            *values = filter(values, found).map_err(ColumnsError::arrow("filtering"))?;
        }
        Ok(())
    }
}
