//! Lists with zero (`x IN (0.0, …)`): the engine compares bit patterns, and zero has two.

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, lit};

use super::compared::constant;

/// Adds the missing zeros to a list that has one; values are compared as `data_type`.
pub(super) fn with_both(mut list: InList, data_type: &DataType) -> InList {
    let zeros: Vec<f64> = list.list.iter().filter_map(zero).collect();
    if zeros.is_empty() {
        return list;
    }
    for missing in [0.0_f64, -0.0] {
        if !zeros.iter().any(|zero| zero.is_sign_negative() == missing.is_sign_negative())
            && let Ok(missing) = ScalarValue::from(missing).cast_to(data_type)
        {
            list.list.push(lit(missing));
        }
    }
    list
}

/// Returns the value if it is a zero.
fn zero(expression: &Expr) -> Option<f64> {
    match constant(expression)?.cast_to(&DataType::Float64).ok()? {
        ScalarValue::Float64(Some(zero)) if zero == 0.0 => Some(zero),
        _ => None,
    }
}
