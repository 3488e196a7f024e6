//! Data source of a planned scan.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Statistics, internal_err};
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource,
};
use datafusion::datasource::source::{DataSource, DataSourceExec};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, Time};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use futures_util::stream::{Stream, StreamExt as _};
use nandle_io::Nanos;
use nandle_reads::{Estimate, Outstanding, Strategy};

use super::decoding::{located, panicked};
use super::explain::{Processor, Taken, Told};
use super::pieces::{Pieces, find};
use super::processor::{self, known_seconds};
use super::pruner::Pruner;
use super::pruning::{is_evaluated_by_decoder, quickly_pruned};
use super::readers::{PieceNumber, PlannedReaders};
use super::reads::{DEVICE_TIME, PartitionReads};
use super::row_filter::RowFilter;
use super::share::{Share, deal, seconds};
use super::stoppers::Stoppers;
use crate::table::TableFiles;
use crate::{Needs, ThreadClock};

/// Metric of processor time.
const PROCESSOR_TIME: &str = "processor_time";
/// Metric of rows dropped by a dynamic filter.
const RULED_OUT_ROWS: &str = "ruled_out_rows";

/// The engine's scan with row groups as files, and the reads of each partition.
#[derive(Debug)]
pub(crate) struct PlannedScan {
    config: FileScanConfig,
    /// Order of the rows: that of the original scan.
    properties: EquivalenceProperties,
    files: Arc<TableFiles>,
    shares: Vec<Arc<Share>>,
    pub(crate) told: Told,
    outstanding: Arc<Mutex<Outstanding>>,
    stoppers: Arc<Stoppers>,
    clock: ThreadClock,
    /// Measured on first use.
    processor: OnceLock<Processor>,
}

impl PlannedScan {
    /// Plans a scan with `memory_bytes` for each partition's reads; `None` if it has no files.
    pub(crate) fn new(
        config: &FileScanConfig,
        source: &ParquetSource,
        strategy: Strategy,
        memory_bytes: u64,
        clock: ThreadClock,
    ) -> Result<Option<Self>, DataFusionError> {
        let source = quickly_pruned(source);
        let Pieces { files, all: pieces, row_groups, are_reordered } = find(config, &source)?;
        let Some(files) = files else { return Ok(None) };
        let read = pieces.len();
        let times = seconds(&pieces, &files);
        let dealt = deal(pieces, &times, config.file_groups.len(), are_reordered);
        let shares = dealt.into_iter().map(|pieces| {
            let share = Share::new(pieces, &files, strategy, memory_bytes);
            share.map(Arc::new).map_err(|error| DataFusionError::from(files.named(error)))
        });
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let source = source.with_bloom_filter_on_read(false);
        let whole = config.eq_properties();
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(Arc::new(source))
            .with_file_groups(shares.iter().map(|share| group(share)).collect())
            .build();
        let told = Told::new(strategy, (read, row_groups), &shares);
        let properties = if are_reordered { config.eq_properties() } else { whole };
        let (outstanding, stoppers, processor) = (Arc::default(), Arc::default(), OnceLock::new());
        Ok(Some(Self { config, properties, files, shares, told, outstanding, stoppers, clock, processor }))
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.files.name
    }

    pub(super) const fn config(&self) -> &FileScanConfig {
        &self.config
    }

    /// Number of partitions.
    pub(crate) fn partitions(&self) -> usize {
        self.config.file_groups.len()
    }

    pub(super) fn files(&self) -> &TableFiles {
        &self.files
    }

    pub(super) fn shares(&self) -> &[Arc<Share>] {
        &self.shares
    }

    /// Processor time of decoding for all partitions together; measured on the first call.
    pub(crate) fn processor(&self) -> &Processor {
        self.processor.get_or_init(|| {
            let pieces = || self.shares.iter().flat_map(|share| &share.pieces);
            let measured = processor::measure(&self.files, pieces(), self.clock);
            measured.map_err(|error| error.to_string())?;
            let seconds = pieces().filter_map(|piece| known_seconds(&self.files, piece));
            Ok(seconds.fold(Estimate::default(), |sum, of_piece| sum + of_piece))
        })
    }

    /// Time from the first request to the last row without other work. Partitions compute in
    /// parallel and share the device.
    pub(crate) fn seconds(&self) -> Result<Estimate, String> {
        self.processor().clone()?;
        let of_shares = self.shares.iter().map(|share| share.seconds(&self.files));
        Ok(of_shares.fold(self.told.device_seconds, Estimate::max))
    }

    /// Filter after the decoder. A scan with a limit counts the rows that it outputs, so it has
    /// none.
    fn row_filter(
        &self,
        source: &ParquetSource,
        schema: SchemaRef,
        batch_rows: usize,
        partition: usize,
    ) -> Result<Option<RowFilter>, DataFusionError> {
        if self.config.fetch().is_some() || is_evaluated_by_decoder(source) {
            return Ok(None);
        }
        let ruled_out = || MetricBuilder::new(&self.config.metrics()).counter(RULED_OUT_ROWS, partition);
        RowFilter::of(source, schema, batch_rows, ruled_out)
    }

    /// Measured figures so far.
    pub(crate) fn taken(&self) -> Taken {
        let metrics = self.config.metrics().clone_inner();
        let of = |name| metrics.sum_by_name(name).map_or(0, |value| value.as_usize() as u64);
        Taken {
            requests: of("requests"),
            read_bytes: of("read_bytes"),
            unplanned: of("unplanned"),
            device: Nanos(of(DEVICE_TIME)),
            processor: Nanos(of(PROCESSOR_TIME)),
        }
    }

    /// Stops its reads, regardless of the state of its consumers.
    pub(crate) fn stop(&self) {
        self.stoppers.stop();
    }

    /// Times at which its requests were outstanding.
    pub(crate) fn outstanding(&self) -> Outstanding {
        self.outstanding.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the planned scan of a plan node.
pub(crate) fn scan_of(node: &Arc<dyn ExecutionPlan>) -> Option<&PlannedScan> {
    node.downcast_ref::<DataSourceExec>()?.data_source().downcast_ref::<PlannedScan>()
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
            Arc::clone(&self.outstanding),
            Pruner::new(source, share),
            &self.config.metrics(),
            partition,
        );
        let reads = reads.stopped_by(Arc::clone(&self.stoppers));
        let reads = Arc::new(reads.noted_in(context.session_config().get_extension::<Needs>()));
        let readers = Arc::new(PlannedReaders(Arc::clone(&reads)));
        let batch_rows = context.session_config().batch_size();
        let with_reads = source.clone().with_parquet_file_reader_factory(readers);
        let config =
            FileScanConfigBuilder::from(self.config.clone()).with_source(Arc::new(with_reads)).build();
        let rows = config.open(partition, context)?;
        let schema = rows.schema();
        let processor = MetricBuilder::new(&self.config.metrics()).subset_time(PROCESSOR_TIME, partition);
        let rows = Timed { rows, clock: self.clock, processor };
        let rows = AssertUnwindSafe(rows).catch_unwind().map(move |batch| match batch {
            Ok(batch) => batch.map_err(|error| located(|| reads.damaged_place(), error)),
            Err(panic) => Err(panicked(&reads.damaged_place(), panic.as_ref()).into()),
        });
        let rows: SendableRecordBatchStream =
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows));
        Ok(match self.row_filter(source, schema, batch_rows, partition)? {
            Some(filter) => filter.filtered(rows),
            None => rows,
        })
    }

    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt_as(format, f)?;
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, ", {}", self.told.line(self.processor()))
            }
            DisplayFormatType::TreeRender => self.told.write_lines(f, self.processor()),
        }
    }

    fn output_partitioning(&self) -> Partitioning {
        self.config.output_partitioning()
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        self.properties.clone()
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

/// Rows whose processor time is measured.
struct Timed {
    rows: SendableRecordBatchStream,
    clock: ThreadClock,
    processor: Time,
}

impl Stream for Timed {
    type Item = Result<RecordBatch, DataFusionError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let began = (self.clock)();
        let next = self.rows.poll_next_unpin(context);
        self.processor.add_duration(Duration::from_nanos((self.clock)().since(began).0));
        next
    }
}
