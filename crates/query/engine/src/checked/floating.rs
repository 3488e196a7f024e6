//! Floating-point numbers combined with decimal ones: in arguments, in the branches of CASE, in
//! UNION and in IN. The engine converts both to a decimal type, which has no NaN, infinity, or very
//! large and small numbers. Here they become floating-point, as in other databases. A literal with
//! a point is a decimal number.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _};
use datafusion::common::{DFSchema, DataFusionError};
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable as _, LogicalPlan, LogicalPlanBuilder, Union, cast};
use datafusion::optimizer::AnalyzerRule;

use super::compared::{as_floating, is_decimal};

/// Returns the widest floating-point type of expressions that include decimal ones.
fn floating_type<'a>(all: impl Iterator<Item = &'a Expr> + Clone, schema: &DFSchema) -> Option<DataType> {
    let types = all.filter_map(|expression| expression.get_type(schema).ok()).collect::<Vec<_>>();
    wider(types.iter())
}

fn wider<'a>(types: impl Iterator<Item = &'a DataType> + Clone) -> Option<DataType> {
    let has_decimals = types.clone().any(DataType::is_decimal);
    let widest =
        types.filter(|data_type| data_type.is_floating()).max_by_key(|data_type| data_type.primitive_width());
    widest.filter(|_| has_decimals).cloned()
}

/// Converts the arguments of a function to one type; `None` if that isn't needed.
pub(super) fn function(function: &ScalarFunction, schema: &DFSchema) -> Option<Expr> {
    let one_type = floating_type(function.args.iter(), schema)?;
    let arguments = function.args.iter().map(|argument| as_floating(argument, &one_type, schema)).collect();
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&function.func), arguments)))
}

/// Converts the results of a CASE to one type, and its operand and the compared values to another.
pub(super) fn case(case: &Case, schema: &DFSchema) -> Option<Expr> {
    let results = case.when_then_expr.iter().map(|(_, result)| &**result).chain(case.else_expr.as_deref());
    let result_type = floating_type(results, schema);
    let operands = case.when_then_expr.iter().map(|(operand, _)| &**operand).chain(case.expr.as_deref());
    let operand_type = case.expr.as_ref().and_then(|_| floating_type(operands, schema));
    if result_type.is_none() && operand_type.is_none() {
        return None;
    }
    let in_type = |expression: &Expr, one_type: &Option<DataType>| {
        let expression =
            one_type.as_ref().map_or_else(|| expression.clone(), |one| as_floating(expression, one, schema));
        Box::new(expression)
    };
    let branches = case.when_then_expr.iter();
    let branches =
        branches.map(|(operand, result)| (in_type(operand, &operand_type), in_type(result, &result_type)));
    Some(Expr::Case(Case {
        expr: case.expr.as_ref().map(|operand| in_type(operand, &operand_type)),
        when_then_expr: branches.collect(),
        else_expr: case.else_expr.as_ref().map(|result| in_type(result, &result_type)),
    }))
}

/// Analyzer rule that makes a union's column floating-point if it is so in an input.
#[derive(Debug)]
pub(super) struct FloatingUnions;

impl AnalyzerRule for FloatingUnions {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan, DataFusionError> {
        plan.transform_up_with_subqueries(|node| {
            let LogicalPlan::Union(union) = &node else { return Ok(Transformed::no(node)) };
            Ok(match in_one_type(union)? {
                Some(union) => Transformed::yes(union),
                None => Transformed::no(node),
            })
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "floating_unions"
    }
}

fn in_one_type(union: &Union) -> Result<Option<LogicalPlan>, DataFusionError> {
    let columns = union.schema.fields().len();
    let of_column = |column: usize| {
        let types = union.inputs.iter().filter_map(|input| input.schema().fields().get(column));
        wider(types.map(|field| field.data_type()))
    };
    let types: Vec<Option<DataType>> = (0..columns).map(of_column).collect();
    if types.iter().all(Option::is_none) {
        return Ok(None);
    }
    let inputs = union.inputs.iter().map(|input| Ok(Arc::new(with_types(input, &types)?)));
    let inputs = inputs.collect::<Result<Vec<_>, DataFusionError>>()?;
    Union::try_new_with_loose_types(inputs).map(|union| Some(LogicalPlan::Union(union)))
}

/// Casts decimal columns to other types.
fn with_types(input: &LogicalPlan, types: &[Option<DataType>]) -> Result<LogicalPlan, DataFusionError> {
    let columns = input.schema().columns().into_iter().zip(types).map(|(column, one_type)| {
        let name = column.name().to_owned();
        let relation = column.relation.clone();
        let column = Expr::Column(column);
        match one_type {
            Some(one_type) if is_decimal(&column, input.schema()) => {
                cast(column, one_type.clone()).alias_qualified(relation, name)
            }
            _ => column,
        }
    });
    LogicalPlanBuilder::from(input.clone()).project(columns)?.build()
}
