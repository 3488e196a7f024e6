//! Whole numbers that their types can't hold are an error, in arithmetic and in sums; the engine by itself would wrap around without a word. So are results that
//! would be longer than there is memory for.
//! And the least and greatest numbers of groups are those of all numbers, a list in which zero is has both zeros, and times of day in different units are compared, and decimal numbers with others, which
//! don't become decimal ones.

mod arithmetic;
mod array;
mod compared;
mod distinct;
mod extremes;
mod floating;
mod held_texts;
mod length;
mod sum;
mod zeros;

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::execution::{FunctionRegistry as _, SessionState, SessionStateBuilder};
use datafusion::logical_expr::AggregateUDF;
use datafusion::optimizer::Analyzer;
use datafusion::physical_expr::ScalarFunctionExpr;

/// Whether a function stands for an operator.
pub(crate) fn is_operator(function: &ScalarFunctionExpr) -> bool {
    arithmetic::functions().any(|operator| operator.name() == function.name())
}

/// Has a session plan checked arithmetic.
pub(crate) fn check_arithmetic(builder: SessionStateBuilder) -> SessionStateBuilder {
    let mut builder =
        with_checked_functions(builder).with_analyzer_rule(Arc::new(arithmetic::CheckArithmetic));
    // Before the engine finds types for them.
    let analyzer = builder.analyzer().get_or_insert_with(Analyzer::new);
    analyzer.rules.insert(0, Arc::new(floating::FloatingUnions));
    builder.expr_planners().get_or_insert_default().insert(0, Arc::new(compared::OneType));
    builder
}

/// Has a session compare what the engine by itself finds no common type for, or the wrong one.
pub(crate) fn check_comparisons(state: &mut SessionState) -> Result<(), DataFusionError> {
    state.register_function_rewrite(Arc::new(compared::OneType))
}

/// Has a session compute parts of plans in which arithmetic is checked: its functions travel by their names.
pub fn with_checked_functions(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder
        .scalar_functions()
        .get_or_insert_default()
        .extend(arithmetic::functions().chain(length::functions()));
    let sum = AggregateUDF::from(sum::CheckedSum::default());
    let array = AggregateUDF::from(array::AccountedArrayAgg::default());
    let functions = [sum, array].into_iter().chain(extremes::functions());
    builder.aggregate_functions().get_or_insert_default().extend(functions.map(Arc::new));
    builder
}
