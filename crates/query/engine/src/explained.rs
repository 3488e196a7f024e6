//! EXPLAIN output for all scans of a query: predicted before it runs, measured afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::common::format::ExplainFormat;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{LogicalPlan, Operator};
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, LikeExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::analyze::AnalyzeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures_util::stream::{StreamExt as _, once};
use nandle_reads::{Estimate, Outstanding};
use nandle_units::{counted, format_bytes, format_duration};

use crate::Elsewhere;
use crate::checked;
use crate::scan::{PlannedScan, Taken, Told, bounded, processor_time, scan_of};

/// Operators that are cheap compared with the scans below them.
const PASSING: [&str; 15] = [
    "AnalyzeExec",
    "BufferExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "DataSourceExec",
    "EmptyExec",
    "FilterExec",
    "GlobalLimitExec",
    "LocalLimitExec",
    "PlaceholderRowExec",
    "ProjectionExec",
    "RepartitionExec",
    "SortPreservingMergeExec",
    "UnionExec",
];

/// Operators that match patterns in texts.
const PATTERNS: [Operator; 8] = [
    Operator::RegexMatch,
    Operator::RegexIMatch,
    Operator::RegexNotMatch,
    Operator::RegexNotIMatch,
    Operator::LikeMatch,
    Operator::ILikeMatch,
    Operator::NotLikeMatch,
    Operator::NotILikeMatch,
];

/// An explained query.
pub(crate) enum Explained {
    /// Only planned, with the reason to run locally, if it could run on other machines.
    Before(Arc<dyn ExecutionPlan>, Option<String>),
    /// Run, with the same reason.
    After(Arc<dyn ExecutionPlan>, Option<String>),
    /// Only planned for other machines, with a description of their parts.
    Elsewhere(String),
}

impl Explained {
    /// Returns the explanation of a statement; `plan` is its execution plan.
    pub(crate) async fn of(
        statement: &LogicalPlan,
        plan: &Arc<dyn ExecutionPlan>,
        state: &SessionState,
    ) -> Result<Option<Self>, DataFusionError> {
        let is_text = |format: &ExplainFormat| matches!(format, ExplainFormat::Indent | ExplainFormat::Tree);
        let elsewhere = state.config().get_extension::<Elsewhere>();
        let why_here =
            |plan: &Arc<dyn ExecutionPlan>| elsewhere.as_ref().and_then(|elsewhere| (elsewhere.here)(plan));
        Ok(match statement {
            LogicalPlan::Explain(explain) if is_text(&explain.explain_format) => {
                let plan = state.create_physical_plan(&explain.plan).await?;
                let told = elsewhere.as_ref().and_then(|elsewhere| (elsewhere.there)(&plan));
                Some(match told {
                    Some(told) => Self::Elsewhere(told),
                    None => Self::Before(Arc::clone(&plan), why_here(&plan)),
                })
            }
            LogicalPlan::Analyze(analyze) if is_text(&analyze.format) => {
                let analysed = plan.downcast_ref::<AnalyzeExec>().map(|analyse| Arc::clone(analyse.input()));
                analysed.map(|plan| Self::After(Arc::clone(&plan), why_here(&plan)))
            }
            _ => None,
        })
    }

    /// Appends a row to those of EXPLAIN.
    pub(crate) fn after(self, rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
        let schema = rows.schema();
        let own = Arc::clone(&schema);
        let last = once(async move { self.row(own) }).filter_map(|row| async { row.transpose() });
        Box::pin(RecordBatchStreamAdapter::new(schema, rows.chain(last)))
    }

    fn row(&self, schema: SchemaRef) -> Result<Option<RecordBatch>, DataFusionError> {
        let (kind, text) = match self {
            Self::Before(plan, why_here) | Self::After(plan, why_here) => {
                let text = self.text(plan)?;
                ("reads", text.map(|text| why_here.iter().fold(text, |text, why| format!("{text}\n{why}"))))
            }
            Self::Elsewhere(text) => ("workers", Some(text.clone())),
        };
        let Some(text) = text else { return Ok(None) };
        let cells = [kind.to_owned(), text].map(|text| Arc::new(StringArray::from(vec![text])) as _);
        Ok(Some(RecordBatch::try_new(schema, cells.into())?))
    }

    /// Returns `None` without planned scans.
    fn text(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Option<String>, DataFusionError> {
        let (mut all, mut text) = (Sums::default(), String::new());
        plan.apply(|node| {
            if let Some(scan) = scan_of(node) {
                all.add(scan);
                self.write_line(&mut text, scan.name(), &Sums::of(scan));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if all.scans > 1 {
            self.write_line(&mut text, "all scans", &all);
        }
        let _ = write!(text, "{}", verdict(&others(plan)?, &all.seconds));
        Ok((all.scans > 0).then_some(text))
    }

    fn write_line(&self, text: &mut String, name: &str, of: &Sums) {
        let Sums { told, taken, processor, .. } = of;
        let (requests, bytes) = (counted(told.0, "request"), format_bytes(told.1));
        let (device, processor) = (bounded(told.2), processor_time(processor));
        let _ = match self {
            Self::Before(..) | Self::Elsewhere(_) => {
                writeln!(text, "{name}: {requests}, {bytes}, device {device}, processor {processor}")
            }
            Self::After(..) => writeln!(
                text,
                "{name}: {} (predicted {}), {} (predicted {bytes}), device {} (predicted {device}), processor {} (predicted \
                 {processor}), {} unplanned",
                counted(taken.requests, "request"),
                told.0,
                format_bytes(taken.read_bytes),
                format_duration(taken.device),
                format_duration(taken.processor),
                taken.unplanned,
            ),
        };
    }
}

/// Sums over scans.
pub(crate) struct Sums {
    scans: usize,
    /// Predicted requests, bytes and seconds of the device.
    pub(crate) told: (u64, u64, Estimate),
    pub(crate) taken: Taken,
    outstanding: Outstanding,
    processor: Result<Estimate, String>,
    pub(crate) seconds: Result<Estimate, String>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            scans: 0,
            told: (0, 0, Estimate::default()),
            taken: Taken::default(),
            outstanding: Outstanding::default(),
            processor: Ok(Estimate::default()),
            seconds: Ok(Estimate::default()),
        }
    }
}

impl Sums {
    fn of(scan: &PlannedScan) -> Self {
        let mut sums = Self::default();
        sums.add(scan);
        sums
    }

    pub(crate) fn add(&mut self, scan: &PlannedScan) {
        let Told { requests, read_bytes, device_seconds, .. } = scan.told;
        let (known_requests, known_bytes, known_seconds) = self.told;
        self.told = (known_requests + requests, known_bytes + read_bytes, known_seconds + device_seconds);
        let taken = scan.taken();
        self.scans += 1;
        self.outstanding.merge(scan.outstanding());
        self.taken = Taken {
            requests: self.taken.requests + taken.requests,
            read_bytes: self.taken.read_bytes + taken.read_bytes,
            unplanned: self.taken.unplanned + taken.unplanned,
            device: self.outstanding.total(),
            processor: self.taken.processor + taken.processor,
        };
        self.processor = sum(&self.processor, scan.processor());
        self.seconds = sum(&self.seconds, &scan.seconds());
    }
}

fn sum(one: &Result<Estimate, String>, other: &Result<Estimate, String>) -> Result<Estimate, String> {
    Ok(one.clone()? + other.clone()?)
}

/// Counts the relevant operators besides scans, by name.
fn others(plan: &Arc<dyn ExecutionPlan>) -> Result<BTreeMap<String, usize>, DataFusionError> {
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    plan.apply(|node| {
        // A result of one row is little work.
        let is_one_group =
            node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| aggregate.group_expr().is_empty());
        let is_scan_of_others = node.name() == "DataSourceExec" && scan_of(node).is_none();
        if is_scan_of_others || !is_one_group && !PASSING.contains(&node.name()) {
            *others.entry(node.name().to_owned()).or_default() += 1;
        }
        // A filter above a scan repeats the scan's own filter.
        if scan_of(node).is_none() {
            for what in expensive_expressions(node)? {
                *others.entry(what).or_default() += 1;
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(others)
}

/// Returns the expressions of a node that may cost more per row than decoding: functions and
/// patterns.
fn expensive_expressions(node: &Arc<dyn ExecutionPlan>) -> Result<Vec<String>, DataFusionError> {
    let mut expensive = Vec::new();
    node.apply_expressions(&mut |expression| {
        expression.apply(|part| {
            if let Some(function) = part.downcast_ref::<ScalarFunctionExpr>()
                && !checked::is_operator(function)
            {
                expensive.push(format!("{}()", function.name()));
            } else if part.is::<LikeExpr>() {
                expensive.push("LIKE".to_owned());
            } else if let Some(operator) = part.downcast_ref::<BinaryExpr>().map(BinaryExpr::op)
                && PATTERNS.contains(operator)
            {
                expensive.push(operator.to_string());
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(expensive)
}

/// States the duration of the query, as far as it is known.
fn verdict(others: &BTreeMap<String, usize>, seconds: &Result<Estimate, String>) -> String {
    let names = others.iter().map(|(name, count)| match count {
        1 => name.clone(),
        count => format!("{name} ({count})"),
    });
    let names: Vec<String> = names.collect();
    match (names.as_slice(), seconds) {
        (_, Err(why)) => format!("How long the query takes isn't predicted: {why}"),
        ([], Ok(seconds)) => {
            format!("The query is predicted to take {}: only scans matter in it.", bounded(*seconds))
        }
        (names, Ok(seconds)) => format!(
            "How long the query takes isn't predicted, because more than scans matters in it: {}. Its scans alone take {}.",
            names.join(", "),
            bounded(*seconds)
        ),
    }
}
