//! Rejects subqueries that the engine (`DataFusion` 55.2) computes wrongly. It joins a correlated
//! subquery with the outer query and renames all correlated columns to one relation: columns with
//! the same name become one. It also treats null as false where IN is combined with OR or below
//! NOT, so that NOT IN is true where the result is unknown.

use std::collections::BTreeMap;

use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, DataFusionError};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, ExprSchemable as _, LogicalPlan, Subquery};

use crate::EngineError;

const ONE_NAME: &str = "the engine would take one for the other; give them names of their own, as in FROM (SELECT id AS b_id FROM b) b";
const NULLS: &str = "the engine would take a null for false there; write NOT EXISTS (SELECT … WHERE … = …), or NOT IN as a condition of its own";

/// Rejects such subqueries.
pub(super) fn check(node: &LogicalPlan) -> Result<(), EngineError> {
    for expression in node.expressions() {
        check_names(&expression)?;
        check_nulls(node, &expression)?;
    }
    Ok(())
}

fn check_names(expression: &Expr) -> Result<(), EngineError> {
    let walked = expression.apply(|part| {
        let (subquery, outputs) = match part {
            Expr::Exists(Exists { subquery, .. }) => (subquery, false),
            Expr::InSubquery(InSubquery { subquery, .. }) | Expr::ScalarSubquery(subquery) => {
                (subquery, true)
            }
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        names_apart(subquery, outputs)?;
        Ok(TreeNodeRecursion::Continue)
    });
    Ok(walked.map(|_| ())?)
}

/// Checks that the correlated columns of a subquery, and its output columns if it has them, have
/// distinct names.
fn names_apart(subquery: &Subquery, hands_out: bool) -> Result<(), DataFusionError> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(());
    }
    let mut known = BTreeMap::new();
    let mut add = |column: &Column| match known.insert(column.name.clone(), column.clone()) {
        Some(other) if other != *column => {
            let what = format!("a subquery that compares {other} and {column} with the query around it");
            Err(DataFusionError::from(EngineError::Refused { what, why: ONE_NAME }))
        }
        _ => Ok(()),
    };
    subquery.subquery.apply(|node| {
        if let LogicalPlan::Projection(projection) = node
            && hands_out
        {
            projection.expr.iter().filter_map(Expr::try_as_col).try_for_each(&mut add)?;
        }
        for condition in node.expressions().iter().flat_map(split_conjunction) {
            if condition.contains_outer() {
                condition.column_refs().into_iter().try_for_each(&mut add)?;
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// A condition of its own is correct; elsewhere null must not become false.
fn check_nulls(node: &LogicalPlan, expression: &Expr) -> Result<(), EngineError> {
    let conditions = match node {
        LogicalPlan::Filter(_) => split_conjunction(expression),
        _ => vec![expression],
    };
    let within = conditions.into_iter().filter(|condition| {
        !(matches!(node, LogicalPlan::Filter(_)) && matches!(condition, Expr::InSubquery(_)))
    });
    for condition in within {
        check_negated(node, condition, false)?;
    }
    Ok(())
}

fn check_negated(node: &LogicalPlan, expression: &Expr, is_negated: bool) -> Result<(), EngineError> {
    let is_below_not = matches!(expression, Expr::Not(_));
    if let Expr::InSubquery(InSubquery { expr, subquery, negated }) = expression
        && (*negated != is_negated)
        && may_be_null(node, expr, subquery)
    {
        let what =
            "NOT IN (SELECT …) beside OR, below NOT or as a value, where there may be nulls,".to_owned();
        return Err(EngineError::Refused { what, why: NULLS });
    }
    let walked = expression.apply_children(|child| {
        check_negated(node, child, is_negated != is_below_not)?;
        Ok(TreeNodeRecursion::Continue)
    });
    Ok(walked.map(|_| ())?)
}

fn may_be_null(node: &LogicalPlan, compared: &Expr, subquery: &Subquery) -> bool {
    let inputs = node.inputs();
    let of_input = inputs.first().and_then(|input| compared.nullable(input.schema()).ok());
    let of_subquery = subquery.subquery.schema().fields().first().map(|field| field.is_nullable());
    of_input != Some(false) || of_subquery != Some(false)
}
