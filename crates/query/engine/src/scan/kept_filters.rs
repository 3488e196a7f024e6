//! The optimizer rule by which scans keep, of the filters that change while a query runs, those that belong to them.
//!
//! A join hands such a filter down to scans, and so does a sort of the first rows. In `DataFusion` 55.2 it loses its way: columns are looked up by their
//! names, so that it may come to another column of the same name (apache/datafusion, issues 25244 and 25262), and it passes operators that end after
//! so many rows, which then are others. A scan would leave rows out that the query wants. Here each filter's way is gone once more, by the numbers of
//! columns. Filters of the least and greatest values of a column aren't kept at all: with several of them they leave rows out that one of them wants
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

/// The inputs of a hash join, by their places.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// Has scans keep the filters that belong to them.
#[derive(Debug)]
pub(crate) struct KeepFilters;

/// A filter on its way: what it is of, in columns of the operator that it has come to.
struct OnItsWay {
    id: Option<u64>,
    of: Vec<Expression>,
}

impl OnItsWay {
    /// One step further; none where it can't come there.
    fn with(
        &self,
        moved: impl Fn(&Expression) -> Result<Option<Expression>, DataFusionError>,
    ) -> Result<Option<Self>, DataFusionError> {
        let of = self.of.iter().map(moved).collect::<Result<Option<_>, _>>()?;
        Ok(of.map(|of| Self { id: self.id, of }))
    }

    /// Whether a part of a scan's filter is this one.
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

/// The same plan, whose scans have those of the filters that come here.
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

/// The filters that an operator makes for one of its inputs, and that can be relied on.
fn made(plan: &Plan, place: usize) -> Vec<OnItsWay> {
    if !(plan.is::<SortExec>() || plan.is::<HashJoinExec>() && place == RIGHT) {
        return Vec::new();
    }
    let made = plan.dynamic_expressions_produced();
    made.iter().map(|filter| OnItsWay { id: filter.expression_id(), of: of(filter) }).collect()
}

/// What a filter is of, whatever it says of that meanwhile.
fn of(filter: &Expression) -> Vec<Expression> {
    filter.children().into_iter().map(Arc::clone).collect()
}

/// The filters that are true of an operator's input as they are of its rows. Which rows come from one that ends after so many depends on all that come to it.
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

/// The column of an input that a column of an operator's rows is; none where it is something else, or nothing is known of the operator.
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

/// A filter of what rows are grouped by leaves out whole groups. One that ends after so many groups would have others.
fn grouped_by(aggregate: &AggregateExec, column: usize) -> Option<usize> {
    let group = aggregate.group_expr();
    if aggregate.limit_options().is_some() || !group.is_single() {
        return None;
    }
    let (expression, _) = group.expr().get(column)?;
    Some(expression.downcast_ref::<Column>()?.index())
}

/// Rows of a join that have one side's columns alone have equal keys in the other.
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

/// A scan with the filters that come to it by their own way; none where it has no others.
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
