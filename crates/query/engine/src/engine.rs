use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::utils::quote_identifier;
use datafusion::common::{DataFusionError, TableReference};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::DiskManager;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::memory::InMemory;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::{DFParserBuilder, Statement as Parsed};
use datafusion::sql::sqlparser::ast::Statement as SqlStatement;
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use nandle_io::{Io, Nanos};
use nandle_reads::Pricing;

use crate::memory::TablesMemory;
use crate::options::NandleOptions;
use crate::planning::planned;
use crate::run::Run;
use crate::scan::PlanReads;
use crate::table::{Access, Owners, PlannedTable};
use crate::threads::Threads;
use crate::{EngineError, HeldMemory, Host, Needs, Reads, Rows, Sessions, Source, allowed, session};

/// Processor time of the calling thread, from an arbitrary origin.
pub type ThreadClock = fn() -> Nanos;

/// Function that wraps a world.
pub type AroundWorld = dyn Fn(Box<dyn Io>) -> Box<dyn Io> + Send + Sync;

/// Layer between an engine and its worlds: to observe requests, or to inject faults in a test.
#[derive(Clone)]
pub struct WorldLayer(pub Arc<AroundWorld>);

impl std::fmt::Debug for WorldLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WorldLayer")
    }
}

/// Options of an engine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Memory for operators and reads together.
    pub memory_bytes: u64,
    /// Directory for temporary files.
    pub spill_directory: PathBuf,
    /// Limit on their total size.
    pub spill_limit_bytes: u64,
    /// Computing threads.
    pub threads: NonZeroUsize,
    /// Clock to predict and report the processor time of scans.
    pub thread_clock: ThreadClock,
    /// Concurrent queries; they share the memory for reads.
    pub queries: NonZeroUsize,
    /// Layer around its worlds; usually `None`.
    pub world_layer: Option<WorldLayer>,
}

/// Runs statements over tables.
pub struct Engine {
    context: SessionContext,
    threads: Arc<Threads>,
    tables: Mutex<BTreeMap<String, Arc<PlannedTable>>>,
    memory: Arc<TablesMemory>,
    owners: Arc<Owners>,
    /// Temporary files.
    files: Arc<DiskManager>,
    options: EngineOptions,
}

/// A parsed statement and its text. It may be so deep that a thread that holds it needs a stack of
/// [`STACK_BYTES`](crate::STACK_BYTES).
#[derive(Debug, Clone)]
pub struct Statement(pub(crate) Parsed, pub(crate) Arc<str>);

impl Statement {
    /// Returns true for EXPLAIN ANALYZE, which runs another statement and reports its cost.
    pub const fn is_analysis(&self) -> bool {
        matches!(&self.0, Parsed::Explain(explain) if explain.options.analyze)
    }

    /// Returns true if it queries tables.
    pub fn is_query(&self) -> bool {
        matches!(&self.0, Parsed::Statement(statement) if matches!(**statement, SqlStatement::Query(_)))
    }
}

impl std::fmt::Display for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Engine {
    /// Starts an engine without tables.
    ///
    /// # Errors
    /// Threads can't be started, or the spill directory doesn't exist.
    pub fn new(options: &EngineOptions) -> Result<Self, EngineError> {
        Self::extended(options, Ok)
    }

    /// As [`new`](Self::new), with the additions of `extend` to the planning session.
    ///
    /// # Errors
    /// See [`new`](Self::new); and errors of `extend`.
    pub fn extended(
        options: &EngineOptions,
        extend: impl FnOnce(SessionStateBuilder) -> Result<SessionStateBuilder, DataFusionError>,
    ) -> Result<Self, EngineError> {
        let threads = Arc::new(Threads::start(options.threads)?);
        let files = session::temporary_files(options)?;
        let context = session::open(options, Arc::clone(&files), extend)?;
        let pool = Arc::clone(&context.runtime_env().memory_pool);
        let memory = Arc::new(TablesMemory::new(pool, options.memory_bytes)?);
        let (tables, owners) = (Mutex::default(), Arc::default());
        Ok(Self { context, threads, tables, memory, owners, files, options: options.clone() })
    }

    /// Adds a source as a table. `pricing` has the read costs of its device.
    ///
    /// # Errors
    /// A file can't be read or is damaged, the files have different types, or the name is taken.
    pub fn add_table(&self, source: &Source, pricing: &Pricing) -> Result<(), EngineError> {
        let layer = self.options.world_layer.clone();
        let (memory, owners) = (Arc::clone(&self.memory), Arc::clone(&self.owners));
        let access = Access { pricing: pricing.clone(), layer, memory, owners };
        let table = Arc::new(PlannedTable::open(source, &access, self.options.thread_clock)?);
        self.context.register_table(TableReference::bare(&*source.name), Arc::clone(&table) as _)?;
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).insert(source.name.clone(), table);
        Ok(())
    }

    /// Parses statements separated by semicolons.
    ///
    /// # Errors
    /// A syntax error with its position.
    pub fn parse(&self, text: &str) -> Result<VecDeque<Statement>, EngineError> {
        let whole = Arc::from(text);
        Ok(parse(text)?.into_iter().map(|parsed| Statement(parsed, Arc::clone(&whole))).collect())
    }

    /// Plans and starts a statement.
    ///
    /// # Errors
    /// It refers to unknown names or is unsupported; or its reads can't be planned in the memory.
    pub fn run(&self, statement: &Statement) -> Result<Rows, EngineError> {
        self.run_noted(statement, None)
    }

    /// As [`run`](Self::run), and records the needs of the statement. Reads by the engine's own
    /// reader (`SET nandle.reads = 'engine'`) aren't recorded.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    pub fn run_noted(&self, statement: &Statement, needs: Option<Arc<Needs>>) -> Result<Rows, EngineError> {
        self.threads.block_on(async {
            let plan = planned(&self.context, statement.clone()).await?;
            allowed::check(&plan)?;
            let run = Run { context: self.context.clone(), statement: plan, needs };
            Rows::start(run, Arc::clone(&self.threads)).await
        })
    }

    /// Converts the engine to a source of sessions for many clients.
    ///
    /// # Errors
    /// The catalogue can't be created.
    pub fn into_sessions(self) -> Result<Sessions, EngineError> {
        Sessions::new(self.context, self.threads)
    }

    /// Converts the engine to a host, which runs parts of queries planned by other machines.
    pub fn into_host(self) -> Host {
        let runtime = self.context.runtime_env();
        // Only the owners' threads read tables, so plans can't refer to any other file.
        runtime.register_object_store(ObjectStoreUrl::local_filesystem().as_ref(), Arc::new(InMemory::new()));
        Host {
            tables: self.tables.into_inner().unwrap_or_else(PoisonError::into_inner),
            runtime,
            owners: self.owners,
            threads: self.threads,
            thread_count: self.options.threads,
            plan_reads: PlanReads::new(&self.options),
        }
    }

    /// Names that a statement can use: tables, and their columns in SQL form.
    ///
    /// # Errors
    /// A table can't be inspected.
    pub fn names(&self) -> Result<Vec<String>, EngineError> {
        let state = self.context.state();
        let catalog = &state.config_options().catalog;
        let found = self.context.catalog(&catalog.default_catalog);
        let Some(schema) = found.and_then(|found| found.schema(&catalog.default_schema)) else {
            return Ok(Vec::new());
        };
        let mut names = BTreeSet::new();
        for table in schema.table_names() {
            let columns = self.threads.block_on(schema.table(&table))?.map(|table| table.schema());
            let columns = columns.iter().flat_map(|columns| columns.fields().iter());
            names.extend(columns.map(|column| quote_identifier(column.name()).into_owned()));
            names.insert(quote_identifier(&table).into_owned());
        }
        Ok(names.into_iter().collect())
    }

    /// Current read mode of scans.
    pub fn reads(&self) -> Reads {
        let state = self.context.state();
        let options = state.config_options().extensions.get::<NandleOptions>();
        options.map(|options| options.reads).unwrap_or_default()
    }

    /// Reserves memory for the caller, initially none. Messages name it `what`.
    pub fn hold(&self, what: &str) -> HeldMemory {
        HeldMemory::new(what, &self.context.runtime_env().memory_pool)
    }

    /// Bytes in the spill directory.
    pub fn spilled_bytes(&self) -> u64 {
        self.files.used_disk_space()
    }
}

/// Parses statements separated by semicolons.
pub(crate) fn parse(text: &str) -> Result<VecDeque<Parsed>, EngineError> {
    allowed::check_text(text)?;
    let dialect = PostgreSqlDialect {};
    let mut parser = DFParserBuilder::new(text).with_dialect(&dialect).build()?;
    Ok(parser.parse_statements()?)
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}
