//! The engine's joins of two sides, of which one is gathered and the other passes by.

use std::sync::Arc;

use datafusion::common::{DataFusionError, internal_err};
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};

use super::side::Side;

/// A join as the query has it, and the other way round: of two buckets the smaller one should be gathered, because all rows of a key must be.
pub(super) struct Joins {
    usual: Arc<HashJoinExec>,
    /// It may have a projection around it, which brings columns back into their order.
    reversed: Option<Arc<dyn ExecutionPlan>>,
}

/// Which side of the query's join is gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gathered {
    Left,
    Right,
}

impl Gathered {
    /// What is of the gathered side and of the other one, as left and right; and the other way round.
    pub(super) fn in_order<T>(self, one: T, other: T) -> (T, T) {
        match self {
            Self::Left => (one, other),
            Self::Right => (other, one),
        }
    }
}

/// One of the joins, ready to be executed.
pub(super) struct JoinOfSides {
    pub(super) plan: Arc<dyn ExecutionPlan>,
    /// The join in it, which has its figures.
    pub(super) join: Arc<dyn ExecutionPlan>,
}

impl Joins {
    pub(super) fn new(usual: Arc<HashJoinExec>) -> Self {
        let reversed = if usual.join_type().supports_swap() {
            // One with a filter that it hands down can't be turned round.
            usual.swap_inputs(PartitionMode::Partitioned).ok()
        } else {
            None
        };
        Self { usual, reversed }
    }

    /// The join as the query has it.
    pub(super) fn usual(&self) -> &HashJoinExec {
        &self.usual
    }

    /// The side to be gathered of buckets that have so many bytes.
    pub(super) fn gathered(&self, left_bytes: u64, right_bytes: u64) -> Gathered {
        if right_bytes < left_bytes && self.reversed.is_some() { Gathered::Right } else { Gathered::Left }
    }

    /// The keys of the gathered side and of the other one.
    pub(super) fn keys(&self, gathered: Gathered) -> (Vec<PhysicalExprRef>, Vec<PhysicalExprRef>) {
        let (left, right) = self.usual.on().iter().cloned().unzip();
        gathered.in_order(left, right)
    }

    /// A join of sides whose rows come once.
    pub(super) fn of(
        &self,
        left: Arc<Side>,
        right: Arc<Side>,
        gathered: Gathered,
    ) -> Result<JoinOfSides, DataFusionError> {
        let (left, right) = (Side::plan(left)?, Side::plan(right)?);
        match (gathered, &self.reversed) {
            (Gathered::Right, Some(reversed)) => with_sides(reversed, right, left),
            (Gathered::Left, _) | (Gathered::Right, None) => {
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
