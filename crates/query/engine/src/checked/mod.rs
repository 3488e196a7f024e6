//! Replacements for functions and operators of the engine.
//!
//! - Integer overflow is an error in arithmetic and sums; the engine would silently wrap around. So
//!   are results too long for the memory.
//! - `min` and `max` by group include all floating-point numbers.
//! - A list with zero contains both zeros.
//! - Times of day in different units are comparable, and decimal numbers with floating-point ones
//!   without making these decimal.

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

/// Returns true if a function replaces an operator.
pub(crate) fn is_operator(function: &ScalarFunctionExpr) -> bool {
    arithmetic::functions().any(|operator| operator.name() == function.name())
}

/// Adds checked arithmetic to a session.
pub(crate) fn check_arithmetic(builder: SessionStateBuilder) -> SessionStateBuilder {
    let mut builder =
        with_checked_functions(builder).with_analyzer_rule(Arc::new(arithmetic::CheckArithmetic));
    // Before the engine assigns types.
    let analyzer = builder.analyzer().get_or_insert_with(Analyzer::new);
    analyzer.rules.insert(0, Arc::new(floating::FloatingUnions));
    builder.expr_planners().get_or_insert_default().insert(0, Arc::new(compared::OneType));
    builder
}

/// Adds comparisons for which the engine finds no common type, or a wrong one.
pub(crate) fn check_comparisons(state: &mut SessionState) -> Result<(), DataFusionError> {
    state.register_function_rewrite(Arc::new(compared::OneType))
}

/// Adds checked functions to a session that runs parts of plans: these refer to functions by name.
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
