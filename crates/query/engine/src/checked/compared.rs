//! Comparisons between types for which the engine finds no common type, or a wrong one. Times of
//! day in different units: literals (`TIME '12:00'`) are in nanoseconds, columns in the unit of
//! their file. And floating-point with decimal numbers, for which the engine uses a decimal type
//! without NaN, infinity and large numbers.
//!
//! A literal takes the other side's type if it keeps its value, so that it can still prune rows.

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, DataFusionError, ScalarValue};
use datafusion::logical_expr::expr::{Between, Cast, InList};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable as _, Operator, cast, lit};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::floating;

const NANOSECONDS: DataType = DataType::Time64(TimeUnit::Nanosecond);

/// Rule that compares such values in one type.
#[derive(Debug)]
pub(super) struct OneType;

impl ExprPlanner for OneType {
    fn plan_binary_op(
        &self,
        expression: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>, DataFusionError> {
        let Some(operator) = comparison(&expression.op) else {
            return Ok(PlannerResult::Original(expression));
        };
        let (left, right) = (&expression.left, &expression.right);
        // The side that isn't a literal determines the type; for numbers, the side that isn't
        // decimal.
        let is_floating = |side: &Expr| side.get_type(schema).is_ok_and(|data_type| data_type.is_floating());
        let is_right = is_floating(right) || constant(left).is_some() && !is_floating(left);
        let (own, other) = if is_right { (right, left) } else { (left, right) };
        let pair = in_one_type(own, &[other], schema).and_then(|(own, others)| {
            let [other] = <[Expr; 1]>::try_from(others).ok()?;
            Some(if is_right { (other, own) } else { (own, other) })
        });
        Ok(match pair {
            Some((left, right)) => PlannerResult::Planned(Expr::BinaryExpr(BinaryExpr::new(
                Box::new(left),
                operator,
                Box::new(right),
            ))),
            None => PlannerResult::Original(expression),
        })
    }
}

impl FunctionRewrite for OneType {
    fn name(&self) -> &'static str {
        "one_type_of_comparisons"
    }

    fn rewrite(
        &self,
        expression: Expr,
        schema: &DFSchema,
        _config: &ConfigOptions,
    ) -> Result<Transformed<Expr>, DataFusionError> {
        let unified = match &expression {
            Expr::Between(Between { expr, negated, low, high }) => in_one_type(expr, &[low, high], schema)
                .and_then(|(expr, bounds)| {
                    let [low, high] = <[Expr; 2]>::try_from(bounds).ok()?;
                    Some(Expr::Between(Between::new(Box::new(expr), *negated, Box::new(low), Box::new(high))))
                }),
            Expr::InList(InList { expr, list, negated }) => {
                let others: Vec<&Expr> = list.iter().collect();
                let unified = in_one_type(expr, &others, schema);
                unified.map(|(expr, list)| Expr::InList(InList::new(Box::new(expr), list, *negated)))
            }
            Expr::ScalarFunction(function) => floating::function(function, schema),
            Expr::Case(case) => floating::case(case, schema),
            _ => None,
        };
        Ok(unified.map_or(Transformed::no(expression), Transformed::yes))
    }
}

fn comparison(operator: &BinaryOperator) -> Option<Operator> {
    Some(match operator {
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        _ => return None,
    })
}

/// Converts a value and those it is compared with to one type; `None` if the engine does so
/// correctly.
fn in_one_type(own: &Expr, others: &[&Expr], schema: &DFSchema) -> Option<(Expr, Vec<Expr>)> {
    let own_type = own.get_type(schema).ok()?;
    if own_type.is_floating() {
        return others.iter().any(|other| is_decimal(other, schema)).then(|| {
            (own.clone(), others.iter().map(|other| as_floating(other, &own_type, schema)).collect())
        });
    }
    let types = others.iter().map(|other| other.get_type(schema).ok().filter(is_time));
    let types = types.collect::<Option<Vec<_>>>()?;
    if !is_time(&own_type) || types.iter().all(|other| *other == own_type) {
        return None;
    }
    let exact = others.iter().map(|other| exactly(&constant(other)?, &own_type).map(lit));
    if let Some(others) = exact.collect::<Option<Vec<_>>>() {
        return Some((own.clone(), others));
    }
    let all = others.iter().map(|other| cast((*other).clone(), NANOSECONDS)).collect();
    Some((cast(own.clone(), NANOSECONDS), all))
}

pub(super) fn is_decimal(expression: &Expr, schema: &DFSchema) -> bool {
    expression.get_type(schema).is_ok_and(|data_type| data_type.is_decimal())
}

/// Casts decimal numbers to a floating-point type; leaves others unchanged.
pub(super) fn as_floating(expression: &Expr, data_type: &DataType, schema: &DFSchema) -> Expr {
    if !is_decimal(expression, schema) {
        return expression.clone();
    }
    let value = constant(expression).and_then(|value| value.cast_to(data_type).ok());
    value.map_or_else(|| cast(expression.clone(), data_type.clone()), lit)
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Time32(_) | DataType::Time64(_))
}

/// Returns the value of a literal, or of a literal that is cast.
pub(super) fn constant(expression: &Expr) -> Option<ScalarValue> {
    match expression {
        Expr::Literal(value, _) => Some(value.clone()),
        Expr::Cast(Cast { expr, field }) => match &**expr {
            Expr::Literal(value, _) => value.cast_to(field.data_type()).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Converts a time to another unit, if that is exact.
fn exactly(value: &ScalarValue, data_type: &DataType) -> Option<ScalarValue> {
    let other = value.cast_to(data_type).ok()?;
    (other.cast_to(&NANOSECONDS).ok()? == value.cast_to(&NANOSECONDS).ok()?).then_some(other)
}
