//! Table provider for the engine.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DataFusionError;
use datafusion::datasource::TableType;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SpillFile;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use nandle_columns::{Projection, Snapshot};

use super::open::{Access, TableFiles};
use super::partitions::Partitions;
use super::path::RowsPath;
use super::source::Source;
use super::version::Version;
use crate::remote::DataState;
use crate::scan::predicted_seconds;
use crate::{EngineError, ThreadClock};

/// File of a scan, attached to its name as an extension.
#[derive(Debug, Clone)]
pub(crate) struct FileOf {
    pub(crate) files: Arc<TableFiles>,
    pub(crate) number: usize,
}

/// A table with planned scans. It hands out the engine's own scans of whole files; reads are
/// planned after the engine has pushed everything down.
#[derive(Debug)]
pub(crate) struct PlannedTable {
    source: Source,
    schema: SchemaRef,
    clock: ThreadClock,
    follows: Follows,
    opened: RwLock<RowsPath>,
    /// Held while files are reopened, so that only one thread does it.
    opening: Mutex<()>,
    /// Previously opened snapshots, latest first, for queries that another machine has planned.
    earlier: Mutex<VecDeque<RowsPath>>,
    /// Temporary file of a table created by the engine.
    temporary: Option<Temporary>,
}

/// Behaviour when the rows of a table change.
#[derive(Debug, Clone)]
enum Follows {
    /// Reopens the table.
    Changes,
    /// Pinned for a statement; the next one uses the inner table, which follows changes.
    Statement(Arc<PlannedTable>),
    /// Fixed; changed files are an error.
    Nothing,
}

/// A temporary file, removed on drop.
struct Temporary(#[expect(dead_code, reason = "it is held")] Arc<dyn SpillFile>);

impl std::fmt::Debug for Temporary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Temporary")
    }
}

/// Number of earlier snapshots kept open. Each keeps its files on disk, and a thread.
const EARLIER_MOST: usize = 2;

impl PlannedTable {
    pub(crate) fn open(source: &Source, access: &Access, clock: ThreadClock) -> Result<Self, EngineError> {
        let opened = RowsPath::new(Arc::new(TableFiles::open(source, access)?));
        Ok(Self::of(source, opened, clock))
    }

    fn of(source: &Source, opened: RowsPath, clock: ThreadClock) -> Self {
        let (source, schema) = (source.clone(), Arc::clone(opened.schema.table_schema()));
        let (opened, opening, earlier) = (RwLock::new(opened), Mutex::default(), Mutex::default());
        Self { source, schema, clock, follows: Follows::Changes, opened, opening, earlier, temporary: None }
    }

    /// Name in queries.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    /// Creates a table that owns a temporary Parquet file. Reads use the access of `like`.
    pub(crate) fn temporary(
        name: &str,
        path: &Path,
        file: Arc<dyn SpillFile>,
        like: &Self,
    ) -> Result<Self, EngineError> {
        let (files, partitions) = (vec![path.to_owned()], Partitions::default());
        let place = path.to_string_lossy().into_owned();
        let source = Source { name: name.to_owned(), table: None, files, partitions, place };
        let opened = Self::open(&source, &like.opened().files.access, like.clock)?;
        Ok(Self { follows: Follows::Nothing, temporary: Some(Temporary(file)), ..opened })
    }

    /// Returns true if a file is on the same file system as the table's first file.
    pub(crate) fn lies_on_file_system_of(&self, path: &Path) -> Result<bool, EngineError> {
        let opened = self.opened();
        let Some(first) = opened.files.paths.first() else { return Ok(true) };
        let system = |path: &Path| {
            std::fs::metadata(path).map(|found| found.dev()).map_err(EngineError::io("looking at", path))
        };
        Ok(system(first)? == system(path)?)
    }

    /// Returns the current version of the table, fixed: reads of changed files fail.
    pub(crate) fn as_of_now(&self) -> Result<Self, EngineError> {
        let opened = self.opened();
        let opened = if opened.files.version() == Version::now(&self.source)? {
            opened
        } else {
            RowsPath::new(Arc::new(TableFiles::open(&self.source, &opened.files.access)?))
        };
        Ok(Self { follows: Follows::Nothing, ..Self::of(&self.source, opened, self.clock) })
    }

    /// Returns the current version of the table for one statement.
    pub(crate) fn pinned(self: &Arc<Self>) -> Result<Arc<Self>, EngineError> {
        match &self.follows {
            Follows::Changes => {
                let follows = Follows::Statement(Arc::clone(self));
                Ok(Arc::new(Self { follows, ..Self::of(&self.source, self.latest()?, self.clock) }))
            }
            Follows::Statement(following) => following.pinned(),
            Follows::Nothing => Ok(Arc::clone(self)),
        }
    }

    /// Returns the table that follows changes; itself if it isn't pinned for a statement.
    pub(crate) fn unpinned(self: &Arc<Self>) -> Arc<Self> {
        match &self.follows {
            Follows::Statement(following) => Arc::clone(following),
            Follows::Changes | Follows::Nothing => Arc::clone(self),
        }
    }

    /// Returns the current rows, even if the columns have changed.
    fn latest(&self) -> Result<RowsPath, EngineError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = self.opened();
        if opened.files.version() == Version::now(&self.source)? {
            return Ok(opened);
        }
        let again = RowsPath::new(Arc::new(TableFiles::open(&self.source, &opened.files.access)?));
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = again.clone();
        Ok(again)
    }

    /// Files that were opened last.
    fn opened(&self) -> RowsPath {
        self.opened.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn version(&self) -> Version {
        self.opened().files.version()
    }

    /// Current version of the rows.
    pub(crate) fn version_now(&self) -> Result<Version, EngineError> {
        Version::now(&self.source)
    }

    /// Files for a scan. Those of a snapshot, a temporary table or a pinned table are fixed; others
    /// are listed again, and reopened if they have changed.
    fn current(&self) -> Result<RowsPath, EngineError> {
        let opened = self.opened();
        if self.source.table.is_some() || self.temporary.is_some() {
            return Ok(opened);
        }
        if !matches!(self.follows, Follows::Changes) {
            opened.files.check_all_unchanged()?;
            return Ok(opened);
        }
        if opened.files.version() == Version::now(&self.source)? {
            return Ok(opened);
        }
        self.reopened(&opened)
    }

    fn reopened(&self, opened: &RowsPath) -> Result<RowsPath, EngineError> {
        let again = RowsPath::new(Arc::new(TableFiles::open(&self.source, &opened.files.access)?));
        if again.schema.table_schema() != opened.schema.table_schema() {
            let why = "its files have changed, and have other columns now; start anew".to_owned();
            return Err(EngineError::Source { name: self.source.name.clone(), why });
        }
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = again.clone();
        Ok(again)
    }

    /// Returns the files, or those of a projection, in a state that another machine planned for.
    pub(crate) fn files_in(
        &self,
        state: &DataState,
        projection: Option<usize>,
    ) -> Result<Arc<TableFiles>, EngineError> {
        let table = self.in_state(state)?;
        let Some(number) = projection else { return Ok(table.files) };
        let manifest = table.files.snapshot.as_ref().and_then(Snapshot::manifest);
        let projection = manifest.and_then(|manifest| manifest.projections.get(number));
        let projection = projection.ok_or_else(|| EngineError::OtherData {
            what: format!("the table `{}`", self.source.name),
            expected: format!("{state} with a projection of the number {number}"),
            got: "without it".to_owned(),
        })?;
        Ok(self.projection(&table, projection)?.files)
    }

    /// Returns the rows in a state: opened now, opened before, or found by reopening the table.
    fn in_state(&self, state: &DataState) -> Result<RowsPath, EngineError> {
        let opened = self.current()?;
        if opened.files.state() == *state {
            return Ok(opened);
        }
        let earlier = || self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = earlier().iter().find(|known| known.files.state() == *state) {
            return Ok(known.clone());
        }
        let again = self.reopened(&opened)?;
        let got = again.files.state();
        if self.source.table.is_some() && got != opened.files.state() {
            let mut earlier = earlier();
            earlier.push_front(opened);
            earlier.truncate(EARLIER_MOST);
        }
        if got == *state {
            return Ok(again);
        }
        let what = format!("the table `{}`", self.source.name);
        Err(EngineError::OtherData { what, expected: state.to_string(), got: got.to_string() })
    }

    /// Projections that contain all of some columns.
    fn covering(&self, table: &RowsPath, columns: &[&str]) -> Result<Vec<RowsPath>, EngineError> {
        let manifest = table.files.snapshot.as_ref().and_then(Snapshot::manifest);
        let projections = manifest.map(|manifest| &*manifest.projections).unwrap_or_default();
        let covering = projections.iter().filter(|projection| projection.covers(columns.iter().copied()));
        covering.map(|projection| self.projection(table, projection)).collect()
    }

    /// Opens a projection of a table.
    fn projection(&self, table: &RowsPath, projection: &Projection) -> Result<RowsPath, EngineError> {
        let Some(directory) = &self.source.table else { unreachable!("only tables have projections") };
        table.projection(projection, directory)
    }

    /// Returns the scan with the least predicted time.
    fn quickest(
        &self,
        state: &dyn Session,
        scans: Vec<(RowsPath, FileScanConfig)>,
        filters: &[Expr],
    ) -> Result<Option<FileScanConfig>, DataFusionError> {
        let mut quickest: Option<(f64, FileScanConfig)> = None;
        let is_choice = scans.len() > 1;
        for (path, config) in scans {
            let seconds = if is_choice {
                predicted_seconds(&config, &path.foreseen(state, &config, filters)?, state, self.clock)?
            } else {
                0.0
            };
            if quickest.as_ref().is_none_or(|(least, _)| seconds < *least) {
                quickest = Some((seconds, config));
            }
        }
        Ok(quickest.map(|(_, config)| config))
    }
}

#[async_trait]
impl TableProvider for PlannedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>, DataFusionError> {
        // Filters only help to choose a projection; the engine still applies them.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let table = self.current()?;
        let schema = projection
            .map_or_else(|| Ok(self.schema()), |places| self.schema.project(places).map(Arc::new))?;
        if table.files.files.is_empty() {
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut paths = vec![table.clone()];
        if !columns.is_empty() {
            paths.extend(self.covering(&table, &columns)?);
        }
        let scans = paths.into_iter().map(|path| {
            let config = path.scan(state, &columns, limit)?;
            Ok((path, config))
        });
        let scans = scans.collect::<Result<Vec<_>, DataFusionError>>()?;
        let Some(config) = self.quickest(state, scans, filters)? else {
            unreachable!("a table itself is one of its paths")
        };
        Ok(DataSourceExec::from_data_source(config))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use nandle_columns::{Clustering, Layout, Table, TableOptions};
    use nandle_io::Nanos;
    use nandle_reads::{Estimate, Pricing, ReadCosts, RequestCost};

    use super::*;

    fn load(table: &Table, first: i64) {
        let column = || -> ArrayRef { Arc::new((first..first + 2000).collect::<Int64Array>()) };
        let rows = RecordBatch::try_from_iter([("id", column()), ("other", column())]).unwrap();
        let mut writer = table.load().unwrap();
        writer.write(&rows).unwrap();
        writer.commit().unwrap();
        table.project(&["id"], 1 << 20).unwrap();
    }

    fn access() -> Access {
        let request = RequestCost { request_bytes: 4096, depth: 1, seconds: Estimate::exact(1e-4) };
        let costs = ReadCosts {
            logical_block_bytes: 512,
            largest_request_bytes: 1 << 20,
            random: vec![request],
            sequential: Vec::new(),
            batches: Vec::new(),
            sequences: Vec::new(),
            price_error: 0.0,
        };
        let pool = Arc::new(datafusion::execution::memory_pool::UnboundedMemoryPool::default());
        let memory = crate::memory::TablesMemory::new(pool, 0).unwrap();
        let pricing = Pricing::new(costs).unwrap();
        Access { pricing, layer: None, memory: Arc::new(memory), owners: Arc::default() }
    }

    #[test]
    fn each_snapshot_has_its_own_projections_and_the_last_ones_stay_known() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("numbers");
        let fields =
            ["id", "other"].map(|name| arrow_schema::Field::new(name, arrow_schema::DataType::Int64, false));
        let schema = Arc::new(arrow_schema::Schema::new(fields.to_vec()));
        let options = TableOptions {
            layout: Layout::default(),
            clustering: Clustering::None,
            ..TableOptions::new(schema, 1)
        };
        let table = Table::create(&place, &options).unwrap();
        load(&table, 0);
        let source = Source::find(&place.display().to_string()).unwrap();
        let planned = PlannedTable::open(&source, &access(), || Nanos::ZERO).unwrap();
        let first = planned.current().unwrap();
        let (mut states, mut files) = (vec![first.files.state()], Vec::new());
        for number in 1..4 {
            load(&table, number * 10_000);
            let now = TableFiles::open(&source, &access()).unwrap().state();
            files.push(planned.files_in(&now, Some(0)).unwrap());
            states.push(now);
        }
        // A delayed query that was planned earlier.
        planned.covering(&first, &["id"]).unwrap();
        let projected = planned.covering(&planned.current().unwrap(), &["id"]).unwrap();
        assert_eq!(projected.first().unwrap().files.state(), states[3]);
        for (state, known) in states.iter().skip(1).zip(&files) {
            let again = planned.files_in(state, Some(0)).unwrap();
            assert!(again.state() == *state && Arc::ptr_eq(&again, known), "{state}");
        }
        let gone = planned.files_in(&states[0], None).unwrap_err();
        assert!(matches!(gone, EngineError::OtherData { .. }), "{gone}");
    }
}
