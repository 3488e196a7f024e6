use std::collections::HashMap;

use arrow_schema::{DataType, Fields, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::table::{pinned, unpinned};
use crate::{EngineError, Statement};

/// Values of parameters, by number.
pub type Values = datafusion::common::ParamValues;

/// Maximum number of parameters: the PostgreSQL protocol has 16 bits for it.
const PARAMETERS_MOST: usize = 65_535;

/// A planned statement. It doesn't pin its tables: each run reads their current rows.
#[derive(Debug, Clone)]
pub struct Prepared {
    statement: Statement,
    values: Option<Values>,
    plan: LogicalPlan,
    parameters: Vec<Option<DataType>>,
}

impl Prepared {
    pub(crate) fn new(statement: Statement, plan: &LogicalPlan) -> Result<Self, EngineError> {
        let (plan, parameters) = (unpinned(plan)?, parameters(plan)?);
        Ok(Self { statement, values: None, plan, parameters })
    }

    /// Binds values to its parameters.
    pub(crate) fn bound(&self, values: Values) -> Result<Self, EngineError> {
        let plan = self.plan.clone().replace_params_with_values(&values)?;
        let parameters = parameters(&plan)?;
        Ok(Self { statement: self.statement.clone(), values: Some(values), plan, parameters })
    }

    /// Returns the plan over the current tables; `None` if their columns have changed.
    pub(crate) fn plan_now(&self) -> Result<Option<LogicalPlan>, EngineError> {
        pinned(&self.plan)
    }

    /// Its statement.
    pub(crate) const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Binds the same values to a new plan of the same statement.
    ///
    /// # Errors
    /// It has different columns from those that the client received.
    pub(crate) fn made_anew(&self, plan: LogicalPlan) -> Result<LogicalPlan, EngineError> {
        let plan = match &self.values {
            Some(values) => plan.replace_params_with_values(values)?,
            None => plan,
        };
        let (known, now) = (self.schema().fields(), plan.schema().fields());
        let types = |fields: &Fields| -> Vec<(String, DataType)> {
            fields.iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
        };
        if types(known) == types(now) {
            return Ok(plan);
        }
        Err(EngineError::Refused {
            what: "the statement as it was prepared".to_owned(),
            why: "its tables have other columns now, and so has its result; prepare it again",
        })
    }

    /// Types of `$1`, `$2` and so on, if they follow from the statement.
    pub fn parameters(&self) -> &[Option<DataType>] {
        &self.parameters
    }

    /// Columns of its rows.
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

/// Parses the number in `$12`.
fn place(name: &str) -> Result<usize, EngineError> {
    let place = name.strip_prefix('$').and_then(|number| number.parse().ok());
    let place = place.filter(|place| (1..=PARAMETERS_MOST).contains(place));
    place.ok_or_else(|| EngineError::Refused {
        what: format!("the parameter {name}"),
        why: "parameters are $1, $2 and so on",
    })
}

/// Types that parameters are cast to (`$1::int`).
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
