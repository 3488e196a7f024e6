use std::collections::HashSet;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::cluster::Clusterer;
use super::replace::{Keys, remove_replaced};
use super::run_writer::RunWriter;
use super::schema;
use super::writing::{Commit, Writing};
use crate::ColumnsError;
use crate::directory::Run;

/// Of the memory of a row group, what rows take while they are gathered and put in order.
const CLUSTER_PARTS: u64 = 2;

/// Appends rows to a table, or puts them in the place of others. Nothing is seen of them until [`commit`](Self::commit); dropped before
/// that, the table is as it was.
pub struct TableWriter {
    writing: Writing,
    schema: SchemaRef,
    run: Option<RunWriter>,
    clusterer: Clusterer,
    keys: Option<Keys>,
    rows: u64,
    /// Rows got lost in a write: what was written isn't what was handed over.
    has_failed: bool,
}

impl std::fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl TableWriter {
    pub(super) fn new(writing: Writing, keys: &[&str]) -> Result<Self, ColumnsError> {
        let schema = writing.manifest.schema()?;
        let keys = if keys.is_empty() { None } else { Some(Keys::new(&schema, keys, HashSet::new())?) };
        // Rows are gathered and put in order beside the row group that is written.
        let memory_bytes = writing.row_group_bytes.saturating_mul(CLUSTER_PARTS);
        let clusterer = Clusterer::new(&writing.manifest.clustering, &schema, memory_bytes)?;
        let run = Some(RunWriter::new(schema.clone()));
        Ok(Self { writing, schema, run, clusterer, keys, rows: 0, has_failed: false })
    }

    /// Has its row groups take so many bytes at most in memory while they are written, even where the table's layout has them take more. Rows that are put in
    /// order before they are written take twice as many. Call it before the first row is written.
    #[must_use]
    pub fn with_row_groups_of(mut self, bytes: u64) -> Self {
        self.writing.row_group_bytes = self.writing.row_group_bytes.min(bytes.max(1));
        self.clusterer.limit(self.writing.row_group_bytes.saturating_mul(CLUSTER_PARTS));
        self
    }

    /// The columns that rows must have.
    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many rows were written.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes rows.
    ///
    /// # Errors
    /// They have other columns than the table, and nothing of them was written; or the system refuses, or the Parquet library panics, and the writer
    /// takes no more.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ColumnsError> {
        self.check_sound()?;
        schema::check(&self.schema, batch)?;
        let taken = self.take(batch);
        self.has_failed |= taken.is_err();
        taken
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<(), ColumnsError> {
        if let Some(keys) = &mut self.keys {
            keys.add(batch)?;
        }
        self.rows += batch.num_rows() as u64;
        // Dictionaries and metadata are the table's, whatever the batch calls them.
        let batch = RecordBatch::try_new(self.schema.clone(), batch.columns().to_vec());
        let batch = batch.map_err(ColumnsError::arrow("taking rows"))?;
        let Some(run) = &mut self.run else {
            unreachable!("only a commit takes it, and that consumes the writer")
        };
        self.clusterer.write(&mut self.writing, run, batch)
    }

    fn check_sound(&self) -> Result<(), ColumnsError> {
        let what = "a write of these rows has failed".to_owned();
        let mend = "drop the writer, and begin with all of them again";
        if self.has_failed { Err(ColumnsError::Misuse { what, mend }) } else { Ok(()) }
    }

    /// Makes the rows part of the table, durably. Without rows it changes nothing.
    ///
    /// # Errors
    /// A write has failed before; or the system refuses: the table is as it was, or, where the last steps failed, holds the rows; open it to see.
    pub fn commit(mut self) -> Result<Commit, ColumnsError> {
        self.check_sound()?;
        let Some(mut run) = self.run.take() else {
            unreachable!("only a commit takes it, and that consumes the writer")
        };
        self.clusterer.finish(&mut self.writing, &mut run)?;
        let files = run.finish(&mut self.writing)?;
        if let Some(keys) = &mut self.keys {
            remove_replaced(&mut self.writing, keys)?;
        }
        if files.is_empty() {
            return Ok(self.writing.unchanged());
        }
        let snapshot = self.writing.manifest.snapshot;
        self.writing.manifest.runs.push(Run { snapshot, files });
        // They are of the rows as they were.
        self.writing.manifest.projections.clear();
        self.writing.commit_in_place()
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        self.writing.abandon();
    }
}
