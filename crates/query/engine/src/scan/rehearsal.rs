//! Dry run of the engine's Parquet source: it is opened as for a query, and its first request for
//! bytes is recorded instead of answered. So pruning by statistics and page index, projections of
//! nested columns and limits are the engine's own, and planning can't differ from them.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::common::DataFusionError;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileSource, ParquetFileReaderFactory, ParquetSource,
};
use datafusion::object_store::memory::InMemory;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_datasource::morsel::Morselizer;
use futures_util::future::{BoxFuture, FutureExt, pending};
use futures_util::stream::StreamExt as _;
use nandle_columns::Place;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::ParquetMetaData;

use super::decoding::panicked;
use super::pieces::metadata_of;

/// The batch size doesn't affect the bytes read.
const BATCH_ROWS: usize = 1024;

/// Requested byte ranges of a file.
type Asked = Arc<Mutex<Vec<Range<u64>>>>;

/// A scan without reads.
#[derive(Debug)]
pub(crate) struct Rehearsal {
    morselizer: Box<dyn Morselizer>,
    asked: Asked,
}

impl Rehearsal {
    /// Copies the source without its metrics, which belong to the real scan.
    pub(crate) fn new(config: &FileScanConfig, source: &ParquetSource) -> Result<Self, DataFusionError> {
        let asked = Asked::default();
        let mut same = ParquetSource::new(source.table_schema().clone())
            .with_table_parquet_options(source.table_parquet_options().clone())
            .with_bloom_filter_on_read(false)
            .with_parquet_file_reader_factory(Arc::new(Spies(Arc::clone(&asked))));
        if let Some(filter) = source.filter() {
            same = same.with_predicate(filter);
        }
        let all: Arc<dyn FileSource> = Arc::new(same);
        let projected = source.projection().map(|projection| all.try_pushdown_projection(projection));
        let projected = projected.transpose()?.flatten().unwrap_or(all);
        let source = projected.with_batch_size(BATCH_ROWS);
        let morselizer = source.create_morselizer(Arc::new(InMemory::new()), config, 0)?;
        Ok(Self { morselizer, asked })
    }

    /// Byte ranges of a piece in the order of requests; `None` if it has no rows left.
    pub(crate) fn wanted(
        &self,
        piece: &PartitionedFile,
        place: &Place,
    ) -> Result<Option<Vec<Range<u64>>>, DataFusionError> {
        self.asked().clear();
        let opened = catch_unwind(AssertUnwindSafe(|| self.open(piece.clone())));
        let has_rows = opened.unwrap_or_else(|panic| Err(panicked(place, panic.as_ref()).into()))?;
        let asked = std::mem::take(&mut *self.asked());
        Ok((has_rows || !asked.is_empty()).then_some(asked))
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Vec<Range<u64>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a piece up to its first request. Returns true if it has rows without one. Never
    /// blocks, because footers and page indexes are in memory.
    fn open(&self, piece: PartitionedFile) -> Result<bool, DataFusionError> {
        let mut planners = vec![self.morselizer.plan_file(piece)?];
        while let Some(planner) = planners.pop() {
            let Some(mut plan) = planner.plan()? else { continue };
            let next = plan.take_pending_planner().and_then(FutureExt::now_or_never);
            planners.extend(next.transpose()?);
            planners.extend(plan.take_ready_planners());
            for morsel in plan.take_morsels() {
                let mut rows = morsel.into_stream();
                if let Some(Some(batch)) = rows.next().now_or_never() {
                    batch?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Factory of readers that record their requests.
#[derive(Debug)]
struct Spies(Asked);

impl ParquetFileReaderFactory for Spies {
    fn create_reader(
        &self,
        _partition: usize,
        file: PartitionedFile,
        _metadata_size_hint: Option<usize>,
        _metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>, DataFusionError> {
        Ok(Box::new(Spy { asked: Arc::clone(&self.0), metadata: metadata_of(&file)? }))
    }
}

struct Spy {
    asked: Asked,
    metadata: Arc<ParquetMetaData>,
}

impl AsyncFileReader for Spy {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(range);
        pending().boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).extend(ranges);
        pending().boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        std::future::ready(Ok(Arc::clone(&self.metadata))).boxed()
    }
}
