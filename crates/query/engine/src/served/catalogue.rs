//! Catalogue queries of PostgreSQL clients: `pg_catalog`, and rewriting of queries that the engine
//! doesn't support.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::catalog::SchemaProvider;
use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement as Sql, visit_relations};
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;

use super::functions;
use crate::session::{DATABASE, SCHEMA};
use crate::{EngineError, allowed, engine};

/// Marks of catalogue queries, in lower case.
const MARKS: [&str; 7] = [
    "pg_",
    "information_schema",
    "current_user",
    "current_schema",
    "current_catalog",
    "session_user",
    "::reg",
];

/// Catalogue of an engine's tables.
pub(super) struct Catalogue {
    parser: PostgresCompatibilityParser,
    tables: Arc<dyn SchemaProvider>,
}

impl Catalogue {
    /// Adds the catalogue and its functions to a context.
    pub(super) fn new(context: &SessionContext) -> Result<Self, EngineError> {
        setup_pg_catalog(context, DATABASE, EmptyContextProvider).map_err(|error| *error)?;
        functions::add(context);
        let tables = context.catalog(DATABASE).and_then(|catalog| catalog.schema(SCHEMA));
        let tables = tables.ok_or_else(|| internal_datafusion_err!("there is no schema {SCHEMA}"))?;
        Ok(Self { parser: PostgresCompatibilityParser::new(), tables })
    }

    /// Parses statements. Only pure catalogue queries are rewritten: the rewriting omits parts that
    /// clients don't need of the catalogue, such as correlated subqueries, and other queries must
    /// stay complete.
    pub(super) fn parse(&self, text: &str) -> Result<VecDeque<Parsed>, EngineError> {
        allowed::check_text(text)?;
        let parsed = engine::parse(text);
        if !has_mark(text) {
            return parsed;
        }
        let Ok(statements) = parsed else {
            return self.rewritten(text).map(VecDeque::from).or(parsed);
        };
        if let [Parsed::Statement(sql)] = statements.as_slices().0
            && statements.len() == 1
        {
            let is_rewritten = self.is_of_catalogue(sql);
            return if is_rewritten { self.rewritten(text).map(VecDeque::from) } else { Ok(statements) };
        }
        let each = statements.into_iter().map(|statement| match &statement {
            Parsed::Statement(sql) if self.is_of_catalogue(sql) => self.rewritten(&sql.to_string()),
            _ => Ok(vec![statement]),
        });
        Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    fn rewritten(&self, text: &str) -> Result<Vec<Parsed>, EngineError> {
        let statements =
            self.parser.parse(text).map_err(|error| DataFusionError::SQL(Box::new(error), None))?;
        Ok(statements.into_iter().map(|sql| Parsed::Statement(Box::new(sql))).collect())
    }

    /// Returns true for a query without tables of the engine.
    fn is_of_catalogue(&self, sql: &Sql) -> bool {
        let is_table = |name: &ObjectName| {
            if self.is_table(name) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        matches!(sql, Sql::Query(_))
            && has_mark(&sql.to_string())
            && visit_relations(sql, is_table).is_continue()
    }

    fn is_table(&self, name: &ObjectName) -> bool {
        let parts = name.0.iter().filter_map(|part| part.as_ident());
        let parts: Vec<&str> = parts.map(|part| part.value.as_str()).collect();
        let is_own =
            |name: &str| self.tables.table_exist(name) || self.tables.table_exist(&name.to_lowercase());
        match &*parts {
            [name] | [SCHEMA, name] | [DATABASE, SCHEMA, name] => is_own(name),
            _ => false,
        }
    }
}

fn has_mark(text: &str) -> bool {
    let text = text.to_lowercase();
    MARKS.iter().any(|mark| text.contains(mark))
}
