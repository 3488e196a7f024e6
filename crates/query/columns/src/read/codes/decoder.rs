use std::sync::Arc;

use arrow_array::{BooleanArray, new_empty_array};

use super::column::Source;
use super::runs::CodeBuffer;
use super::{CodeBatch, CodeColumn};
use crate::guard::guarded;
use crate::number::index;
use crate::read::bytes::StepBytes;
use crate::read::chunk::Chunk;
use crate::read::file::Column;
use crate::read::group::Group;
use crate::read::plan::ScanPlan;
use crate::read::rows::{self, Rows};
use crate::{ColumnsError, NULL_CODE};

/// Decodes a scan's rows to codes. Reuses its buffers.
pub struct CodeDecoder<'a> {
    group: Group<'a>,
    /// Remaining rows of the plan's batch.
    pending: Rows,
    /// Row group of `sources`.
    opened: u32,
    sources: Vec<Source>,
    columns: Vec<CodeColumn>,
    /// For each predicate, its dictionary number and the accepted codes.
    accepted: Vec<(u32, Vec<bool>)>,
    kept: Vec<bool>,
}

impl std::fmt::Debug for CodeDecoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeDecoder").field("group", &self.group).finish_non_exhaustive()
    }
}

impl<'a> CodeDecoder<'a> {
    /// Limit on the rows of a batch before predicates: the codes of a few columns fit in the L2
    /// cache.
    pub const BATCH_ROWS: u64 = 8 << 10;

    /// Decodes all row groups of a plan.
    pub fn new(plan: &'a ScanPlan) -> Self {
        Self::of_part(plan, 0, 1)
    }

    /// Decodes every `parts`th row group, so that several threads can share a scan: part 1 of 3
    /// gets the second, the fifth and so on. It receives only the bytes of their steps
    /// ([`ScanPlan::part_of`]), in order.
    pub fn of_part(plan: &'a ScanPlan, part: usize, parts: usize) -> Self {
        Self {
            group: Group::of_part(plan, part, parts),
            pending: Rows::new(),
            opened: 0,
            sources: Vec::new(),
            columns: Vec::new(),
            accepted: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// Returns the next rows, or `None` after the last. No batch is empty.
    ///
    /// # Errors
    /// Bytes can't be read or aren't Parquet. The decoder can't be used afterwards.
    pub fn next(&mut self, bytes: &mut dyn StepBytes) -> Result<Option<CodeBatch<'_>>, ColumnsError> {
        let outputs = self.group.plan().schema().fields().len();
        loop {
            if self.pending.is_empty() {
                if self.group.step_is_done() {
                    self.sources.iter_mut().for_each(Source::detach);
                }
                let Some(rows) = self.group.next_rows(bytes)? else { return Ok(None) };
                self.open_group()?;
                self.encode_values(&rows)?;
                self.pending = rows;
            }
            let rows = rows::take_front(&mut self.pending, Self::BATCH_ROWS);
            let rows = self.decode(&rows)?;
            if rows > 0 {
                let columns = self.columns.get(..outputs).unwrap_or_default();
                return Ok(Some(CodeBatch { group: self.group.plan_group(), rows, columns }));
            }
        }
    }

    /// Returns the dictionaries of the next row group without codes, or `None` after the last. The
    /// plan comes from [`ScanPlan::of_dictionaries`]. For a column that isn't dictionary-encoded in
    /// the row group, the dictionary contains the values of its rows.
    ///
    /// # Errors
    /// See [`next`](Self::next).
    pub fn next_dictionaries(
        &mut self,
        bytes: &mut dyn StepBytes,
    ) -> Result<Option<&[CodeColumn]>, ColumnsError> {
        if self.group.next_rows(bytes)?.is_none() {
            return Ok(None);
        }
        self.open_group()?;
        let rows = rows::one(0..self.group.chunks().first().map_or(0, Chunk::rows));
        self.encode_values(&rows)?;
        Ok(Some(&self.columns))
    }

    /// Encodes rows of columns that aren't dictionary-encoded.
    fn encode_values(&mut self, rows: &Rows) -> Result<(), ColumnsError> {
        self.each(|source, chunk, column, into| match source {
            Source::Values(values) => values.encode(chunk, column, rows, into),
            Source::Pages(_) => Ok(()),
        })
    }

    /// Decodes rows; returns their number after predicates.
    fn decode(&mut self, rows: &Rows) -> Result<usize, ColumnsError> {
        self.each(|source, chunk, column, into| source.fill(chunk, column, rows, into))?;
        self.filter(index(rows::count(rows)))
    }

    fn each(
        &mut self,
        mut work: impl FnMut(&mut Source, &mut Chunk, &Column, &mut CodeColumn) -> Result<(), ColumnsError>,
    ) -> Result<(), ColumnsError> {
        let columns = self.group.plan().columns_of(self.group.file());
        let chunks = self.group.chunks().iter_mut();
        let parts = chunks.zip(columns).zip(self.sources.iter_mut().zip(&mut self.columns));
        for ((chunk, column), (source, into)) in parts {
            let place = chunk.place.clone();
            guarded(&place, || work(source, chunk, column, into))?;
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<(), ColumnsError> {
        if self.opened == self.group.number() {
            return Ok(());
        }
        self.opened = self.group.number();
        let columns = self.group.plan().columns_of(self.group.file());
        if self.columns.len() != columns.len() {
            let empty = |column: &Column| CodeColumn {
                dictionary: new_empty_array(column.value_field.data_type()),
                dictionary_number: 0,
                codes: CodeBuffer::default(),
                has_nulls: false,
            };
            self.columns = columns.iter().map(empty).collect();
            self.accepted = vec![(0, Vec::new()); self.group.plan().predicates().len()];
        }
        let parts = self.group.chunks().iter_mut().zip(columns).zip(&mut self.columns);
        let opened = parts.map(|((chunk, column), into)| {
            let place = chunk.place.clone();
            guarded(&place, || Source::open(chunk, column, into))
        });
        self.sources = opened.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Removes rows that don't match the predicates.
    fn filter(&mut self, rows: usize) -> Result<usize, ColumnsError> {
        let predicates = self.group.plan().predicates();
        if predicates.is_empty() {
            return Ok(rows);
        }
        self.kept.clear();
        self.kept.resize(rows, true);
        for ((place, predicate), (number, accepted)) in predicates.iter().zip(&mut self.accepted) {
            let Some(column) = self.columns.get_mut(*place) else {
                unreachable!("predicates are on the plan's columns")
            };
            if *number != column.dictionary_number {
                let matches: BooleanArray = predicate.matches(&Arc::clone(&column.dictionary))?;
                *accepted = matches.values().iter().collect();
                *number = column.dictionary_number;
            }
            let of_null = predicate.accepts_null();
            for (kept, code) in self.kept.iter_mut().zip(column.codes.each()) {
                // Null codes are beyond the end of the dictionary.
                *kept &= accepted.get(*code as usize).copied().unwrap_or(of_null);
            }
        }
        debug_assert!(
            NULL_CODE as usize >= self.accepted.iter().map(|(_, accepted)| accepted.len()).max().unwrap_or(0)
        );
        let left = self.kept.iter().filter(|kept| **kept).count();
        if left < rows {
            for column in &mut self.columns {
                let mut kept = self.kept.iter();
                column.codes.each().retain(|_| kept.next().copied().unwrap_or(false));
            }
        }
        Ok(left)
    }
}
