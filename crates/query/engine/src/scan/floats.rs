//! Pruning by floating-point filters.
//!
//! Bounds in Parquet files omit NaN, which sorts above all numbers, or below them if its sign is
//! set. They may also swap the two zeros. So a filter may be compared with them only if it bounds a
//! column on both sides, so that NaN can't match, and with both zeros included if it includes one.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, CastExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal, lit,
};
use datafusion::physical_expr::utils::{collect_columns, split_conjunction};
use datafusion::physical_expr::{PhysicalExpr, conjunction};

/// Returns the part of a filter that may be compared with bounds; `None` if all of it may.
pub(super) fn prunable(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Arc<dyn PhysicalExpr>> {
    has_floats(filter, schema).then(|| part(filter, schema).unwrap_or_else(|| lit(true)))
}

fn has_floats(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let columns = collect_columns(filter);
    let mut types = columns.iter().filter_map(|column| schema.fields().get(column.index()));
    types.any(|field| holds_floats(field.data_type()))
}

fn holds_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => holds_floats(values),
        DataType::Struct(fields) => fields.iter().any(|field| holds_floats(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => holds_floats(field.data_type()),
        plain => plain.is_floating(),
    }
}

/// Returns `None` if nothing is left.
fn part(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Option<Arc<dyn PhysicalExpr>> {
    let mut kept = Vec::new();
    let mut bounds: BTreeMap<usize, Bounds> = BTreeMap::new();
    for one in split_conjunction(filter) {
        if !has_floats(one, schema) || one.is::<IsNullExpr>() || one.is::<IsNotNullExpr>() {
            kept.push(Arc::clone(one));
        } else if let Some((column, bound)) = Bound::of(one) {
            bounds.entry(column).or_default().add(bound);
        } else if let Some(either) = one.downcast_ref::<BinaryExpr>().filter(|or| *or.op() == Operator::Or)
            && let (Some(left), Some(right)) = (part(either.left(), schema), part(either.right(), schema))
        {
            kept.push(Arc::new(BinaryExpr::new(left, Operator::Or, right)));
        }
    }
    kept.extend(bounds.into_values().filter(Bounds::is_closed).flat_map(|bounds| bounds.all));
    (!kept.is_empty()).then(|| conjunction(kept))
}

/// Bounds of a column in a filter.
#[derive(Default)]
struct Bounds {
    all: Vec<Arc<dyn PhysicalExpr>>,
    has_low: bool,
    has_high: bool,
}

impl Bounds {
    fn add(&mut self, bound: Bound) {
        self.has_low |= bound.is_low;
        self.has_high |= bound.is_high;
        self.all.push(bound.expression);
    }

    fn is_closed(&self) -> bool {
        self.has_low && self.has_high
    }
}

/// A comparison of a column with numbers.
struct Bound {
    expression: Arc<dyn PhysicalExpr>,
    is_low: bool,
    is_high: bool,
}

impl Bound {
    /// Returns a comparison with the index of its column; `None` for other expressions.
    fn of(expression: &Arc<dyn PhysicalExpr>) -> Option<(usize, Self)> {
        if let Some(list) = expression.downcast_ref::<InListExpr>() {
            return Self::of_list(list);
        }
        let comparison = expression.downcast_ref::<BinaryExpr>()?;
        let (left, right) = (comparison.left(), comparison.right());
        let (side, operator, value) = match (value_of(left), value_of(right)) {
            (None, Some(value)) => (left, *comparison.op(), value),
            (Some(value), None) => (right, comparison.op().swap()?, value),
            _ => return None,
        };
        Some((number_of(side)?, Self::of_comparison(side, operator, value)?))
    }

    fn of_comparison(side: &Arc<dyn PhysicalExpr>, operator: Operator, value: &ScalarValue) -> Option<Self> {
        let compared = |operator, zero| -> Arc<dyn PhysicalExpr> {
            let value = lit(with_zero(value, zero));
            Arc::new(BinaryExpr::new(Arc::clone(side), operator, value))
        };
        let low = |operator| compared(operator, -0.0);
        let high = |operator| compared(operator, 0.0);
        let (expression, is_low, is_high) = match operator {
            Operator::Gt | Operator::GtEq => (low(operator), true, false),
            Operator::Lt | Operator::LtEq => (high(operator), false, true),
            Operator::Eq => {
                let both = BinaryExpr::new(low(Operator::GtEq), Operator::And, high(Operator::LtEq));
                (Arc::new(both) as Arc<dyn PhysicalExpr>, true, true)
            }
            _ => return None,
        };
        Some(Self { expression, is_low, is_high })
    }

    /// A list of numbers is a bound on both sides.
    fn of_list(list: &InListExpr) -> Option<(usize, Self)> {
        let column = number_of(list.expr()).filter(|_| !list.negated())?;
        let values = list.list().iter().map(value_of).collect::<Option<Vec<_>>>()?;
        let equal = |value| Some(Self::of_comparison(list.expr(), Operator::Eq, value)?.expression);
        let parts = values.into_iter().map(equal);
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let either =
            |one, other| Arc::new(BinaryExpr::new(one, Operator::Or, other)) as Arc<dyn PhysicalExpr>;
        let expression = parts.into_iter().reduce(either)?;
        Some((column, Self { expression, is_low: true, is_high: true }))
    }
}

/// Index of the column, either direct or cast to another floating-point type.
fn number_of(expression: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    if let Some(column) = expression.downcast_ref::<Column>() {
        return Some(column.index());
    }
    let cast = expression.downcast_ref::<CastExpr>().filter(|cast| cast.cast_type().is_floating())?;
    number_of(cast.expr())
}

/// Returns a floating-point number other than NaN.
fn value_of(expression: &Arc<dyn PhysicalExpr>) -> Option<&ScalarValue> {
    let value = expression.downcast_ref::<Literal>()?.value();
    let is_number = match value {
        ScalarValue::Float16(Some(value)) => !value.is_nan(),
        ScalarValue::Float32(Some(value)) => !value.is_nan(),
        ScalarValue::Float64(Some(value)) => !value.is_nan(),
        _ => false,
    };
    is_number.then_some(value)
}

/// Replaces either zero by `zero`.
fn with_zero(value: &ScalarValue, zero: f32) -> ScalarValue {
    match value {
        ScalarValue::Float32(Some(0.0)) => ScalarValue::Float32(Some(zero)),
        ScalarValue::Float64(Some(0.0)) => ScalarValue::Float64(Some(zero.into())),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::Field;

    use super::*;

    fn schema() -> Schema {
        Schema::new(vec![
            Field::new("f", DataType::Float64, true),
            Field::new("g", DataType::Float32, true),
            Field::new("i", DataType::Int64, true),
        ])
    }

    fn compared(column: &str, operator: Operator, value: impl Into<ScalarValue>) -> Arc<dyn PhysicalExpr> {
        let column = Arc::new(Column::new(column, schema().index_of(column).unwrap()));
        Arc::new(BinaryExpr::new(column, operator, lit(value.into())))
    }

    fn both(
        one: Arc<dyn PhysicalExpr>,
        operator: Operator,
        other: Arc<dyn PhysicalExpr>,
    ) -> Arc<dyn PhysicalExpr> {
        Arc::new(BinaryExpr::new(one, operator, other))
    }

    /// Returns the remaining filter as text.
    fn left(filter: &Arc<dyn PhysicalExpr>) -> String {
        prunable(filter, &schema()).map_or_else(|| "all".to_owned(), |part| part.to_string())
    }

    #[test]
    fn one_bound_says_nothing_and_two_do() {
        use Operator::{And, Gt, GtEq, Lt, NotEq};
        let (low, high) = (compared("f", GtEq, 1.5), compared("f", Lt, 2.5));
        assert_eq!((left(&low), left(&high)), ("true".to_owned(), "true".to_owned()));
        let closed = both(Arc::clone(&low), And, Arc::clone(&high));
        assert_eq!(left(&closed), "f@0 >= 1.5 AND f@0 < 2.5");
        let others = both(low, And, compared("g", Lt, 2.5_f32));
        assert_eq!(left(&others), "true", "they bound two columns");
        let of_numbers = compared("i", Gt, 3_i64);
        assert_eq!(left(&of_numbers), "all");
        assert_eq!(left(&both(high, And, of_numbers)), "i@2 > 3");
        assert_eq!(left(&both(closed, And, compared("f", NotEq, 2.0))), "f@0 >= 1.5 AND f@0 < 2.5");
    }

    #[test]
    fn zeros_are_one_number_and_nan_is_none() {
        use Operator::{Eq, Or};
        let zero = compared("f", Eq, 0.0);
        assert_eq!(left(&zero), "f@0 >= -0 AND f@0 <= 0");
        assert_eq!(left(&compared("f", Eq, f64::NAN)), "true");
        let either = both(zero, Or, compared("i", Eq, 1_i64));
        assert_eq!(left(&either), "f@0 >= -0 AND f@0 <= 0 OR i@2 = 1");
        assert_eq!(left(&both(either, Or, compared("g", Operator::Lt, 1.0_f32))), "true");
    }

    #[test]
    fn lists_are_bounds_on_both_sides() {
        let list = |values: Vec<f64>, negated| -> Arc<dyn PhysicalExpr> {
            let values = values.into_iter().map(lit).collect();
            Arc::new(InListExpr::try_new(Arc::new(Column::new("f", 0)), values, negated, &schema()).unwrap())
        };
        assert_eq!(left(&list(vec![-0.0, 3.0], false)), "f@0 >= -0 AND f@0 <= 0 OR f@0 >= 3 AND f@0 <= 3");
        let long = list((0..100).map(|number| f64::from(number) / 2.0).collect(), false);
        assert_eq!(left(&crate::scan::long_lists::shortened(&long)), "f@0 >= -0 AND f@0 <= 49.5");
        assert_eq!(left(&list(vec![1.0, 3.0], true)), "true");
        assert_eq!(left(&list(vec![1.0, f64::NAN], false)), "true");
    }
}
