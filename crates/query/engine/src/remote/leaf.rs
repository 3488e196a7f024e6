use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use nandle_reads::Pricing;

use crate::EngineError;
use crate::scan::{PlannedScan, scan_of};

/// A planned scan: a leaf of a query's plan.
#[derive(Debug, Clone, Copy)]
pub struct ScanLeaf<'a>(&'a PlannedScan);

/// A part of a scan, for another machine.
#[derive(Debug, Clone)]
pub struct ScanPart {
    /// The engine's own Parquet source, with the same number of partitions in each part.
    pub plan: Arc<dyn ExecutionPlan>,
    /// Row groups read.
    pub row_groups: usize,
    /// Bytes wanted of them.
    pub wanted_bytes: u64,
    /// Share of the scan's predicted time.
    pub time_part: f64,
}

impl<'a> ScanLeaf<'a> {
    /// Returns the scan of a node, if it is one.
    pub fn of(node: &'a Arc<dyn ExecutionPlan>) -> Option<Self> {
        scan_of(node).map(Self)
    }

    /// Name of the table in queries.
    pub fn table(&self) -> &'a str {
        self.0.name()
    }

    /// Predicted seconds on this machine; those of the device if the decoding time is unknown.
    pub fn seconds(&self) -> f64 {
        self.0.seconds().unwrap_or(self.0.told.device_seconds).value
    }

    /// Predicted seconds on another device, whose machine decodes with `threads` threads as fast as
    /// those here.
    ///
    /// # Errors
    /// Its reads can't be planned.
    pub fn seconds_on(&self, pricing: &Pricing, threads: NonZeroUsize) -> Result<f64, EngineError> {
        let decoding = self.0.processor().as_ref().map_or(0.0, |seconds| seconds.value);
        Ok(self.0.device_seconds_on(pricing)?.max(decoding / threads.get() as f64))
    }

    /// Returns true if parts can be scanned separately. The engine assumes that a single partition
    /// has all rows: groups are complete there, and nothing is merged above. Also, row groups are
    /// identified by their offset, which is ambiguous in a damaged or hostile file.
    pub fn can_be_parted(&self) -> bool {
        self.0.partitions() > 1 && self.0.has_row_groups_apart()
    }

    /// Divides the scan into a part per weight, in proportion to predicted time. Each row group is
    /// in exactly one part.
    ///
    /// # Errors
    /// The time of its row groups can't be predicted.
    pub fn parts(&self, weights: &[f64]) -> Result<Vec<ScanPart>, EngineError> {
        self.0.parts(weights)
    }
}
