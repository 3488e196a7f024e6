//! The engine's hash joins with either side as the build side.

use std::sync::Arc;

use datafusion::common::{DataFusionError, internal_err};
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};

use super::side::Side;

/// A join and its swapped form. Of two buckets the smaller one should be the build side, because
/// all rows of a key must fit in memory.
pub(super) struct Joins {
    usual: Arc<HashJoinExec>,
    /// May include a projection that restores the order of columns.
    swapped: Option<Arc<dyn ExecutionPlan>>,
}

/// Side of the query's join that the hash table is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildSide {
    Left,
    Right,
}

impl BuildSide {
    /// Converts build and probe to left and right; also the reverse.
    pub(super) fn in_order<T>(self, build: T, probe: T) -> (T, T) {
        match self {
            Self::Left => (build, probe),
            Self::Right => (probe, build),
        }
    }
}

/// A join ready for execution.
pub(super) struct JoinOfSides {
    pub(super) plan: Arc<dyn ExecutionPlan>,
    /// The hash join within `plan`, for its metrics.
    pub(super) join: Arc<dyn ExecutionPlan>,
}

impl Joins {
    pub(super) fn new(usual: Arc<HashJoinExec>) -> Result<Self, DataFusionError> {
        let can_swap = usual.join_type().supports_swap() && !usual.null_aware;
        let swapped = can_swap.then(|| usual.swap_inputs(PartitionMode::Partitioned)).transpose()?;
        Ok(Self { usual, swapped })
    }

    /// The join in its original order.
    pub(super) fn usual(&self) -> &HashJoinExec {
        &self.usual
    }

    /// Chooses the build side for buckets of these sizes.
    pub(super) fn build_side(&self, left_bytes: u64, right_bytes: u64) -> BuildSide {
        if right_bytes < left_bytes && self.swapped.is_some() { BuildSide::Right } else { BuildSide::Left }
    }

    /// Keys of the build side and of the probe side.
    pub(super) fn keys(&self, build_side: BuildSide) -> (Vec<PhysicalExprRef>, Vec<PhysicalExprRef>) {
        let (left, right) = self.usual.on().iter().cloned().unzip();
        build_side.in_order(left, right)
    }

    /// Creates a join of two single-use sides.
    pub(super) fn of(
        &self,
        left: Arc<Side>,
        right: Arc<Side>,
        build_side: BuildSide,
    ) -> Result<JoinOfSides, DataFusionError> {
        let (left, right) = (Side::plan(left)?, Side::plan(right)?);
        match (build_side, &self.swapped) {
            (BuildSide::Right, Some(swapped)) => with_sides(swapped, right, left),
            (BuildSide::Left, _) | (BuildSide::Right, None) => {
                let usual: Arc<dyn ExecutionPlan> = Arc::clone(&self.usual) as _;
                with_sides(&usual, left, right)
            }
        }
    }
}

fn with_sides(
    plan: &Arc<dyn ExecutionPlan>,
    left: Arc<dyn ExecutionPlan>,
    right: Arc<dyn ExecutionPlan>,
) -> Result<JoinOfSides, DataFusionError> {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let join = join.builder().reset_state().recompute_properties();
        let join: Arc<dyn ExecutionPlan> = Arc::new(join.with_new_children(vec![left, right])?.build()?);
        return Ok(JoinOfSides { plan: Arc::clone(&join), join });
    }
    let [input] = *plan.children() else { return internal_err!("a projection has one input") };
    let JoinOfSides { plan: input, join } = with_sides(input, left, right)?;
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Ok(JoinOfSides { plan: Arc::clone(plan).replace_children(vec![input], options)?, join })
}
