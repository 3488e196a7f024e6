//! Materialized rows of a query in a view.

use std::io::Write as _;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::SchemaProvider as _;
use datafusion::common::internal_datafusion_err;
use datafusion::execution::SpillWriter;
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool as _};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::memory::PartOfMemory;
use super::session::Session;
use super::view::View;
use crate::output::of_parquet;
use crate::session::sort_reservation_bytes;
use crate::table::PlannedTable;
use crate::{EngineError, Rows};

/// Share of the memory (1 / n) for the materialized query, because others run meanwhile.
const MEMORY_PARTS: usize = 4;
/// Rows per page: queries need few, contiguous rows, and pages without them are skipped.
const PAGE_ROWS: usize = 4096;
/// Rows per row group. The writer holds one in encoded form, a few megabytes.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// Materialized rows of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptRows {
    /// Number of rows.
    pub rows: u64,
    /// Size of their file.
    pub file_bytes: u64,
    /// True if the file is on the file system of the table, whose device the predictions are for.
    pub is_on_tables_file_system: bool,
}

impl View {
    /// Materializes the rows of a query, in order, as another table. They are stored in a temporary
    /// Parquet file, within the limit on temporary files, and removed with the view. The query has
    /// a share of the memory and may spill. Waits for the rows, and calls `is_over` to check
    /// whether they are still wanted.
    ///
    /// # Errors
    /// It isn't a single query over the view's tables, failed, or is over; or its rows exceed the
    /// limit.
    pub fn keep(&self, name: &str, text: &str, is_over: &dyn Fn() -> bool) -> Result<KeptRows, EngineError> {
        let session = self.session.within_part(name)?;
        let runtime = session.context.runtime_env();
        let mut rows = self.session.threads.block_on(session.start_single(text, None))?;
        let file = runtime.disk_manager.create_tmp_file(name)?;
        let count = write(&mut rows, file.open_writer()?, is_over)?;
        drop(rows);
        let path = file.path().ok_or_else(|| internal_datafusion_err!("a temporary file has no path"))?;
        let (path, file_bytes) = (path.to_owned(), file.size().unwrap_or_default());
        let is_on_tables_file_system = self.table.lies_on_file_system_of(&path)?;
        let table = PlannedTable::temporary(name, &path, file, &self.table)?;
        self.tables.register_table(name.to_owned(), Arc::new(table))?;
        Ok(KeptRows { rows: count, file_bytes, is_on_tables_file_system })
    }
}

impl Session {
    /// Creates a session over the same tables with a share of the memory.
    fn within_part(&self, name: &str) -> Result<Self, EngineError> {
        let shared = self.context.runtime_env();
        let part = PartOfMemory::new(&shared.memory_pool, name, MEMORY_PARTS);
        let part_bytes = match part.memory_limit() {
            MemoryLimit::Finite(bytes) => bytes as u64,
            MemoryLimit::Infinite | MemoryLimit::Unknown => u64::MAX,
        };
        let runtime = RuntimeEnvBuilder::from_runtime_env(&shared).with_memory_pool(Arc::new(part));
        let shared = self.context.state();
        let config =
            shared.config().clone().with_sort_spill_reservation_bytes(sort_reservation_bytes(part_bytes));
        let state = SessionStateBuilder::new_from_existing(shared)
            .with_config(config)
            .with_runtime_env(runtime.build_arc()?)
            .build();
        Ok(Self {
            context: SessionContext::new_with_state(state),
            catalogue: Arc::clone(&self.catalogue),
            threads: Arc::clone(&self.threads),
        })
    }
}

/// Writes rows and counts them.
fn write(rows: &mut Rows, to: Box<dyn SpillWriter>, is_over: &dyn Fn() -> bool) -> Result<u64, EngineError> {
    let schema = SchemaRef::clone(rows.schema());
    let mut writer = ArrowWriter::try_new(to, schema, Some(properties())).map_err(of_temporary)?;
    let mut count = 0;
    while let Some(batch) = rows.next_batch(is_over)? {
        writer.write(&batch).map_err(of_temporary)?;
        count += batch.num_rows() as u64;
    }
    writer.into_inner().map_err(of_temporary)?.flush().map_err(EngineError::Output)?;
    Ok(count)
}

/// Unwraps errors of the engine, which writes temporary files, from I/O errors.
fn of_temporary(error: ParquetError) -> EngineError {
    match of_parquet(error) {
        EngineError::Output(source) => match source.downcast::<EngineError>() {
            Ok(own) => own,
            Err(source) => EngineError::Output(source),
        },
        error => error,
    }
}

/// For small data decoding costs more than reading, so use the format that decodes fastest.
fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::LZ4_RAW)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(PAGE_ROWS)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_created_by("nandle".to_owned())
        .build()
}
