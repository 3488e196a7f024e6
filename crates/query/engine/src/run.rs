//! A statement on its way: planned, started, and started again where its joins don't fit the memory.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::{DataFrame, SessionContext};

use crate::ending::with_ends;
use crate::explained::Explained;
use crate::grace::with_grace_joins;
use crate::repartition::with_single_writers;
use crate::{Elsewhere, EngineError, ErrorKind, Needs};

/// How long the tasks of a statement that has failed are waited for, which hold its memory until they look up.
const TASKS_END_WITHIN: Duration = Duration::from_secs(5);

/// A side of a join that is taken to be no larger than this stays in memory whatever else does, and isn't divided.
const SMALL_SIDE_BYTES_MAX: usize = 256 << 10;
const SMALL_SIDE_ROWS_MAX: usize = 8192;

/// A statement, and where it runs.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) context: SessionContext,
    pub(crate) statement: LogicalPlan,
    pub(crate) needs: Option<Arc<Needs>>,
}

/// A statement that runs.
pub(crate) struct Started {
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    pub(crate) stream: SendableRecordBatchStream,
    /// None where other machines compute: of their tasks nothing is known.
    pub(crate) tasks: Option<Tasks>,
}

/// Whether tasks of a statement are left.
#[derive(Debug)]
pub(crate) struct Tasks(Receiver<()>);

/// Each task of a statement has it; it goes with the last.
#[derive(Debug)]
struct IsTask(#[expect(dead_code, reason = "it is held")] Sender<()>);

impl Tasks {
    /// Waits for them, but not for ever: one may compute for long without looking up.
    fn wait(&self) {
        let _ = self.0.recv_timeout(TASKS_END_WITHIN);
    }
}

impl Run {
    /// Plans the statement and starts it.
    pub(crate) async fn start(&self) -> Result<Started, EngineError> {
        let frame = self.context.execute_logical_plan(self.statement.clone()).await?;
        let (sender, receiver) = channel();
        let task = Arc::new(self.task_context(&frame, IsTask(sender)));
        let plan = frame.create_physical_plan().await?;
        let elsewhere = self.context.state().config().get_extension::<Elsewhere>();
        let is_all_here = elsewhere.is_none_or(|elsewhere| (elsewhere.0)(&plan).is_none());
        let plan = if is_all_here { with_ends(with_single_writers(plan)?)? } else { plan };
        let explained = Explained::of(&self.statement, &plan, &self.context.state()).await?;
        let stream = execute_stream(Arc::clone(&plan), task)?;
        let stream = match explained {
            Some(explained) => explained.after(stream),
            None => stream,
        };
        Ok(Started { plan, stream, tasks: is_all_here.then_some(Tasks(receiver)) })
    }

    fn task_context(&self, frame: &DataFrame, is_task: IsTask) -> TaskContext {
        let context = frame.task_ctx();
        let config = context.session_config().clone().with_extension(Arc::new(is_task));
        context.with_session_config(match &self.needs {
            Some(needs) => config.with_extension(Arc::clone(needs)),
            None => config,
        })
    }

    /// Whether it may succeed with other joins where it failed: hash joins need memory for all rows of one side.
    pub(crate) fn can_spill_instead(plan: &Arc<dyn ExecutionPlan>, error: &EngineError) -> bool {
        let mut has_hash_joins = false;
        let _ = plan.apply(|node| {
            has_hash_joins |= node.is::<HashJoinExec>();
            Ok(if has_hash_joins { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        });
        has_hash_joins && error.kind() == ErrorKind::OutOfMemory
    }

    /// The same, with joins whose rows may lie in temporary files. The tasks of the run `before` hold memory until they are gone.
    ///
    /// # Errors
    /// Those of starting.
    pub(crate) async fn start_spilling(mut self, before: Tasks) -> Result<Started, EngineError> {
        before.wait();
        let state = self.context.state();
        let mut config = state.config().clone();
        let optimizer = &mut config.options_mut().optimizer;
        optimizer.hash_join_single_partition_threshold = SMALL_SIDE_BYTES_MAX;
        optimizer.hash_join_single_partition_threshold_rows = SMALL_SIDE_ROWS_MAX;
        // The tables are there.
        config.options_mut().catalog.create_default_catalog_and_schema = false;
        // With one partition no side of a join is divided.
        let partitions = config.target_partitions().max(2);
        let config = config.with_target_partitions(partitions);
        let rules = with_grace_joins(state.physical_optimizers());
        let state = SessionStateBuilder::new_from_existing(state)
            .with_config(config)
            .with_physical_optimizer_rules(rules)
            .build();
        self.context = SessionContext::new_with_state(state);
        if let Some(needs) = &self.needs {
            needs.begin_again();
        }
        self.start().await
    }
}
