//! Pruning by long lists of values (`x IN (…)`): only by their minimum and maximum. The engine
//! doesn't compare longer lists with statistics. Instead it builds a set of their values for each
//! row group, which may take longer than reading it.

use std::cmp::Ordering;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, InListExpr, Literal, lit};

/// Maximum list length that the engine compares value by value.
const VALUES_MOST: usize = 20;

/// Replaces long lists by bounds, within AND and OR.
pub(super) fn shortened(filter: &Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    if let Some(list) = filter.downcast_ref::<InListExpr>() {
        return if list.len() > VALUES_MOST { bounds(list) } else { Arc::clone(filter) };
    }
    match filter.downcast_ref::<BinaryExpr>() {
        Some(pair) if matches!(pair.op(), Operator::And | Operator::Or) => {
            Arc::new(BinaryExpr::new(shortened(pair.left()), *pair.op(), shortened(pair.right())))
        }
        _ => Arc::clone(filter),
    }
}

/// Bounds of a list's values; `true` if unknown.
fn bounds(list: &InListExpr) -> Arc<dyn PhysicalExpr> {
    let between = |least: &ScalarValue, greatest: &ScalarValue| -> Arc<dyn PhysicalExpr> {
        let compared = |operator, value: &ScalarValue| -> Arc<dyn PhysicalExpr> {
            Arc::new(BinaryExpr::new(Arc::clone(list.expr()), operator, lit(value.clone())))
        };
        let (low, high) = (compared(Operator::GtEq, least), compared(Operator::LtEq, greatest));
        Arc::new(BinaryExpr::new(low, Operator::And, high))
    };
    let ends = if list.negated() { None } else { ends(list) };
    ends.map_or_else(|| lit(true), |(least, greatest)| between(least, greatest))
}

/// Returns the least and the greatest value; `None` if a value is unknown or unordered. Nulls never
/// match.
fn ends(list: &InListExpr) -> Option<(&ScalarValue, &ScalarValue)> {
    let mut ends: Option<(&ScalarValue, &ScalarValue)> = None;
    for value in list.list() {
        let value = value.downcast_ref::<Literal>()?.value();
        if value.is_null() {
            continue;
        }
        let (least, greatest) = ends.unwrap_or((value, value));
        let least = if value.partial_cmp(least)? == Ordering::Less { value } else { least };
        let greatest = if value.partial_cmp(greatest)? == Ordering::Greater { value } else { greatest };
        ends = Some((least, greatest));
    }
    ends
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field, Schema};
    use datafusion::physical_expr::expressions::Column;

    use super::*;

    fn list(values: Vec<ScalarValue>, negated: bool) -> Arc<dyn PhysicalExpr> {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        let values = values.into_iter().map(lit).collect();
        Arc::new(InListExpr::try_new(Arc::new(Column::new("a", 0)), values, negated, &schema).unwrap())
    }

    fn numbers(count: i64) -> Vec<ScalarValue> {
        (0..count).map(|number| ScalarValue::Int64(Some(number * 7 % count))).collect()
    }

    #[test]
    fn long_lists_become_bounds_where_they_must_hold() {
        let (short, long) = (list(numbers(20), false), list(numbers(1000), false));
        assert_eq!(shortened(&short).to_string(), short.to_string());
        assert_eq!(shortened(&long).to_string(), "a@0 >= 0 AND a@0 <= 999");
        let either: Arc<dyn PhysicalExpr> = Arc::new(BinaryExpr::new(long, Operator::Or, lit(false)));
        assert_eq!(shortened(&either).to_string(), "a@0 >= 0 AND a@0 <= 999 OR false");
        assert_eq!(shortened(&list(numbers(1000), true)).to_string(), "true");
        let with_null = [numbers(30), vec![ScalarValue::Int64(None)]].concat();
        assert_eq!(shortened(&list(with_null, false)).to_string(), "a@0 >= 0 AND a@0 <= 29");
    }
}
