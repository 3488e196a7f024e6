//! A table as the engine knows it.

use std::sync::{Arc, PoisonError, RwLock};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Statistics;
use datafusion::common::{DataFusionError, config::TableParquetOptions};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::parquet::{
    CachedParquetFileReaderFactory, transform_schema_to_view,
};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion_datasource::TableSchema;
use nandle_reads::ReadCosts;

use super::open::TableFiles;
use super::partitions::with_values;
use super::source::Source;
use crate::EngineError;

/// The file of a scan, which the engine carries along with its name.
#[derive(Debug, Clone)]
pub(crate) struct FileOf {
    pub(crate) files: Arc<TableFiles>,
    pub(crate) number: usize,
}

/// A table whose scans are planned. As it hands them out they are the engine's own, of whole files; which bytes are read and how is
/// decided when the engine has pushed down all that it can.
#[derive(Debug)]
pub(crate) struct PlannedTable {
    source: Source,
    schema: TableSchema,
    opened: RwLock<Arc<TableFiles>>,
}

impl PlannedTable {
    pub(crate) fn open(source: &Source, costs: &ReadCosts) -> Result<Self, EngineError> {
        let opened = Arc::new(TableFiles::open(source, costs)?);
        let schema = TableSchema::builder(Arc::new(transform_schema_to_view(&opened.schema)));
        let schema = schema.with_table_partition_cols(opened.partitions.columns()).build();
        Ok(Self { source: source.clone(), schema, opened: RwLock::new(opened) })
    }

    /// The files as they are now: those of a table stay with its snapshot, others are opened again when one of them has changed.
    fn current(&self) -> Result<Arc<TableFiles>, EngineError> {
        let opened = Arc::clone(&self.opened.read().unwrap_or_else(PoisonError::into_inner));
        if self.source.table.is_some() || opened.are_current()? {
            return Ok(opened);
        }
        let again = Arc::new(TableFiles::open(&self.source, &opened.costs)?);
        if again.schema != opened.schema {
            let why = "its files have changed, and have other columns now; start anew".to_owned();
            return Err(EngineError::Source { name: self.source.name.clone(), why });
        }
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&again);
        Ok(again)
    }

    fn file(&self, files: &Arc<TableFiles>, number: usize) -> Result<PartitionedFile, DataFusionError> {
        let (Some(file), Some(path), Some(stamp)) =
            (files.files.get(number), files.paths.get(number), files.stamps.get(number))
        else {
            unreachable!("files, paths and stamps are of the same files")
        };
        let own = self.schema.file_schema();
        let statistics = DFParquetMetadata::statistics_from_parquet_metadata(file.metadata(), own)?;
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

#[async_trait]
impl TableProvider for PlannedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let files = self.current()?;
        if files.files.is_empty() {
            let schema = projection
                .map_or_else(|| Ok(self.schema()), |columns| self.schema().project(columns).map(Arc::new))?;
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let files = (0..files.files.len()).map(|number| self.file(&files, number));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let statistics = files.iter().filter_map(|file| file.statistics.as_deref());
        let statistics = Statistics::try_merge_iter(statistics, self.schema.table_schema())?;
        let (url, runtime) = (ObjectStoreUrl::local_filesystem(), state.runtime_env());
        let options = TableParquetOptions {
            global: state.config_options().execution.parquet.clone(),
            ..TableParquetOptions::default()
        };
        let own_reader = CachedParquetFileReaderFactory::new(
            runtime.object_store(&url)?,
            runtime.cache_manager.get_file_metadata_cache(),
        );
        let source = ParquetSource::new(self.schema.clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(own_reader));
        let groups = FileGroup::new(files).split_files(state.config().target_partitions());
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_projection_indices(projection.cloned())?
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
