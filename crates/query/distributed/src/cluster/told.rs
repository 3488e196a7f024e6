//! What EXPLAIN says of a query that workers carry out.

use std::fmt::Write as _;
use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_distributed::{DistributedExec, DistributedLeafExec};
use nandle_engine::ScanLeaf;
use nandle_io::Nanos;
use nandle_units::{format_bytes, format_duration};

use super::handlers::shares;
use super::roster::Roster;
use crate::connection::shown;

/// A line for each worker's share of each scan; none where nothing is distributed.
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
    Some(told.map_or_else(|error| error.to_string(), |_| text))
}

fn scan(text: &mut String, leaf: &DistributedLeafExec, roster: &Roster) -> Result<(), DataFusionError> {
    let Some(scan) = ScanLeaf::of(leaf.original()) else { return Ok(()) };
    for share in shares(scan, roster, leaf.variants().len())? {
        let (row_groups, bytes) = (share.part.row_groups, format_bytes(share.part.wanted_bytes));
        let (worker, time) = (shown(&share.worker.url), time(share.seconds));
        let _ =
            writeln!(text, "{}: {worker}: {row_groups} row groups, {bytes}, predicted {time}", scan.table());
    }
    Ok(())
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
