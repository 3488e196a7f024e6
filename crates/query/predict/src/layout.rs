use std::sync::Arc;

use bytes::Bytes;
use nandle_io::{Device, DeviceId};
use nandle_reads::recording::Recording;
use nandle_reads::{PlanFile, ReadFile};

use crate::PredictError;

/// Files begin at multiples of it, as a file system's extents do: a multiple of every block.
const FILE_GRAIN_BYTES: u64 = 1 << 20;

/// Where the files of a recording lie on a device: one after the other from its beginning on, and behind them the temporary data.
#[derive(Debug, Clone)]
pub struct Layout {
    /// For planning, by file.
    pub files: Vec<PlanFile>,
    /// Where each begins.
    pub starts_bytes: Vec<u64>,
    /// Where the temporary data begin.
    pub spill_start_bytes: u64,
    /// Room for the temporary data of the query that has most.
    pub spill_bytes: u64,
}

impl Layout {
    /// Lays out files in which requests are aligned to `align_bytes`. What a file lacks to a whole block is room on the device as well, so
    /// its last block is read like any other.
    pub fn new(recording: &Recording, align_bytes: u64) -> Self {
        let align_bytes = align_bytes.max(1);
        let (mut files, mut starts_bytes, mut end_bytes) = (Vec::new(), Vec::new(), 0_u64);
        for file in &recording.files {
            let length_bytes = whole(file.length_bytes, align_bytes);
            let groups = file.groups.clone();
            files.push(PlanFile { groups, ..PlanFile::new(length_bytes, align_bytes) });
            starts_bytes.push(end_bytes);
            end_bytes = end_bytes.saturating_add(whole(length_bytes, FILE_GRAIN_BYTES));
        }
        let spilled = recording
            .queries
            .iter()
            .map(|query| query.totals.spilled_bytes.max(query.totals.spill_read_bytes));
        let spill_bytes = whole(spilled.max().unwrap_or_default(), FILE_GRAIN_BYTES);
        Self { files, starts_bytes, spill_start_bytes: end_bytes, spill_bytes }
    }

    /// What it takes of a device.
    pub fn end_bytes(&self) -> u64 {
        self.spill_start_bytes.saturating_add(self.spill_bytes)
    }

    /// Sees that a device has room for it.
    ///
    /// # Errors
    /// It hasn't. `target` is what the error calls it.
    pub fn check(&self, device: &Device, target: &str) -> Result<(), PredictError> {
        let (needed_bytes, capacity_bytes) = (self.end_bytes(), device.shape.capacity_bytes);
        if needed_bytes <= capacity_bytes {
            return Ok(());
        }
        Err(PredictError::TooSmall { target: target.to_owned(), needed_bytes, capacity_bytes })
    }

    /// The files on a device of a world.
    pub(crate) fn on(&self, device: DeviceId) -> Arc<[ReadFile]> {
        let files = self.files.iter().zip(&self.starts_bytes).map(|(plan, start_bytes)| ReadFile {
            device,
            start_bytes: *start_bytes,
            plan: plan.clone(),
            tail: Bytes::new(),
            check: None,
        });
        files.collect()
    }
}

/// Rounded up; what would be too much stays as it is, and fits on no device.
fn whole(bytes: u64, grain_bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(grain_bytes).unwrap_or(u64::MAX - u64::MAX % grain_bytes)
}
