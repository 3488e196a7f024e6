//! Whole numbers that their types can't hold are an error, in arithmetic and in sums; the engine by itself would wrap around without a word. So are results that
//! would be longer than there is memory for.

mod arithmetic;
mod distinct;
mod length;
mod sum;

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::AggregateUDF;
use datafusion::physical_expr::ScalarFunctionExpr;

/// Whether a function stands for an operator.
pub(crate) fn is_operator(function: &ScalarFunctionExpr) -> bool {
    arithmetic::functions().any(|operator| operator.name() == function.name())
}

/// Has a session plan checked arithmetic.
pub(crate) fn check_arithmetic(builder: SessionStateBuilder) -> SessionStateBuilder {
    with_checked_functions(builder).with_analyzer_rule(Arc::new(arithmetic::CheckArithmetic))
}

/// Has a session compute parts of plans in which arithmetic is checked: its functions travel by their names.
pub fn with_checked_functions(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder
        .scalar_functions()
        .get_or_insert_default()
        .extend(arithmetic::functions().chain(length::functions()));
    let sum = AggregateUDF::from(sum::CheckedSum::default());
    builder.aggregate_functions().get_or_insert_default().push(Arc::new(sum));
    builder
}
