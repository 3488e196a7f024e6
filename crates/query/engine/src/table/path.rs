//! Access paths of a table's rows: its own files, or those of a projection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{DataType, Schema, SortOptions};
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, DataFusionError, Statistics, config::TableParquetOptions};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::parquet::{
    CachedParquetFileReaderFactory, transform_schema_to_view,
};
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfig, FileScanConfigBuilder, ParquetSource,
};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion_datasource::TableSchema;
use nandle_columns::Projection;

use super::open::TableFiles;
use super::partitions::with_values;
use super::provider::FileOf;
use crate::{Elsewhere, EngineError};

/// Maximum number of files per thread that become a partition each, so that their order holds
/// without statistics. Partitions share the memory for reads, and each needs some.
const ORDERED_FILES_PER_THREAD_MAX: usize = 4;

/// Files that contain all rows of a table.
#[derive(Debug, Clone)]
pub(crate) struct RowsPath {
    pub(crate) files: Arc<TableFiles>,
    /// Its columns in the engine's types.
    pub(crate) schema: TableSchema,
    /// Opened projections of the same rows, by name.
    projections: Arc<Mutex<BTreeMap<String, RowsPath>>>,
}

impl RowsPath {
    pub(crate) fn new(files: Arc<TableFiles>) -> Self {
        let schema = TableSchema::builder(Arc::new(transform_schema_to_view(&files.schema)));
        let schema = schema.with_table_partition_cols(files.partitions.columns()).build();
        Self { files, schema, projections: Arc::default() }
    }

    /// Opens a projection of the table in `directory`.
    pub(super) fn projection(
        &self,
        projection: &Projection,
        directory: &std::path::Path,
    ) -> Result<Self, EngineError> {
        let mut known = self.projections.lock().unwrap_or_else(PoisonError::into_inner);
        let name = projection.name();
        let path = match known.get(&name) {
            Some(path) => path.clone(),
            None => Self::new(Arc::new(self.files.projection(projection, directory)?)),
        };
        Ok(known.entry(name).or_insert(path).clone())
    }

    /// Creates a scan of some columns.
    pub(crate) fn scan(
        &self,
        state: &dyn Session,
        columns: &[&str],
        limit: Option<usize>,
    ) -> Result<FileScanConfig, DataFusionError> {
        let files = (0..self.files.files.len()).map(|number| self.file(number));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let statistics = files.iter().filter_map(|file| file.statistics.as_deref());
        let statistics = Statistics::try_merge_iter(statistics, self.schema.table_schema())?;
        let url = ObjectStoreUrl::local_filesystem();
        // Exchanges between machines keep an order only if an operator established it.
        let stays_here = state.config().get_extension::<Elsewhere>().is_none();
        let ordered_files_max = ORDERED_FILES_PER_THREAD_MAX * state.config().target_partitions();
        let has_order = stays_here && files.len() <= ordered_files_max;
        let order = LexOrdering::new(self.order()).filter(|_| has_order);
        let groups = match order {
            Some(_) => files.into_iter().map(|file| FileGroup::new(vec![file])).collect(),
            None => FileGroup::new(files).split_files(state.config().target_partitions()),
        };
        let config = FileScanConfigBuilder::new(url.clone(), Arc::new(self.source(state, &url)?))
            .with_projection_indices(Some(self.places(columns)?))?
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_output_ordering(order.into_iter().collect())
            .with_limit(limit);
        Ok(config.build())
    }

    /// Adds predicates to a scan that the engine pushes down only later.
    pub(crate) fn foreseen(
        &self,
        state: &dyn Session,
        config: &FileScanConfig,
        filters: &[Expr],
    ) -> Result<ParquetSource, DataFusionError> {
        let Some(source) = config.file_source().downcast_ref::<ParquetSource>() else {
            unreachable!("scans of tables are of Parquet")
        };
        let Some(filter) = conjunction(filters.iter().cloned()) else { return Ok(source.clone()) };
        let schema = DFSchema::try_from(Arc::clone(self.schema.table_schema()))?;
        Ok(source.clone().with_predicate(state.create_physical_expr(filter, &schema)?))
    }

    fn source(&self, state: &dyn Session, url: &ObjectStoreUrl) -> Result<ParquetSource, DataFusionError> {
        let runtime = state.runtime_env();
        let options = TableParquetOptions {
            global: state.config_options().execution.parquet.clone(),
            ..TableParquetOptions::default()
        };
        let own_reader = CachedParquetFileReaderFactory::new(
            runtime.object_store(url)?,
            runtime.cache_manager.get_file_metadata_cache(),
        );
        Ok(ParquetSource::new(self.schema.clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(own_reader)))
    }

    fn places(&self, columns: &[&str]) -> Result<Vec<usize>, DataFusionError> {
        columns.iter().map(|column| Ok(self.schema.table_schema().index_of(column)?)).collect()
    }

    /// Order of its rows: nulls first, which matters only if there are any. Floating-point columns
    /// are excluded, because their order differs.
    fn order(&self) -> Vec<PhysicalSortExpr> {
        let schema: &Schema = self.schema.table_schema();
        let columns = self.files.order.iter().map_while(|column| schema.column_with_name(column));
        let is_known = |field: &DataType| !field.is_floating();
        let columns = columns.take_while(|(_, field)| is_known(field.data_type()));
        let options = SortOptions { descending: false, nulls_first: true };
        let by = columns
            .map(|(place, field)| PhysicalSortExpr::new(Arc::new(Column::new(field.name(), place)), options));
        by.collect()
    }

    fn file(&self, number: usize) -> Result<PartitionedFile, DataFusionError> {
        let files = &self.files;
        let (Some(file), Some(path), Some(stamp)) =
            (files.files.get(number), files.paths.get(number), files.stamps.get(number))
        else {
            unreachable!("files, paths and stamps are of the same files")
        };
        let own = self.schema.file_schema();
        let statistics = DFParquetMetadata::statistics_from_parquet_metadata(file.metadata(), own)?;
        let statistics = without_bounds_of_floats(statistics, own);
        let values = files.partitions.values(number);
        let meta = ObjectMeta {
            location: Path::from_filesystem_path(path)?,
            last_modified: stamp.modified.into(),
            size: stamp.length_bytes,
            e_tag: None,
            version: None,
        };
        let file = PartitionedFile {
            statistics: Some(Arc::new(with_values(statistics, &values))),
            partition_values: values,
            ..PartitionedFile::new_from_meta(meta)
        };
        Ok(file.with_extension(FileOf { files: Arc::clone(files), number }))
    }
}

/// They omit NaN, which sorts above all numbers, so queries can't be answered by them.
fn without_bounds_of_floats(mut statistics: Statistics, schema: &Schema) -> Statistics {
    let columns = statistics.column_statistics.iter_mut().zip(schema.fields());
    for (column, _) in columns.filter(|(_, field)| field.data_type().is_floating()) {
        (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
    }
    statistics
}
