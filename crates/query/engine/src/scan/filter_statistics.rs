//! Statistics of a row group for the columns of a dynamic filter.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use datafusion::common::{ColumnStatistics, DataFusionError, Statistics};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::{FileSource as _, ParquetSource};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::utils::collect_columns;
use parquet::file::metadata::ParquetMetaData;

/// Columns of a dynamic filter. Others are left out, because gathering their statistics takes
/// longer than planning a row group.
#[derive(Debug)]
pub(super) struct FilterStatistics {
    schema: SchemaRef,
    /// Index of each column among all columns of the files.
    places: Vec<usize>,
    all: usize,
}

impl FilterStatistics {
    /// Returns `None` if the filter is static.
    pub(super) fn of(filter: &Arc<dyn PhysicalExpr>, source: &ParquetSource) -> Option<Self> {
        if !DynamicFilterTracking::classify(filter).contains_dynamic_filter() {
            return None;
        }
        let files = source.table_schema().file_schema();
        let columns = collect_columns(filter);
        let mut places: Vec<usize> = columns.iter().map(Column::index).collect();
        places.retain(|place| *place < files.fields().len());
        places.sort_unstable();
        let fields: Vec<_> = places.iter().filter_map(|place| files.fields().get(*place).cloned()).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, files.metadata().clone()));
        Some(Self { schema, places, all: files.fields().len() })
    }

    /// Statistics of a row group from the footer, in the form of a file's.
    pub(super) fn of_row_group(
        &self,
        metadata: &ParquetMetaData,
        row_group: usize,
    ) -> Result<Statistics, DataFusionError> {
        let alone = vec![metadata.row_group(row_group).clone()];
        let alone = ParquetMetaData::new(metadata.file_metadata().clone(), alone);
        let mut known = DFParquetMetadata::statistics_from_parquet_metadata(&alone, &self.schema)?;
        let mut columns = vec![ColumnStatistics::new_unknown(); self.all];
        for (place, column) in self.places.iter().zip(known.column_statistics) {
            if let Some(known) = columns.get_mut(*place) {
                *known = column;
            }
        }
        known.column_statistics = columns;
        Ok(known)
    }
}
