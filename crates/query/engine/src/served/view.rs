//! A pinned version of a table, for several queries over the same rows.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::{
    CatalogProvider as _, CatalogProviderList as _, MemoryCatalogProvider, MemoryCatalogProviderList,
    MemorySchemaProvider, SchemaProvider as _, TableProvider,
};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionContext;

use super::request::Request;
use super::session::{Session, Sessions};
use crate::session::{DATABASE, SCHEMA};
use crate::table::{PlannedTable, Version};
use crate::{EngineError, Needs, Rows};

/// A pinned version of one table, with its materialized queries ([`keep`](Self::keep)). Shares
/// memory and threads with the engine. If a file changes, reads fail.
#[derive(Debug)]
pub struct View {
    pub(super) session: Session,
    pub(super) table: Arc<PlannedTable>,
    /// The table, and materialized queries.
    pub(super) tables: Arc<MemorySchemaProvider>,
    schema: SchemaRef,
    version: Version,
}

impl Sessions {
    /// Pins the current version of a table.
    ///
    /// # Errors
    /// The table doesn't exist, or its files can't be opened.
    pub fn view(&self, table: &str) -> Result<View, EngineError> {
        let planned = Arc::new(self.with_table(table, PlannedTable::as_of_now)?);
        let (schema, version) = (planned.schema(), planned.version());
        let tables = Arc::new(MemorySchemaProvider::new());
        tables.register_table(table.to_owned(), Arc::clone(&planned) as _)?;
        let catalog = MemoryCatalogProvider::new();
        catalog.register_schema(SCHEMA, Arc::clone(&tables) as _)?;
        let catalogs = MemoryCatalogProviderList::new();
        catalogs.register_catalog(DATABASE.to_owned(), Arc::new(catalog));
        let state = SessionStateBuilder::new_from_existing(self.context.state())
            .with_catalog_list(Arc::new(catalogs))
            .build();
        let session = Session { context: SessionContext::new_with_state(state), ..self.open() };
        Ok(View { session, table: planned, tables, schema, version })
    }

    /// Current version of a table.
    ///
    /// # Errors
    /// The table doesn't exist, or its files can't be inspected.
    pub fn version(&self, table: &str) -> Result<Version, EngineError> {
        self.with_table(table, PlannedTable::version_now)
    }

    fn with_table<T>(
        &self,
        name: &str,
        look: impl FnOnce(&PlannedTable) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let unknown = || EngineError::Source {
            name: name.to_owned(),
            why: "there is no table of this name".to_owned(),
        };
        let schema = self.context.catalog(DATABASE).and_then(|catalog| catalog.schema(SCHEMA));
        let schema = schema.ok_or_else(unknown)?;
        let found = self.threads.block_on(schema.table(name))?.ok_or_else(unknown)?;
        found.downcast_ref::<PlannedTable>().ok_or_else(unknown).and_then(look)
    }
}

impl View {
    /// Columns of the table.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Pinned version of the table.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Starts a query, and records its needs.
    ///
    /// # Errors
    /// It isn't a single query over the view's tables, or its reads can't be planned in the memory.
    pub async fn start(&self, text: &str, needs: Arc<Needs>) -> Result<Rows, EngineError> {
        self.session.start_single(text, Some(needs)).await
    }
}

impl Session {
    /// Starts a text with exactly one query.
    pub(super) async fn start_single(
        &self,
        text: &str,
        needs: Option<Arc<Needs>>,
    ) -> Result<Rows, EngineError> {
        let mut requests = self.parse(text).await?;
        let (Some(Request::Query(statement)), true) = (requests.pop(), requests.is_empty()) else {
            return Err(EngineError::Refused {
                what: text.to_owned(),
                why: "a view answers one query at a time",
            });
        };
        let prepared = self.prepare(&statement).await?;
        self.start_noted(&prepared, needs).await
    }
}
