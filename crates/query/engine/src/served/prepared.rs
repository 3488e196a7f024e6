use std::collections::HashMap;

use arrow_schema::{DataType, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::EngineError;

/// Values of parameters, by their numbers.
pub type Values = datafusion::common::ParamValues;

/// More parameters than this no client can bind: their number has 16 bits in the protocol of PostgreSQL.
const PARAMETERS_MOST: usize = 65_535;

/// A statement that was planned.
#[derive(Debug, Clone)]
pub struct Prepared {
    plan: LogicalPlan,
    parameters: Vec<Option<DataType>>,
}

impl Prepared {
    pub(crate) fn new(plan: LogicalPlan) -> Result<Self, EngineError> {
        let parameters = parameters(&plan)?;
        Ok(Self { plan, parameters })
    }

    pub(crate) fn plan(&self) -> &LogicalPlan {
        &self.plan
    }

    /// The types of `$1`, `$2` and so on, where they follow from the statement.
    pub fn parameters(&self) -> &[Option<DataType>] {
        &self.parameters
    }

    /// The columns of its rows.
    pub fn schema(&self) -> &SchemaRef {
        self.plan.schema().inner()
    }
}

fn parameters(plan: &LogicalPlan) -> Result<Vec<Option<DataType>>, EngineError> {
    let mut types = plan.get_parameter_types()?;
    if types.values().any(Option::is_none) {
        for (name, cast) in casts(plan)? {
            types.entry(name).and_modify(|known| *known = known.take().or(Some(cast)));
        }
    }
    let mut parameters = Vec::new();
    for (name, known) in types {
        let place = place(&name)?;
        if parameters.len() < place {
            parameters.resize(place, None);
        }
        if let Some(parameter) = parameters.get_mut(place - 1) {
            *parameter = known;
        }
    }
    Ok(parameters)
}

/// The number in `$12`.
fn place(name: &str) -> Result<usize, EngineError> {
    let place = name.strip_prefix('$').and_then(|number| number.parse().ok());
    let place = place.filter(|place| (1..=PARAMETERS_MOST).contains(place));
    place.ok_or_else(|| EngineError::Refused {
        what: format!("the parameter {name}"),
        why: "parameters are $1, $2 and so on",
    })
}

/// What parameters are cast to (`$1::int`).
fn casts(plan: &LogicalPlan) -> Result<HashMap<String, DataType>, DataFusionError> {
    let mut casts = HashMap::new();
    plan.apply_with_subqueries(|node| {
        for expression in node.expressions() {
            expression.apply(|expression| {
                if let Expr::Cast(cast) = expression
                    && let Expr::Placeholder(parameter) = &*cast.expr
                {
                    casts.insert(parameter.id.clone(), cast.field.data_type().clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(casts)
}
