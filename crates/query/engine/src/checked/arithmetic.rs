//! Integer arithmetic that fails on overflow. The engine's own operators silently wrap around.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use datafusion::arrow::compute::kernels::numeric::{add, mul, neg, sub};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::common::{DFSchema, DataFusionError, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable as _, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;
use datafusion::physical_expr_common::datum::apply;

use super::zeros;

/// Functions that replace operators.
pub(super) fn functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    Operation::ALL.into_iter().map(Operation::function)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Negate,
}

impl Operation {
    const ALL: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Negate];

    const fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Add => "checked_add",
            Self::Subtract => "checked_subtract",
            Self::Multiply => "checked_multiply",
            Self::Negate => "checked_negate",
        }
    }

    const fn arguments(self) -> usize {
        match self {
            Self::Add | Self::Subtract | Self::Multiply => 2,
            Self::Negate => 1,
        }
    }

    fn function(self) -> Arc<ScalarUDF> {
        Arc::new(Checked::new(self).into())
    }

    fn call(self, arguments: Vec<Expr>) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(self.function(), arguments))
    }
}

/// A checked operation as a function of the engine.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operation: Operation,
    signature: Signature,
}

impl Checked {
    fn new(operation: Operation) -> Self {
        // The rule below calls it with the right types.
        Self { operation, signature: Signature::any(operation.arguments(), Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType, DataFusionError> {
        match arguments {
            [one] if one.is_integer() => Ok(one.clone()),
            [one, other] if one == other && one.is_integer() => Ok(one.clone()),
            other => internal_err!("{} is for whole numbers of one type, not {other:?}", self.name()),
        }
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef, DataFusionError> {
        let types: Vec<DataType> =
            arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let is_nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, is_nullable)))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        match (self.operation, arguments.args.as_slice()) {
            (Operation::Add, [left, right]) => apply(left, right, add),
            (Operation::Subtract, [left, right]) => apply(left, right, sub),
            (Operation::Multiply, [left, right]) => apply(left, right, mul),
            (Operation::Negate, [ColumnarValue::Array(array)]) => Ok(ColumnarValue::Array(neg(array)?)),
            (Operation::Negate, [ColumnarValue::Scalar(value)]) => {
                Ok(ColumnarValue::Scalar(value.arithmetic_negate()?))
            }
            (operation, arguments) => {
                internal_err!("{} has {} arguments", operation.name(), arguments.len())
            }
        }
    }
}

/// Analyzer rule that replaces operators by checked functions once types are known.
#[derive(Debug)]
pub(super) struct CheckArithmetic;

impl AnalyzerRule for CheckArithmetic {
    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan, DataFusionError> {
        plan.transform_up_with_subqueries(checked).data()
    }

    fn name(&self) -> &'static str {
        "check_arithmetic"
    }
}

fn checked(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>, DataFusionError> {
    let (schema, names) = (merge_schema(&plan.inputs()), NamePreserver::new(&plan));
    // Columns are found by the names that operators give them.
    let check = |expression: Expr| {
        let name = names.save(&expression);
        let checked = expression.transform_up(|expression| checked_expression(expression, &schema))?;
        Ok(checked.update_data(|expression| name.restore(expression)))
    };
    // A grouping set has no name of its own, but its expressions do.
    plan.map_expressions(|expression| match expression {
        Expr::GroupingSet(_) => expression.map_children(check),
        _ => check(expression),
    })
}

/// Returns the type of an expression. A checked function has the type of its first argument. The
/// engine's own lookup is slower at each level of a chain, because it also builds the names of all
/// levels below.
fn type_of(mut expression: &Expr, schema: &DFSchema) -> Result<DataType, DataFusionError> {
    while let Expr::ScalarFunction(ScalarFunction { func, args }) = expression
        && func.inner().is::<Checked>()
        && let Some(first) = args.first()
    {
        expression = first;
    }
    expression.get_type(schema)
}

fn checked_expression(expression: Expr, schema: &DFSchema) -> Result<Transformed<Expr>, DataFusionError> {
    match expression {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match Operation::of(op) {
            Some(operation)
                if type_of(&left, schema)?.is_integer() && type_of(&right, schema)?.is_integer() =>
            {
                Ok(Transformed::yes(operation.call(vec![*left, *right])))
            }
            _ => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
        },
        Expr::Negative(of) if type_of(&of, schema)?.is_integer() => {
            Ok(Transformed::yes(Operation::Negate.call(vec![*of])))
        }
        Expr::InList(list) => {
            let data_type = type_of(&list.expr, schema)?;
            let is_floating = data_type.is_floating();
            let list = if is_floating { zeros::with_both(list, &data_type) } else { list };
            Ok(Transformed::new_transformed(Expr::InList(list), is_floating))
        }
        other => Ok(Transformed::no(other)),
    }
}
