//! Readers that the engine's Parquet source uses.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures_util::future::{BoxFuture, FutureExt as _};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;

use super::pieces::metadata_of;
use super::reads::PartitionReads;

/// Index of a file among the pieces of its partition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceNumber(pub(crate) usize);

/// Factory of a partition's readers.
#[derive(Debug)]
pub(crate) struct PlannedReaders(pub(crate) Arc<PartitionReads>);

impl ParquetFileReaderFactory for PlannedReaders {
    fn create_reader(
        &self,
        _partition: usize,
        file: PartitionedFile,
        _metadata_size_hint: Option<usize>,
        _metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>, DataFusionError> {
        let number = file.extension::<PieceNumber>();
        let number = number.ok_or_else(|| internal_datafusion_err!("{} is no planned piece", file.path()))?;
        Ok(Box::new(PlannedReader {
            reads: Arc::clone(&self.0),
            number: number.0,
            metadata: metadata_of(&file)?,
        }))
    }
}

/// Reader of a row group.
struct PlannedReader {
    reads: Arc<PartitionReads>,
    number: usize,
    metadata: Arc<ParquetMetaData>,
}

impl AsyncFileReader for PlannedReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        async move {
            let mut read = self.get_byte_ranges(vec![range]).await?;
            read.pop().ok_or_else(|| ParquetError::General("one stretch was asked for, none came".to_owned()))
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        async move {
            let read = self.reads.read(self.number, &ranges).await;
            read.map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        std::future::ready(Ok(Arc::clone(&self.metadata))).boxed()
    }
}
