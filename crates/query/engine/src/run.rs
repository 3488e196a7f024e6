//! Execution of a statement: planning, start, and restart if its joins exceed the memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use datafusion::common::JoinType;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};

use crate::ending::with_ends;
use crate::explained::Explained;
use crate::grace::{Rule, with_grace_joins};
use crate::repartition::with_single_writers;
use crate::{Elsewhere, EngineError, ErrorKind, Needs};

/// Limit on the wait for the tasks of a failed statement, which hold its memory until they are next
/// polled.
const TASKS_END_WITHIN: Duration = Duration::from_secs(5);

/// A join side estimated below these limits stays in memory and isn't partitioned.
const SMALL_SIDE_BYTES_MAX: usize = 256 << 10;
const SMALL_SIDE_ROWS_MAX: usize = 8192;

/// A statement and its context.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) context: SessionContext,
    pub(crate) statement: LogicalPlan,
    pub(crate) needs: Option<Arc<Needs>>,
}

/// A running statement.
pub(crate) struct Started {
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    pub(crate) stream: SendableRecordBatchStream,
    pub(crate) tasks: Tasks,
}

/// A planned statement.
struct Planned {
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    tasks: Receiver<()>,
}

/// Waits for the remaining tasks of a statement.
#[derive(Debug)]
pub(crate) struct Tasks {
    here: Receiver<()>,
    /// `None` if all run locally.
    elsewhere: Option<Arc<Elsewhere>>,
}

/// Held by each task of a statement; the channel closes with the last one.
#[derive(Debug)]
struct IsTask(#[expect(dead_code, reason = "it is held")] Sender<()>);

impl Tasks {
    /// Waits for the tasks, with a limit: one may compute for long without yielding.
    async fn wait(self) {
        let Self { here, elsewhere } = self;
        let _ = here.recv_timeout(TASKS_END_WITHIN);
        if let Some(elsewhere) = elsewhere {
            (elsewhere.freed)().await;
        }
    }
}

impl Run {
    /// Plans and starts the statement.
    pub(crate) async fn start(&self) -> Result<Started, EngineError> {
        let planned = self.plan().await?;
        let wants_sorting = !self.context.state().config_options().optimizer.prefer_hash_join;
        if wants_sorting && !can_all_sort(&planned.plan) {
            // The session's preferred sort-merge joins would fail, so use hash joins.
            let usual = self.preferring_hash_joins();
            return usual.run(usual.plan().await?).await;
        }
        self.run(planned).await
    }

    async fn plan(&self) -> Result<Planned, EngineError> {
        let frame = self.context.execute_logical_plan(self.statement.clone()).await?;
        let (sender, receiver) = channel();
        let task = Arc::new(self.task_context(&frame, IsTask(sender)));
        let plan = frame.create_physical_plan().await?;
        Ok(Planned { plan, task, tasks: receiver })
    }

    async fn run(&self, Planned { plan, task, tasks }: Planned) -> Result<Started, EngineError> {
        let elsewhere = self.context.state().config().get_extension::<Elsewhere>();
        let elsewhere = elsewhere.filter(|elsewhere| (elsewhere.there)(&plan).is_some());
        let plan = if elsewhere.is_none() { with_ends(with_single_writers(plan)?)? } else { plan };
        let explained = Explained::of(&self.statement, &plan, &self.context.state()).await?;
        let stream = execute_stream(Arc::clone(&plan), task)?;
        let stream = match explained {
            Some(explained) => explained.after(stream),
            None => stream,
        };
        Ok(Started { plan, stream, tasks: Tasks { here: tasks, elsewhere } })
    }

    fn task_context(&self, frame: &DataFrame, is_task: IsTask) -> TaskContext {
        let context = frame.task_ctx();
        let config = context.session_config().clone().with_extension(Arc::new(is_task));
        context.with_session_config(match &self.needs {
            Some(needs) => config.with_extension(Arc::clone(needs)),
            None => config,
        })
    }

    /// Returns true if a failed statement may succeed with other joins: hash joins need memory for
    /// one side's rows.
    pub(crate) fn can_spill_instead(plan: &Arc<dyn ExecutionPlan>, error: &EngineError) -> bool {
        let mut has_hash_joins = false;
        let _ = plan.apply(|node| {
            has_hash_joins |= node.is::<HashJoinExec>();
            Ok(if has_hash_joins { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        });
        has_hash_joins && error.kind() == ErrorKind::OutOfMemory
    }

    /// Restarts with joins that may spill. The tasks of the previous run hold memory until they
    /// end.
    ///
    /// # Errors
    /// Errors of the start.
    pub(crate) async fn start_spilling(self, before: Tasks) -> Result<Started, EngineError> {
        before.wait().await;
        if let Some(needs) = &self.needs {
            needs.begin_again();
        }
        let mut config = self.context.state().config().clone();
        let optimizer = &mut config.options_mut().optimizer;
        optimizer.prefer_hash_join = true;
        optimizer.hash_join_single_partition_threshold = SMALL_SIDE_BYTES_MAX;
        optimizer.hash_join_single_partition_threshold_rows = SMALL_SIDE_ROWS_MAX;
        // With a single partition no side of a join is partitioned.
        let partitions = config.target_partitions().max(2);
        let rules = with_grace_joins(self.context.state().physical_optimizers())?;
        self.planned_by(config.with_target_partitions(partitions), rules).start().await
    }

    /// Returns the statement with hash joins.
    fn preferring_hash_joins(&self) -> Self {
        let mut config = self.context.state().config().clone();
        config.options_mut().optimizer.prefer_hash_join = true;
        self.planned_by(config, self.context.state().physical_optimizers().to_vec())
    }

    /// Returns the statement with other settings and rules.
    fn planned_by(&self, mut config: SessionConfig, rules: Vec<Rule>) -> Self {
        // The tables are registered already.
        config.options_mut().catalog.create_default_catalog_and_schema = false;
        let state = SessionStateBuilder::new_from_existing(self.context.state())
            .with_config(config)
            .with_physical_optimizer_rules(rules)
            .build();
        Self { context: SessionContext::new_with_state(state), ..self.clone() }
    }
}

/// Returns true if the plan's sort-merge joins are reliable. In `DataFusion` 55.2, outer ones with
/// an additional condition fail when a non-nullable column gets nulls.
fn can_all_sort(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_sound = plan.downcast_ref::<SortMergeJoinExec>().is_none_or(|join| {
        let is_outer = matches!(join.join_type(), JoinType::Left | JoinType::Right | JoinType::Full);
        !is_outer || join.filter().is_none()
    });
    is_sound && plan.children().into_iter().all(can_all_sort)
}
