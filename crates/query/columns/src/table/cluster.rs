use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use super::run_writer::RunWriter;
use super::schema::place;
use super::writing::Writing;
use crate::number::short;
use crate::{Clustering, ColumnsError};

/// Share of the memory for gathered rows: they exist twice while they are concatenated and
/// reordered.
const GATHERED_PART: usize = 2;
/// Overhead of a row's key: markers of nulls and blocks, and its offset.
const KEY_OVERHEAD_BYTES: usize = 20;

/// Sorts rows into the table's order before they are written: as many as fit in memory at a time,
/// each time into a new file.
pub(super) struct Clusterer {
    schema: SchemaRef,
    clustering: Clustering,
    places: Vec<usize>,
    memory_bytes: u64,
    gathered: Vec<RecordBatch>,
    /// Memory of the gathered rows.
    gathered_bytes: usize,
    /// Memory needed to compute their order.
    ordering_bytes: usize,
}

impl Clusterer {
    /// Uses `memory_bytes` in addition to the incoming batch and the row group being written.
    pub(super) fn new(
        clustering: &Clustering,
        schema: &SchemaRef,
        memory_bytes: u64,
    ) -> Result<Self, ColumnsError> {
        let places =
            clustering.columns().iter().map(|column| place(schema, column)).collect::<Result<_, _>>()?;
        Ok(Self {
            schema: schema.clone(),
            clustering: clustering.clone(),
            places,
            memory_bytes,
            gathered: Vec::new(),
            gathered_bytes: 0,
            ordering_bytes: 0,
        })
    }

    /// Lowers the memory limit.
    pub(super) fn limit(&mut self, memory_bytes: u64) {
        self.memory_bytes = self.memory_bytes.min(memory_bytes);
    }

    pub(super) fn write(
        &mut self,
        writing: &mut Writing,
        run: &mut RunWriter,
        batch: RecordBatch,
    ) -> Result<(), ColumnsError> {
        if self.clustering == Clustering::None {
            return run.write(writing, &batch);
        }
        let part = usize::try_from(self.memory_bytes).unwrap_or(usize::MAX) / GATHERED_PART;
        let (gathered, ordering) = (batch.get_array_memory_size(), self.ordering_bytes_of(&batch));
        // A batch that doesn't fit with the gathered ones waits until these are written.
        if self.gathered_bytes + gathered > part || self.ordering_bytes + ordering > part {
            self.finish(writing, run)?;
        }
        self.gathered_bytes += gathered;
        self.ordering_bytes += ordering;
        self.gathered.push(batch);
        Ok(())
    }

    /// Writes the gathered rows.
    pub(super) fn finish(&mut self, writing: &mut Writing, run: &mut RunWriter) -> Result<(), ColumnsError> {
        (self.gathered_bytes, self.ordering_bytes) = (0, 0);
        let gathered = std::mem::take(&mut self.gathered);
        if gathered.is_empty() {
            return Ok(());
        }
        let whole = concat_batches(&self.schema, &gathered).map_err(ColumnsError::arrow("gathering rows"))?;
        drop(gathered);
        let order = self.order(&whole)?;
        let sorted = take_record_batch(&whole, &order).map_err(ColumnsError::arrow("sorting rows"))?;
        drop(whole);
        run.write(writing, &sorted)?;
        run.end_file(writing)
    }

    fn key_columns(&self, rows: &RecordBatch) -> Vec<ArrayRef> {
        self.places.iter().filter_map(|place| rows.columns().get(*place)).cloned().collect()
    }

    /// Returns the memory that a batch adds to [`order`](Self::order): keys of all columns, or for
    /// cells of one column at a time, plus ranks and Z-order words of 4 to 8 bytes per column.
    fn ordering_bytes_of(&self, batch: &RecordBatch) -> usize {
        let columns = self.key_columns(batch);
        let keys = columns.iter().map(key_bytes);
        let place_bytes = size_of::<u32>();
        match self.clustering {
            Clustering::None => 0,
            Clustering::Sort(_) => keys.sum::<usize>() + batch.num_rows() * place_bytes,
            Clustering::Cells(_) => {
                keys.max().unwrap_or_default() + batch.num_rows() * (2 * place_bytes + 12 * columns.len())
            }
        }
    }

    fn order(&self, rows: &RecordBatch) -> Result<UInt32Array, ColumnsError> {
        let columns = self.key_columns(rows);
        let order = if let Clustering::Cells(_) = self.clustering {
            let ranks: Vec<Vec<u32>> = columns.iter().map(ranks).collect::<Result<_, _>>()?;
            let cells = ZOrder::of(&ranks);
            drop(ranks);
            places_by(rows.num_rows(), |one, other| cells.word_of(one).cmp(cells.word_of(other)))
        } else {
            let keys = sortable(&columns)?;
            places_by(rows.num_rows(), |one, other| keys.row(one).cmp(&keys.row(other)))
        };
        Ok(order.into())
    }
}

/// Upper bound on the keys of a column, from the size of its values: one extra byte per block of 8.
fn key_bytes(column: &ArrayRef) -> usize {
    let rows = column.len();
    let values = match column.as_any_dictionary_opt().map(AnyDictionaryArray::values) {
        // As if each row had a value of its own.
        Some(values) => values.get_array_memory_size() / values.len().max(1) * rows,
        None => column.get_array_memory_size(),
    };
    values + values / 8 + rows * KEY_OVERHEAD_BYTES
}

/// Returns row positions in order; equal rows keep theirs. Unlike a stable sort it needs no second
/// array.
fn places_by(rows: usize, compare: impl Fn(usize, usize) -> Ordering) -> Vec<u32> {
    let mut places: Vec<u32> = (0..short(rows)).collect();
    places
        .sort_unstable_by(|one, other| compare(*one as usize, *other as usize).then_with(|| one.cmp(other)));
    places
}

fn sortable(columns: &[ArrayRef]) -> Result<Rows, ColumnsError> {
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone()));
    let converter = RowConverter::new(fields.collect()).map_err(ColumnsError::arrow("sorting rows"))?;
    converter.convert_columns(columns).map_err(ColumnsError::arrow("sorting rows"))
}

/// Returns the rank of each row's value among the distinct ones.
fn ranks(column: &ArrayRef) -> Result<Vec<u32>, ColumnsError> {
    let keys = sortable(std::slice::from_ref(column))?;
    let order = places_by(column.len(), |one, other| keys.row(one).cmp(&keys.row(other)));
    let mut ranks = vec![0; column.len()];
    let mut previous: Option<(usize, u32)> = None;
    for place in order {
        let row = place as usize;
        let rank = previous.map_or(0, |(before, rank)| rank + u32::from(keys.row(before) != keys.row(row)));
        ranks.get_mut(row).into_iter().for_each(|slot| *slot = rank);
        previous = Some((row, rank));
    }
    Ok(ranks)
}

/// Interleaved bits of each row's ranks, highest first (Morton 1966), without leading bits that no
/// rank uses.
struct ZOrder {
    words: Vec<u64>,
    words_per_row: usize,
}

impl ZOrder {
    fn of(ranks: &[Vec<u32>]) -> Self {
        let rows = ranks.first().map_or(0, Vec::len);
        let greatest = ranks.iter().flatten().copied().max().unwrap_or_default();
        let bits = u32::BITS - greatest.leading_zeros();
        let words_per_row = (ranks.len() * bits as usize).div_ceil(64).max(1);
        let mut words = vec![0; rows * words_per_row];
        for (row, words) in words.chunks_mut(words_per_row).enumerate() {
            let of_row = (0..bits).rev().flat_map(|bit| {
                ranks.iter().map(move |ranks| ranks.get(row).is_some_and(|rank| rank >> bit & 1 == 1))
            });
            for (number, _) in of_row.enumerate().filter(|(_, set)| *set) {
                words.get_mut(number / 64).into_iter().for_each(|word| *word |= 1 << (63 - number % 64));
            }
        }
        Self { words, words_per_row }
    }

    fn word_of(&self, row: usize) -> &[u64] {
        let from = row * self.words_per_row;
        self.words.get(from..from + self.words_per_row).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_order_visits_quarter_after_quarter() {
        let ranks = [vec![0, 1, 0, 1, 2, 3, 0], vec![0, 0, 1, 1, 0, 3, 2]];
        let cells = ZOrder::of(&ranks);
        let order = places_by(7, |one, other| cells.word_of(one).cmp(cells.word_of(other)));
        assert_eq!(order, [0, 2, 1, 3, 6, 4, 5], "the first column's bits count more");
    }

    #[test]
    fn three_columns_need_two_words() {
        let ranks = [vec![u32::MAX], vec![0], vec![u32::MAX]];
        let cells = ZOrder::of(&ranks);
        assert_eq!(cells.word_of(0).len(), 2);
        assert_eq!(cells.word_of(0)[0] >> 58, 0b10_1101);
    }

    #[test]
    fn bits_that_no_rank_has_take_no_room() {
        let ranks = [vec![23, 0], vec![340, 1], vec![11, 5]];
        let cells = ZOrder::of(&ranks);
        assert_eq!(cells.word_of(0).len(), 1);
        assert!(cells.word_of(1) < cells.word_of(0));
    }

    #[test]
    fn ranks_are_those_of_distinct_values() {
        let column: ArrayRef = std::sync::Arc::new(arrow_array::StringArray::from(vec![
            Some("c"),
            None,
            Some("a"),
            Some("c"),
            Some("b"),
        ]));
        assert_eq!(ranks(&column).unwrap(), [3, 0, 1, 3, 2]);
    }
}
