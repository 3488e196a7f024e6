//! Rewrites expressions in terms of other columns.

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr_common::physical_expr::is_volatile;

/// Replaces the columns of an expression; returns `None` if one has no replacement.
pub(super) fn of_others(
    expression: &Arc<dyn PhysicalExpr>,
    other: impl Fn(&Column) -> Option<Arc<dyn PhysicalExpr>>,
) -> Result<Option<Arc<dyn PhysicalExpr>>, DataFusionError> {
    let mut has_all = true;
    let changed = Arc::clone(expression).transform_up(|node| {
        let Some(column) = node.downcast_ref::<Column>() else { return Ok(Transformed::no(node)) };
        let other = other(column);
        has_all &= other.is_some();
        Ok(other.map_or_else(|| Transformed::no(node), Transformed::yes))
    })?;
    Ok(has_all.then_some(changed.data))
}

/// Rewrites an expression from a projection's input columns to its output columns; `None` if the
/// output lacks one unchanged.
pub(super) fn of_output(
    expression: &Arc<dyn PhysicalExpr>,
    projection: Option<&ProjectionExprs>,
) -> Result<Option<Arc<dyn PhysicalExpr>>, DataFusionError> {
    let Some(projection) = projection else { return Ok(Some(Arc::clone(expression))) };
    of_others(expression, |column| {
        let mut outputs = projection.into_iter().enumerate();
        let output = outputs.find(|(_, output)| output.expr.downcast_ref::<Column>() == Some(column));
        output.map(|(number, output)| Arc::new(Column::new(&output.alias, number)) as _)
    })
}

/// Returns the expression of a projection's output column; `None` if it is volatile.
pub(super) fn made_of(projection: &[ProjectionExpr], column: &Column) -> Option<Arc<dyn PhysicalExpr>> {
    let expression = &projection.get(column.index())?.expr;
    (!is_volatile(expression)).then(|| Arc::clone(expression))
}
