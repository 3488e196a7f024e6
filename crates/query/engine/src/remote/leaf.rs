use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use nandle_reads::Pricing;

use crate::EngineError;
use crate::scan::{PlannedScan, scan_of};

/// A scan by plan: a leaf of a query's plan.
#[derive(Debug, Clone, Copy)]
pub struct ScanLeaf<'a>(&'a PlannedScan);

/// A part of a scan, for another machine.
#[derive(Debug, Clone)]
pub struct ScanPart {
    /// The engine's own Parquet source; the same partitions in each part.
    pub plan: Arc<dyn ExecutionPlan>,
    /// How many row groups are read.
    pub row_groups: usize,
    /// How many bytes of them are wanted.
    pub wanted_bytes: u64,
    /// Which part of the scan's predicted time it takes.
    pub time_part: f64,
}

impl<'a> ScanLeaf<'a> {
    /// The scan that a node is, if it is one.
    pub fn of(node: &'a Arc<dyn ExecutionPlan>) -> Option<Self> {
        scan_of(node).map(Self)
    }

    /// What a query calls the table.
    pub fn table(&self) -> &'a str {
        self.0.name()
    }

    /// Seconds that it is predicted to take here; of the device alone, where it isn't known what decoding takes.
    pub fn seconds(&self) -> f64 {
        self.0.seconds().unwrap_or(self.0.told.device_seconds).value
    }

    /// The same for another device, whose machine decodes with so many threads that are like those here.
    ///
    /// # Errors
    /// Its reads can't be planned.
    pub fn seconds_on(&self, pricing: &Pricing, threads: NonZeroUsize) -> Result<f64, EngineError> {
        let decoding = self.0.processor().as_ref().map_or(0.0, |seconds| seconds.value);
        Ok(self.0.device_seconds_on(pricing)?.max(decoding / threads.get() as f64))
    }

    /// Whether parts of it can be scanned apart. Of a single partition the engine takes for granted that it has all rows: groups are complete there, and nothing
    /// is merged above it. And row groups are told apart by where they lie, which those of a damaged or hostile file aren't.
    pub fn can_be_parted(&self) -> bool {
        self.0.partitions() > 1 && self.0.has_row_groups_apart()
    }

    /// A part for each weight, which is predicted to take so large a part of the time. Each piece of the scan is in one of them.
    ///
    /// # Errors
    /// What its pieces take can't be predicted.
    pub fn parts(&self, weights: &[f64]) -> Result<Vec<ScanPart>, EngineError> {
        self.0.parts(weights)
    }
}
