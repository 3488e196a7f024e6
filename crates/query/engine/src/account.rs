//! Resources used by a query, compared with the predictions for its scans.

use std::sync::Arc;

use datafusion::common::DataFusionError;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::physical_plan::ExecutionPlan;
use nandle_io::Nanos;
use nandle_reads::Estimate;

use crate::EngineError;
use crate::explained::Sums;
use crate::scan::scan_of;

/// Resources used by a query so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// Requests of its scans.
    pub requests: u64,
    /// Bytes of these requests.
    pub read_bytes: u64,
    /// Unplanned requests.
    pub unplanned_requests: u64,
    /// Time during which requests were outstanding.
    pub device: Nanos,
    /// Total processor time of all threads: scans by their threads' clocks, other operators by
    /// their own.
    pub computing: Nanos,
    /// Bytes that its operators wrote to temporary files.
    pub spilled_bytes: u64,
    /// Prediction for its scans.
    pub predicted: PredictedScans,
}

/// Prediction for all scans of a query together.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedScans {
    /// Requests.
    pub requests: u64,
    /// Bytes of these requests.
    pub read_bytes: u64,
    /// Time from the first request to the last row, for the scans in sequence without other work;
    /// or the reason why it is unknown.
    pub seconds: Result<Estimate, String>,
}

impl Account {
    /// Account of a plan. If the decoding time of a column is unknown, reads and decodes a sample
    /// for the prediction.
    pub(crate) fn of(plan: &Arc<dyn ExecutionPlan>, spilled_bytes: u64) -> Result<Self, EngineError> {
        let mut sums = Sums::default();
        let mut others_ns = 0_u64;
        plan.apply(|node| {
            match scan_of(node) {
                Some(scan) => sums.add(scan),
                None => others_ns = others_ns.saturating_add(computed_ns(node)),
            }
            Ok::<_, DataFusionError>(TreeNodeRecursion::Continue)
        })?;
        let (requests, read_bytes, _) = sums.told;
        Ok(Self {
            requests: sums.taken.requests,
            read_bytes: sums.taken.read_bytes,
            unplanned_requests: sums.taken.unplanned,
            device: sums.taken.device,
            computing: Nanos(sums.taken.processor.0.saturating_add(others_ns)),
            spilled_bytes,
            predicted: PredictedScans { requests, read_bytes, seconds: sums.seconds },
        })
    }
}

fn computed_ns(node: &Arc<dyn ExecutionPlan>) -> u64 {
    let computed = node.metrics().and_then(|metrics| metrics.elapsed_compute());
    computed.map_or(0, |nanos| nanos as u64)
}
