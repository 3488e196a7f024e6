use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use super::run_writer::RunWriter;
use super::schema::place;
use super::writing::Writing;
use crate::number::short;
use crate::{Clustering, ColumnsError};

/// Puts rows into a table's order before they are written: as many as fit its memory at a time, each time into a file of its own.
pub(super) struct Clusterer {
    schema: SchemaRef,
    clustering: Clustering,
    places: Vec<usize>,
    memory_bytes: usize,
    gathered: Vec<RecordBatch>,
    gathered_bytes: usize,
}

impl Clusterer {
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
            memory_bytes: usize::try_from(memory_bytes).unwrap_or(usize::MAX),
            gathered: Vec::new(),
            gathered_bytes: 0,
        })
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
        self.gathered_bytes += batch.get_array_memory_size();
        self.gathered.push(batch);
        if self.gathered_bytes >= self.memory_bytes { self.finish(writing, run) } else { Ok(()) }
    }

    /// Writes what was gathered.
    pub(super) fn finish(&mut self, writing: &mut Writing, run: &mut RunWriter) -> Result<(), ColumnsError> {
        self.gathered_bytes = 0;
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

    fn order(&self, rows: &RecordBatch) -> Result<UInt32Array, ColumnsError> {
        let columns: Vec<ArrayRef> =
            self.places.iter().filter_map(|place| rows.columns().get(*place)).cloned().collect();
        let mut order: Vec<u32> = (0..short(rows.num_rows())).collect();
        if let Clustering::Cells(_) = self.clustering {
            let ranks: Vec<Vec<u32>> = columns.iter().map(ranks).collect::<Result<_, _>>()?;
            let cells: Vec<Vec<u64>> = (0..rows.num_rows()).map(|row| z_order(&ranks, row)).collect();
            order.sort_by(|one, other| cells.get(*one as usize).cmp(&cells.get(*other as usize)));
        } else {
            let keys = sortable(&columns)?;
            order.sort_by(|one, other| keys.row(*one as usize).cmp(&keys.row(*other as usize)));
        }
        Ok(order.into())
    }
}

fn sortable(columns: &[ArrayRef]) -> Result<Rows, ColumnsError> {
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone()));
    let converter = RowConverter::new(fields.collect()).map_err(ColumnsError::arrow("sorting rows"))?;
    converter.convert_columns(columns).map_err(ColumnsError::arrow("sorting rows"))
}

/// The place of each row's value among the distinct ones.
fn ranks(column: &ArrayRef) -> Result<Vec<u32>, ColumnsError> {
    let keys = sortable(std::slice::from_ref(column))?;
    let mut distinct: Vec<_> = keys.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    Ok(keys.iter().map(|key| short(distinct.partition_point(|candidate| *candidate < key))).collect())
}

/// The bits of a row's ranks in turns, the highest first (Morton 1966); a word for each 64 bits.
fn z_order(ranks: &[Vec<u32>], row: usize) -> Vec<u64> {
    let mut words = vec![0_u64; (ranks.len() * 32).div_ceil(64)];
    let bits = (0..32).rev().flat_map(|bit| {
        ranks.iter().map(move |ranks| ranks.get(row).is_some_and(|rank| rank >> bit & 1 == 1))
    });
    for (number, _) in bits.enumerate().filter(|(_, set)| *set) {
        if let Some(word) = words.get_mut(number / 64) {
            *word |= 1 << (63 - number % 64);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_order_visits_quarter_after_quarter() {
        let ranks = [vec![0, 1, 0, 1, 2, 3, 0], vec![0, 0, 1, 1, 0, 3, 2]];
        let mut order: Vec<usize> = (0..7).collect();
        order.sort_by_key(|row| z_order(&ranks, *row));
        assert_eq!(order, [0, 2, 1, 3, 6, 4, 5], "the first column's bits count more");
    }

    #[test]
    fn three_columns_need_two_words() {
        let ranks = [vec![u32::MAX], vec![0], vec![u32::MAX]];
        assert_eq!(z_order(&ranks, 0).len(), 2);
        assert_eq!(z_order(&ranks, 0)[0] >> 58, 0b10_1101);
    }
}
