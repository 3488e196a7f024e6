//! A scan by plan, as the engine runs it.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Statistics, internal_err};
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource,
};
use datafusion::datasource::source::DataSource;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures_util::stream::StreamExt as _;
use nandle_reads::Strategy;

use super::decoding::{located, panicked};
use super::explain::Told;
use super::pieces::{Pieces, find};
use super::readers::{PieceNumber, PlannedReaders};
use super::reads::PartitionReads;
use super::share::{Share, deal};
use crate::Needs;
use crate::table::TableFiles;

/// The engine's scan, whose files are row groups, and the reads of each partition.
#[derive(Debug)]
pub(crate) struct PlannedScan {
    config: FileScanConfig,
    files: Arc<TableFiles>,
    shares: Vec<Arc<Share>>,
    told: Told,
}

impl PlannedScan {
    /// Plans a scan, each partition's reads in so much memory; `None` where it has no file.
    pub(crate) fn new(
        config: &FileScanConfig,
        source: &ParquetSource,
        strategy: Strategy,
        memory_bytes: u64,
    ) -> Result<Option<Self>, DataFusionError> {
        let Pieces { files, all: pieces, row_groups, are_reordered } = find(config, source)?;
        let Some(files) = files else { return Ok(None) };
        let read = pieces.len();
        let dealt = deal(pieces, config.file_groups.len(), are_reordered);
        let shares = dealt.into_iter().map(|pieces| {
            let share = Share::new(pieces, &files, strategy, memory_bytes);
            share.map(Arc::new).map_err(|error| DataFusionError::from(files.named(error)))
        });
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let source = source.clone().with_bloom_filter_on_read(false);
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(Arc::new(source))
            .with_file_groups(shares.iter().map(|share| group(share)).collect())
            .build();
        let told = Told::new(strategy, (read, row_groups), &shares);
        Ok(Some(Self { config, files, shares, told }))
    }
}

fn group(share: &Share) -> FileGroup {
    let files = share.pieces.iter().enumerate();
    FileGroup::new(
        files.map(|(number, piece)| piece.file.clone().with_extension(PieceNumber(number))).collect(),
    )
}

impl DataSource for PlannedScan {
    fn open(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let (Some(share), Some(source)) =
            (self.shares.get(partition), self.config.file_source().downcast_ref::<ParquetSource>())
        else {
            return internal_err!("a planned scan is of Parquet, and has no partition {partition}");
        };
        let reads = PartitionReads::new(
            Arc::clone(share),
            Arc::clone(&self.files),
            Arc::clone(context.memory_pool()),
            &self.config.metrics(),
            partition,
        );
        let reads = Arc::new(reads.noted_in(context.session_config().get_extension::<Needs>()));
        let readers = Arc::new(PlannedReaders(Arc::clone(&reads)));
        let source = source.clone().with_parquet_file_reader_factory(readers);
        let config = FileScanConfigBuilder::from(self.config.clone()).with_source(Arc::new(source)).build();
        let rows = config.open(partition, context)?;
        let schema = rows.schema();
        let rows = AssertUnwindSafe(rows).catch_unwind().map(move |batch| match batch {
            Ok(batch) => batch.map_err(|error| located(&reads.place(), error)),
            Err(panic) => Err(panicked(&reads.place(), panic.as_ref()).into()),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt_as(format, f)?;
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => write!(f, ", {}", self.told),
            DisplayFormatType::TreeRender => self.told.write_lines(f),
        }
    }

    fn output_partitioning(&self) -> Partitioning {
        self.config.output_partitioning()
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        self.config.eq_properties()
    }

    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>, DataFusionError> {
        self.config.partition_statistics(partition)
    }

    fn with_fetch(&self, _limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        None
    }

    fn fetch(&self) -> Option<usize> {
        self.config.fetch()
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.config.metrics()
    }

    fn try_swapping_with_projection(
        &self,
        _projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn DataSource>>, DataFusionError> {
        Ok(None)
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion, DataFusionError>,
    ) -> Result<TreeNodeRecursion, DataFusionError> {
        self.config.apply_expressions(visit)
    }
}
