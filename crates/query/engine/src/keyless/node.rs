//! Logical node that passes rows on and drops their unique keys.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::common::{DFSchema, DFSchemaRef, DataFusionError, FunctionalDependencies, internal_err};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

/// Rows of its input without keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Keyless {
    input: LogicalPlan,
    schema: DFSchemaRef,
}

impl Keyless {
    fn new(input: LogicalPlan) -> Result<Self, DataFusionError> {
        let schema = DFSchema::clone(input.schema());
        let schema = schema.with_functional_dependencies(FunctionalDependencies::empty())?;
        Ok(Self { input, schema: Arc::new(schema) })
    }

    /// Wraps a plan in the node.
    pub(super) fn plan(input: LogicalPlan) -> Result<LogicalPlan, DataFusionError> {
        Ok(LogicalPlan::Extension(Extension { node: Arc::new(Self::new(input)?) }))
    }

    /// Returns the input if the plan is such a node.
    pub(super) fn input_of(plan: &LogicalPlan) -> Option<&LogicalPlan> {
        let LogicalPlan::Extension(Extension { node }) = plan else { return None };
        Some(&node.as_any().downcast_ref::<Self>()?.input)
    }
}

impl PartialOrd for Keyless {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for Keyless {
    fn name(&self) -> &'static str {
        "Keyless"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        HashSet::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyless")
    }

    fn with_exprs_and_inputs(
        &self,
        _expressions: Vec<Expr>,
        mut inputs: Vec<LogicalPlan>,
    ) -> Result<Self, DataFusionError> {
        let (Some(input), true) = (inputs.pop(), inputs.is_empty()) else {
            return internal_err!("a step that hands on rows has one input");
        };
        Self::new(input)
    }

    fn necessary_children_exprs(&self, output_columns: &[usize]) -> Option<Vec<Vec<usize>>> {
        Some(vec![output_columns.to_vec()])
    }
}
