//! Planning side: the workers, their shares of a query, and the handling of lost workers.

mod handlers;
mod held;
mod planner;
mod roster;
mod told;
mod watch;
mod watched;

use std::sync::Arc;
use std::time::Duration;

use datafusion::common::DataFusionError;
use datafusion::common::config::ConfigOptions;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion_distributed::{DistributedExt as _, SessionStateBuilderExt as _};
use futures_util::future::FutureExt as _;
use nandle_engine::{Elsewhere, NandleOptions};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::connection::{Authorities, Connections, Resolver};
use crate::joins::JoinCodec;
use crate::wire::Pass;
use crate::{Secret, WorkerError};
use handlers::Shares;
use planner::WatchedPlanner;
use roster::Roster;
use watch::Watchers;

pub use held::HeldRows;

/// Threads for connections to workers.
const THREADS: usize = 2;

/// Workers of a cluster, and the distribution of queries.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Addresses of the workers.
    pub urls: Vec<Url>,
    /// Version of the program; workers of another version refuse.
    pub version: String,
    /// Secret required by workers that listen on more than their own machine.
    pub secret: Option<Secret>,
    /// Trusted certificate authorities of the workers, as PEM. If given, their URLs begin with
    /// `https`.
    pub authorities: Option<Vec<u8>>,
    /// Scans predicted to take less aren't distributed.
    pub distribute_above: Duration,
    /// True to continue queries with the remaining workers.
    pub goes_on: bool,
}

/// The workers of an engine.
#[derive(Debug)]
pub struct Cluster {
    roster: Arc<Roster>,
    connections: Arc<Connections>,
    distribute_above: Duration,
    /// Workers that didn't answer on connecting.
    absent: Vec<WorkerError>,
    /// Dropped last: connections live in it.
    _runtime: Background,
}

/// The smaller side of a join is broadcast to the workers if it takes at most this share (1 / n) of
/// the least machine's memory. The share is small, because a query may hold the sides of several
/// joins at the same time.
const WHOLE_SIDE_PARTS: u64 = 16;
/// Assumed size of a row if unknown, for example with texts.
const ROW_BYTES: usize = 64;

/// Keeps the larger side of a join where it is read, as long as the smaller one fits in each
/// worker. Otherwise both would be shuffled, and the values of the smaller side couldn't prune
/// reads of the larger one.
fn keep_probes_in_place(options: &mut ConfigOptions, memory_bytes: u64) {
    let side_bytes = usize::try_from(memory_bytes / WHOLE_SIDE_PARTS).unwrap_or(usize::MAX);
    options.optimizer.hash_join_single_partition_threshold = side_bytes;
    options.optimizer.hash_join_single_partition_threshold_rows = side_bytes / ROW_BYTES;
}

/// Memory for queries; `None` if unlimited.
fn memory_bytes(runtime: &RuntimeEnv) -> Option<u64> {
    match runtime.memory_pool.memory_limit() {
        MemoryLimit::Finite(bytes) => Some(bytes as u64),
        _ => None,
    }
}

/// A plan with a single partition has no exchange between machines.
const PARTITIONS_MIN: usize = 2;

/// Makes plans divisible even on a machine with a single thread.
fn have_several_partitions(options: &mut ConfigOptions) {
    let partitions = &mut options.execution.target_partitions;
    *partitions = (*partitions).max(PARTITIONS_MIN);
}

/// A runtime that is shut down in the background.
#[derive(Debug)]
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Cluster {
    /// Connects to the workers and queries their descriptions.
    ///
    /// # Errors
    /// No worker is reachable, or one isn't and queries must not continue without it; one rejects
    /// the secret or the version.
    pub fn connect(options: ClusterOptions) -> Result<Self, WorkerError> {
        let builder = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("nandle-cluster")
            .enable_all()
            .build();
        let runtime = builder.map_err(WorkerError::Threads)?;
        let pass = Arc::new(Pass { version: options.version, secret: options.secret });
        let authorities = Authorities(options.authorities);
        let connections = Arc::new(Connections::new(runtime.handle().clone(), pass, authorities));
        let asked = runtime.block_on(Roster::ask(&connections, &options.urls));
        let (mut workers, mut absent) = (Vec::new(), Vec::new());
        for answer in asked {
            match answer {
                Ok(worker) => workers.push(worker),
                Err(error @ WorkerError::Unreachable { .. }) if options.goes_on => absent.push(error),
                Err(error) => return Err(error),
            }
        }
        if workers.is_empty() {
            return Err(absent.pop().unwrap_or(WorkerError::NoneLeft));
        }
        let (roster, distribute_above) = (Arc::new(Roster::new(workers)), options.distribute_above);
        Ok(Self { roster, connections, distribute_above, absent, _runtime: Background(Some(runtime)) })
    }

    /// Workers that didn't answer on connecting, if queries continue without them.
    pub fn absent(&self) -> &[WorkerError] {
        &self.absent
    }

    /// Runs the queries of a session on the workers.
    ///
    /// # Errors
    /// The session has incompatible settings.
    pub fn extend(&self, builder: SessionStateBuilder) -> Result<SessionStateBuilder, DataFusionError> {
        let shares = Shares { roster: Arc::clone(&self.roster), above: self.distribute_above };
        let roster = Arc::clone(&self.roster);
        let mut builder = builder
            .with_distributed_option_extension(NandleOptions::default())
            .with_distributed_user_codec(JoinCodec)
            .with_distributed_channel_resolver(Resolver(Arc::clone(&self.connections)))
            .with_distributed_worker_resolver(shares.clone())
            .with_distributed_desired_task_count_handler(shares.clone())
            .with_distributed_scale_up_leaf_node_handler(shares.clone())
            .with_distributed_route_tasks_handler(shares)
            .with_distributed_planner();
        let above = self.distribute_above;
        let watchers =
            Watchers { roster: Arc::clone(&self.roster), connections: Arc::clone(&self.connections) };
        let memory = watchers.clone();
        let elsewhere = Elsewhere {
            there: Arc::new(move |plan| told::plan(plan, &roster)),
            here: Arc::new(move |plan| told::why_here(plan, above)),
            freed: Arc::new(move || memory.freed().boxed()),
        };
        let own_bytes = builder.runtime_env().as_deref().and_then(memory_bytes);
        let config = builder.config().get_or_insert_default();
        config.set_extension(Arc::new(elsewhere));
        have_several_partitions(config.options_mut());
        // Joins of the workers' rows run on this machine.
        let least_bytes = [own_bytes, self.roster.memory_bytes_min()].into_iter().flatten().min();
        if let Some(memory_bytes) = least_bytes {
            keep_probes_in_place(config.options_mut(), memory_bytes);
        }
        let distributing = std::mem::take(builder.query_planner());
        let Some(distributing) = distributing else {
            unreachable!("a planner was just given to the session")
        };
        Ok(builder.with_query_planner(Arc::new(WatchedPlanner { distributing, watchers })))
    }
}
