//! Pins a statement's tables to the version at the time of planning, even if it names a table
//! several times.
//!
//! Tables in the catalogue follow their files. A lookup returns the current version, which is
//! fixed; a statement looks up each of its tables once.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::datasource::{ViewTable, provider_as_source, source_as_provider};
use datafusion::logical_expr::{LogicalPlan, TableScan};

use super::provider::PlannedTable;
use crate::EngineError;

/// Tables by name.
#[derive(Debug, Default)]
pub(crate) struct CurrentTables(MemorySchemaProvider);

#[async_trait]
impl SchemaProvider for CurrentTables {
    fn table_names(&self) -> Vec<String> {
        self.0.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        self.0.table(name).await?.map(as_of_now).transpose()
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        self.0.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        self.0.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.0.table_exist(name)
    }
}

/// Pins a table, or a view with its tables.
fn as_of_now(table: Arc<dyn TableProvider>) -> Result<Arc<dyn TableProvider>, DataFusionError> {
    if let Some(planned) = planned(&table) {
        return Ok(planned.pinned()?);
    }
    let Some(view) = table.downcast_ref::<ViewTable>() else { return Ok(table) };
    let Some(plan) = pinned(view.logical_plan())? else {
        let why = "the columns of its tables have changed since it was made; make it anew".to_owned();
        let name = view.definition().cloned().unwrap_or_default();
        return Err(EngineError::Source { name, why }.into());
    };
    Ok(Arc::new(ViewTable::new(plan, view.definition().cloned())))
}

fn planned(table: &Arc<dyn TableProvider>) -> Option<Arc<PlannedTable>> {
    let table: Arc<dyn Any + Send + Sync> = Arc::clone(table) as _;
    table.downcast().ok()
}

/// Pins the tables of a plan to their current version; `None` if a scan's columns have changed.
pub(crate) fn pinned(plan: &LogicalPlan) -> Result<Option<LogicalPlan>, EngineError> {
    let (mut pins, mut has_same_columns) = (BTreeMap::new(), true);
    let pinned = with_tables(plan, |scan, table| {
        let name = table.name().to_owned();
        let pin = match pins.get(&name) {
            Some(known) => Arc::clone(known),
            None => pins.entry(name).or_insert(table.pinned()?).clone(),
        };
        has_same_columns &= has_columns_of(&pin, scan)?;
        Ok(pin)
    })?;
    Ok(has_same_columns.then_some(pinned))
}

/// Replaces pinned tables of a plan by those that follow their files. Must be [`pinned`] before it
/// runs.
pub(crate) fn unpinned(plan: &LogicalPlan) -> Result<LogicalPlan, EngineError> {
    with_tables(plan, |_, table| Ok(table.unpinned()))
}

/// Returns true if a table still has the columns of a scan.
fn has_columns_of(table: &PlannedTable, scan: &TableScan) -> Result<bool, DataFusionError> {
    let schema = table.schema();
    let columns = match &scan.projection {
        Some(places) if places.iter().any(|place| *place >= schema.fields().len()) => return Ok(false),
        Some(places) => schema.project(places)?.fields,
        None => schema.fields().clone(),
    };
    Ok(columns == *scan.projected_schema.fields())
}

/// Replaces the tables of a plan.
fn with_tables(
    plan: &LogicalPlan,
    mut exchange: impl FnMut(&TableScan, Arc<PlannedTable>) -> Result<Arc<PlannedTable>, DataFusionError>,
) -> Result<LogicalPlan, EngineError> {
    let exchanged = plan.clone().transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(scan) = node else { return Ok(Transformed::no(node)) };
        let Some(table) = source_as_provider(&scan.source).ok().as_ref().and_then(planned) else {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        };
        let table = exchange(&scan, table)?;
        let scan = TableScan { source: provider_as_source(table), ..scan };
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    });
    Ok(exchanged.data()?)
}
