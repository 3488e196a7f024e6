//! Optimizer rule that re-assigns dynamic filters to scans.
//!
//! Joins, and sorts with a limit, push such filters down to scans. In `DataFusion` 55.2 they can
//! reach the wrong scan: columns are looked up by name, so a filter may arrive at another column of
//! the same name (apache/datafusion, issues 25244 and 25262). They also pass operators with a
//! limit, whose output then changes. Either way a scan would drop rows that the query needs. This
//! rule re-traces each filter to its scan by column index. Filters on the minimum and maximum of a
//! column are removed entirely: if several are combined, they drop rows that one of them needs
//! (issues 24816 and 25147).

use std::sync::Arc;

use arrow_schema::Schema;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DataFusionError, JoinSide, JoinType};
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileScanConfigBuilder, FileSource as _, ParquetSource,
};
use datafusion::datasource::source::{DataSource as _, DataSourceExec};
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking, lit};
use datafusion::physical_expr::utils::split_conjunction;
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::joins::utils::build_join_schema;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};

use super::columns::{made_of, of_others};
use super::rule::scan_of;
use crate::grace::GraceHashJoin;
use crate::outer::OuterSide;

type Expression = Arc<dyn PhysicalExpr>;
type Plan = Arc<dyn ExecutionPlan>;

/// Inputs of a hash join, by index.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// Optimizer rule that re-traces filters.
#[derive(Debug)]
pub(crate) struct KeepFilters;

/// A filter being traced, in terms of the columns of the current operator.
struct OnItsWay {
    id: Option<u64>,
    of: Vec<Expression>,
}

impl OnItsWay {
    /// Moves the filter one step down; `None` if it can't pass.
    fn with(
        &self,
        moved: impl Fn(&Expression) -> Result<Option<Expression>, DataFusionError>,
    ) -> Result<Option<Self>, DataFusionError> {
        let of = self.of.iter().map(moved).collect::<Result<Option<_>, _>>()?;
        Ok(of.map(|of| Self { id: self.id, of }))
    }

    /// Returns true if a part of a scan's filter is this filter.
    fn is(&self, part: &Expression) -> bool {
        self.id.is_some() && self.id == part.expression_id() && self.of == of(part)
    }
}

impl PhysicalOptimizerRule for KeepFilters {
    fn optimize(&self, plan: Plan, _config: &ConfigOptions) -> Result<Plan, DataFusionError> {
        kept(plan, &[])
    }

    fn name(&self) -> &'static str {
        "keep_filters"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Rewrites a plan so that its scans keep only the filters traced to them.
fn kept(plan: Plan, coming: &[OnItsWay]) -> Result<Plan, DataFusionError> {
    if let Some((config, source)) = scan_of(&plan) {
        return Ok(scan_with(config, source, coming)?.unwrap_or(plan));
    }
    let children = plan.children().into_iter().enumerate().map(|(place, child)| {
        let mut below = passing(&plan, (place, &child.schema()), coming)?;
        below.extend(made(&plan, place));
        kept(Arc::clone(child), &below)
    });
    let children = children.collect::<Result<Vec<_>, _>>()?;
    let is_same = plan.children().into_iter().zip(&children).all(|(old, new)| Arc::ptr_eq(old, new));
    if is_same {
        return Ok(plan);
    }
    plan.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
}

/// Filters that an operator creates for one of its inputs, if they are reliable.
fn made(plan: &Plan, place: usize) -> Vec<OnItsWay> {
    if !(plan.is::<SortExec>() || plan.is::<HashJoinExec>() && place == RIGHT) {
        return Vec::new();
    }
    let made = plan.dynamic_expressions_produced();
    made.iter().map(|filter| OnItsWay { id: filter.expression_id(), of: of(filter) }).collect()
}

/// Expressions that the filter depends on, independent of its current bounds.
fn of(filter: &Expression) -> Vec<Expression> {
    filter.children().into_iter().map(Arc::clone).collect()
}

/// Returns the filters that an operator passes to an input. One with a limit passes none, because
/// its output depends on all its input rows.
fn passing(
    plan: &Plan,
    (place, schema): (usize, &Schema),
    coming: &[OnItsWay],
) -> Result<Vec<OnItsWay>, DataFusionError> {
    if plan.fetch().is_some() || coming.is_empty() {
        return Ok(Vec::new());
    }
    let below = |column: &Column| match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => made_of(projection.expr(), column),
        None => named(schema, column_below(plan, place, column.index())?),
    };
    let passing = coming.iter().map(|filter| filter.with(|of| of_others(of, below)));
    Ok(passing.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn named(schema: &Schema, number: usize) -> Option<Expression> {
    schema.fields().get(number).map(|field| Arc::new(Column::new(field.name(), number)) as _)
}

/// Maps an output column to an input column; `None` if it isn't a plain column or the operator is
/// unknown.
fn column_below(plan: &Plan, place: usize, column: usize) -> Option<usize> {
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        return through(filter.projection().as_deref(), column);
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return grouped_by(aggregate, column);
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return joined(join, place, column);
    }
    if let Some(join) = plan.downcast_ref::<GraceHashJoin>() {
        return joined(join.join(), place, column);
    }
    let hands_on = plan.is::<RepartitionExec>()
        || plan.is::<CoalescePartitionsExec>()
        || plan.is::<CooperativeExec>()
        || plan.is::<OuterSide>()
        || plan.is::<SortExec>()
        || plan.is::<SortPreservingMergeExec>()
        || plan.is::<UnionExec>()
        || plan.is::<InterleaveExec>();
    hands_on.then_some(column)
}

fn through(projection: Option<&[usize]>, column: usize) -> Option<usize> {
    projection.map_or(Some(column), |columns| columns.get(column).copied())
}

/// A filter on a grouping column drops whole groups. With a limit on groups, others would take
/// their place.
fn grouped_by(aggregate: &AggregateExec, column: usize) -> Option<usize> {
    let group = aggregate.group_expr();
    if aggregate.limit_options().is_some() || !group.is_single() {
        return None;
    }
    let (expression, _) = group.expr().get(column)?;
    Some(expression.downcast_ref::<Column>()?.index())
}

/// In joins that output only one side's columns, the keys of the other side are equal.
fn joined(join: &HashJoinExec, place: usize, column: usize) -> Option<usize> {
    let column = through(join.projection.as_deref(), column)?;
    let (_, columns) = build_join_schema(&join.left().schema(), &join.right().schema(), join.join_type());
    let found = columns.get(column)?;
    match (found.side, place) {
        (JoinSide::Left, LEFT) | (JoinSide::Right, RIGHT) => Some(found.index),
        (JoinSide::Left, RIGHT) if *join.join_type() == JoinType::LeftSemi => {
            other_key(join.on().iter().map(|(left, right)| (left, right)), found.index)
        }
        (JoinSide::Right, LEFT) if *join.join_type() == JoinType::RightSemi => {
            other_key(join.on().iter().map(|(left, right)| (right, left)), found.index)
        }
        _ => None,
    }
}

fn other_key<'a>(
    mut keys: impl Iterator<Item = (&'a Expression, &'a Expression)>,
    column: usize,
) -> Option<usize> {
    let is_column = |key: &Expression| key.downcast_ref::<Column>().is_some_and(|key| key.index() == column);
    let (_, other) = keys.find(|(key, _)| is_column(key))?;
    Some(other.downcast_ref::<Column>()?.index())
}

/// Returns the scan with only the traced filters; `None` if it has no others.
fn scan_with(
    config: &FileScanConfig,
    source: &ParquetSource,
    coming: &[OnItsWay],
) -> Result<Option<Plan>, DataFusionError> {
    let Some(whole) = source.filter() else { return Ok(None) };
    let coming = if config.fetch().is_some() { &[] } else { coming };
    let in_files = |of: &Expression| match source.projection() {
        Some(projection) => of_others(of, |column| made_of(projection.as_ref(), column)),
        None => Ok(Some(Arc::clone(of))),
    };
    let coming = coming.iter().map(|filter| filter.with(in_files));
    let coming = coming.collect::<Result<Vec<_>, _>>()?;
    let parts = split_conjunction(&whole);
    let belongs = |part: &&&Expression| {
        !DynamicFilterTracking::classify(part).contains_dynamic_filter()
            || coming.iter().flatten().any(|filter| filter.is(part))
    };
    let kept: Vec<Expression> = parts.iter().filter(belongs).map(|part| Arc::clone(part)).collect();
    if kept.len() == parts.len() {
        return Ok(None);
    }
    let kept = if kept.is_empty() { lit(true) } else { conjunction(kept) };
    let config =
        FileScanConfigBuilder::from(config.clone()).with_source(source.with_predicate(kept).into()).build();
    Ok(Some(DataSourceExec::from_data_source(config)))
}
