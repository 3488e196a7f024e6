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

/// Memory for gathering and sorting rows, as a multiple of that of a row group.
const CLUSTER_PARTS: u64 = 2;

/// Appends rows to a table, or replaces rows. They become visible with [`commit`](Self::commit).
/// Dropped before that, it leaves the table unchanged.
pub struct TableWriter {
    writing: Writing,
    schema: SchemaRef,
    run: Option<RunWriter>,
    clusterer: Clusterer,
    keys: Option<Keys>,
    rows: u64,
    /// A write failed and lost rows.
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
        // Rows are gathered and sorted while a row group is being written.
        let memory_bytes = writing.row_group_bytes.saturating_mul(CLUSTER_PARTS);
        let clusterer = Clusterer::new(&writing.manifest.clustering, &schema, memory_bytes)?;
        let run = Some(RunWriter::new(schema.clone()));
        Ok(Self { writing, schema, run, clusterer, keys, rows: 0, has_failed: false })
    }

    /// Lowers the memory limit of row groups while they are written, if the layout's is higher.
    /// Sorting before writing takes twice as much in addition. Must be called before the first
    /// write.
    #[must_use]
    pub fn with_row_groups_of(mut self, bytes: u64) -> Self {
        self.writing.row_group_bytes = self.writing.row_group_bytes.min(bytes.max(1));
        self.clusterer.limit(self.writing.row_group_bytes.saturating_mul(CLUSTER_PARTS));
        self
    }

    /// Required columns of the rows.
    pub const fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Number of rows written.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes rows.
    ///
    /// # Errors
    /// The rows have other columns than the table, and none were written. Or an I/O error or a
    /// panic of the Parquet library occurred, and the writer can't be used any more.
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
        // Use the table's field metadata, not the batch's.
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

    /// Commits the rows durably. Without rows it changes nothing.
    ///
    /// # Errors
    /// A previous write failed, or an I/O error occurred. The table is unchanged, or contains the
    /// rows if one of the last steps failed; reopen it to find out.
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
        // Projections contain the old rows.
        self.writing.manifest.projections.clear();
        self.writing.commit_in_place()
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        self.writing.abandon();
    }
}
