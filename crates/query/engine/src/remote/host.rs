use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DataFusionError, plan_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_optimizer::PhysicalOptimizerRule as _;
use datafusion::physical_plan::ExecutionPlan;
use tokio::runtime::Handle;

use super::{FileName, admitted};
use crate::scan::PlanReads;
use crate::table::{FileOf, Owners, PlannedTable, TableFiles};
use crate::threads::Threads;
use crate::{EngineError, ReadsState};

/// An engine that runs parts of queries planned by other machines, with its tables, memory and
/// threads.
pub struct Host {
    pub(crate) tables: BTreeMap<String, Arc<PlannedTable>>,
    pub(crate) runtime: Arc<RuntimeEnv>,
    pub(crate) owners: Arc<Owners>,
    pub(crate) threads: Arc<Threads>,
    pub(crate) thread_count: NonZeroUsize,
    pub(crate) plan_reads: PlanReads,
}

impl Host {
    /// Memory and directory of temporary files.
    pub fn runtime(&self) -> Arc<RuntimeEnv> {
        Arc::clone(&self.runtime)
    }

    /// State of each reading thread.
    pub fn reads(&self) -> Vec<ReadsState> {
        self.owners.states()
    }

    /// Computing threads.
    pub fn threads(&self) -> Handle {
        self.threads.handle().clone()
    }

    /// Memory for queries; `None` if unlimited.
    pub fn memory_bytes(&self) -> Option<u64> {
        match self.runtime.memory_pool.memory_limit() {
            MemoryLimit::Finite(bytes) => Some(bytes as u64),
            _ => None,
        }
    }

    /// Number of computing threads.
    pub const fn thread_count(&self) -> NonZeroUsize {
        self.thread_count
    }

    /// Replaces the scans of a received plan by planned scans of local tables. The plan keeps its
    /// shape.
    ///
    /// # Errors
    /// It refers to a table that is missing or has different data; it has a node that isn't
    /// allowed; or its reads can't be planned in the memory.
    pub fn plan(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        options: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>, EngineError> {
        let found = plan.transform_up(|node| self.found(node))?;
        Ok(self.plan_reads.optimize(found.data, options)?)
    }

    /// Replaces the names in a scan by local files.
    fn found(
        &self,
        node: Arc<dyn ExecutionPlan>,
    ) -> Result<Transformed<Arc<dyn ExecutionPlan>>, DataFusionError> {
        admitted::check(&node)?;
        let source = node.downcast_ref::<DataSourceExec>().map(DataSourceExec::data_source);
        let Some(config) = source.and_then(|source| source.downcast_ref::<FileScanConfig>()) else {
            return Ok(Transformed::no(node));
        };
        // Each table is opened once, even if it changes in the meantime.
        let mut opened = Vec::new();
        let mut groups = Vec::with_capacity(config.file_groups.len());
        for group in &config.file_groups {
            let files = group.iter().map(|file| self.file(file, &mut opened));
            groups.push(FileGroup::new(files.collect::<Result<_, _>>()?));
        }
        let config = FileScanConfigBuilder::from(config.clone()).with_file_groups(groups).build();
        Ok(Transformed::yes(DataSourceExec::from_data_source(config)))
    }

    fn file(
        &self,
        file: &PartitionedFile,
        opened: &mut Vec<(FileName, Arc<TableFiles>)>,
    ) -> Result<PartitionedFile, DataFusionError> {
        let Some(name) = FileName::of_path(file.path()) else {
            return plan_err!("{} is the name of no table's file; only tables are read here", file.path());
        };
        let known =
            opened.iter().find(|(other, _)| name.is_beside(other)).map(|(_, files)| Arc::clone(files));
        let files = if let Some(files) = known {
            files
        } else {
            let table = self.tables.get(&name.table).ok_or_else(|| self.unknown(&name.table))?;
            let files = table.files_in(&name.state, name.projection)?;
            opened.push((name.clone(), Arc::clone(&files)));
            files
        };
        let size = files.stamps.get(name.number).map(|stamp| stamp.length_bytes);
        if size != Some(file.object_meta.size) {
            let got = size.map_or_else(|| "not there".to_owned(), |bytes| format!("{bytes} bytes long"));
            let what = format!("file {} of the table `{}`", name.number + 1, name.table);
            let expected = format!("{} bytes long", file.object_meta.size);
            return Err(EngineError::OtherData { what, expected, got }.into());
        }
        let of = FileOf { files, number: name.number };
        Ok(file.clone().with_extension(of))
    }

    fn unknown(&self, table: &str) -> EngineError {
        let there: Vec<&str> = self.tables.keys().map(String::as_str).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        let why =
            format!("no such table is served here (there are: {there}); name it when the worker is started");
        EngineError::Source { name: table.to_owned(), why }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("tables", &self.tables.keys()).finish_non_exhaustive()
    }
}
