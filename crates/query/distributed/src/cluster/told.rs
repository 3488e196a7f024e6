//! EXPLAIN output for a distributed query.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_distributed::{DistributedExec, DistributedLeafExec};
use nandle_engine::ScanLeaf;
use nandle_io::Nanos;
use nandle_units::{format_bytes, format_duration};

use super::handlers::{Share, shares};
use super::roster::Roster;
use crate::connection::shown;

/// Reason why the total time isn't predicted.
const VERDICT: &str = "How long the query takes isn't predicted, because it runs on several machines: rows pass between them, and what each computes at a time isn't foreseen.";

/// Returns a line per worker and scan, their sum, and a remark on the query; `None` if nothing is
/// distributed.
pub(super) fn plan(plan: &Arc<dyn ExecutionPlan>, roster: &Roster) -> Option<String> {
    if !plan.exists(|node| Ok(node.is::<DistributedExec>())).ok()? {
        return None;
    }
    let mut text = String::new();
    let told = plan.apply(|node| {
        if let Some(leaf) = node.downcast_ref::<DistributedLeafExec>() {
            scan(&mut text, leaf, roster)?;
        }
        Ok(TreeNodeRecursion::Continue)
    });
    Some(told.map_or_else(|error| error.to_string(), |_| text + VERDICT))
}

/// Returns the reason why no worker takes part in a plan; `None` if it has no scan to distribute.
pub(super) fn why_here(plan: &Arc<dyn ExecutionPlan>, above: Duration) -> Option<String> {
    if plan.exists(|node| Ok(node.is::<DistributedExec>())).ok()? {
        return None;
    }
    let mut scans = Vec::new();
    let looked = plan.apply(|node| {
        if let Some(scan) = ScanLeaf::of(node) {
            let why = if scan.can_be_parted() { time(scan.seconds()) } else { "it has no parts".to_owned() };
            scans.push(format!("{} ({why})", scan.table()));
        }
        Ok::<_, DataFusionError>(TreeNodeRecursion::Continue)
    });
    looked.ok().filter(|_| !scans.is_empty())?;
    let above = format_duration(Nanos(u64::try_from(above.as_nanos()).unwrap_or(u64::MAX)));
    Some(format!(
        "No worker takes part: a scan that is predicted to take less than {above} (--distribute-above) is made here: {}.",
        scans.join(", ")
    ))
}

fn scan(text: &mut String, leaf: &DistributedLeafExec, roster: &Roster) -> Result<(), DataFusionError> {
    let Some(scan) = ScanLeaf::of(leaf.original()) else { return Ok(()) };
    let (mut row_groups, mut bytes, mut seconds) = (0, 0, 0.0_f64);
    for Share { worker, part, seconds: own } in shares(scan, roster, leaf.variants().len())? {
        (row_groups, bytes) = (row_groups + part.row_groups, bytes + part.wanted_bytes);
        seconds = seconds.max(own);
        write_line(text, scan.table(), &shown(&worker.url), (part.row_groups, part.wanted_bytes, own));
    }
    write_line(text, scan.table(), "all workers side by side", (row_groups, bytes, seconds));
    Ok(())
}

fn write_line(text: &mut String, table: &str, of: &str, (row_groups, bytes, seconds): (usize, u64, f64)) {
    let (bytes, time) = (format_bytes(bytes), time(seconds));
    let _ = writeln!(text, "{table}: {of}: {row_groups} row groups, {bytes}, predicted {time}");
}

fn time(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times are positive, and years are enough"
    )]
    let nanos = (seconds * 1e9) as u64;
    format_duration(Nanos(nanos))
}
