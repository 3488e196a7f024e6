use std::sync::Arc;

use bytes::Bytes;
use nandle_io::{Device, DeviceId};
use nandle_reads::recording::Recording;
use nandle_reads::{PlanFile, ReadFile};

use crate::PredictError;

/// Alignment of files, as in a file system: a multiple of every block size.
const FILE_GRAIN_BYTES: u64 = 1 << 20;

/// Layout of a recording's files on a device: consecutive from its beginning, followed by the
/// temporary data.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Files for planning.
    pub files: Vec<PlanFile>,
    /// Offset of each file.
    pub starts_bytes: Vec<u64>,
    /// Offset of the temporary data.
    pub spill_start_bytes: u64,
    /// Space for the temporary data of the query with the most.
    pub spill_bytes: u64,
}

impl Layout {
    /// Lays out files for requests aligned to `align_bytes`. Lengths are rounded up to whole
    /// blocks, so the last block is read like any other.
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

    /// Space that the layout takes on a device.
    pub fn end_bytes(&self) -> u64 {
        self.spill_start_bytes.saturating_add(self.spill_bytes)
    }

    /// Checks that the layout fits on a device. `target` is its name in the error.
    ///
    /// # Errors
    /// The device is too small.
    pub fn check(&self, device: &Device, target: &str) -> Result<(), PredictError> {
        let (needed_bytes, capacity_bytes) = (self.end_bytes(), device.shape.capacity_bytes);
        if needed_bytes <= capacity_bytes {
            return Ok(());
        }
        Err(PredictError::TooSmall { target: target.to_owned(), needed_bytes, capacity_bytes })
    }

    /// Returns the files as placed on a device of a world.
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

/// Rounds up. On overflow returns a length that fits on no device.
fn whole(bytes: u64, grain_bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(grain_bytes).unwrap_or(u64::MAX - u64::MAX % grain_bytes)
}
