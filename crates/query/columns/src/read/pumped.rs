//! Reading by plan: `nandle-reads` as the source of a scan's bytes.

use std::sync::Arc;

use nandle_io::DeviceId;
use nandle_reads::{Check, FileId, Mismatch, PlanFile, ReadFile, ReadsError, Scan, StepStream, Want};

use super::bytes::{StepBytes, StepData};
use super::file::ParquetFile;
use super::plan::ScanPlan;
use crate::sums::BLOCK_BYTES;
use crate::{ColumnsError, Place, Sums};

impl Check for Sums {
    fn check(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Mismatch> {
        Self::check(self, offset_bytes, bytes)
            .map_err(|found| Mismatch { offset_bytes: found.offset_bytes, why: found.to_string() })
    }
}

impl ParquetFile {
    /// Describes the file for planned reads, on a device where it begins at `start_bytes`. Reads
    /// the end of the file that isn't a whole logical block.
    ///
    /// # Errors
    /// That end can't be read, or is damaged.
    pub fn read_file(
        &self,
        device: DeviceId,
        start_bytes: u64,
        logical_block_bytes: u64,
    ) -> Result<ReadFile, ColumnsError> {
        let align_bytes =
            if self.sums().is_some() { logical_block_bytes.max(BLOCK_BYTES) } else { logical_block_bytes };
        let plan = PlanFile::new(self.source().length_bytes(), align_bytes);
        let tail = self.read(plan.readable_bytes..plan.length_bytes)?;
        let check = self.sums().map(|sums| Arc::clone(sums) as Arc<dyn Check>);
        Ok(ReadFile { device, start_bytes, plan, tail, check })
    }
}

/// Steps of a scan in the calling thread.
#[derive(Debug)]
pub struct PumpedBytes<'a, 'io> {
    plan: &'a ScanPlan,
    scan: Scan<'io>,
}

impl<'a, 'io> PumpedBytes<'a, 'io> {
    /// Takes the steps of `scan`, whose plan has exactly the wants of `plan`.
    pub const fn new(plan: &'a ScanPlan, scan: Scan<'io>) -> Self {
        Self { plan, scan }
    }

    /// Its scan, for counts and clock.
    pub const fn scan(&mut self) -> &mut Scan<'io> {
        &mut self.scan
    }
}

impl StepBytes for PumpedBytes<'_, '_> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        let step = self.scan.next_step().map_err(|error| named(self.plan, error))?;
        Ok(step.map(|step| {
            let number = step.number();
            let parts = step.into_parts().into_iter().map(|(_, bytes)| bytes.into_bytes());
            StepData { step: number, parts: parts.collect(), held: None }
        }))
    }
}

/// Steps of a scan by another thread.
#[derive(Debug)]
pub struct StreamedBytes<'a> {
    plan: &'a ScanPlan,
    stream: StepStream,
}

impl<'a> StreamedBytes<'a> {
    /// Takes the steps of `stream`, whose plan has exactly the wants of `plan`.
    pub const fn new(plan: &'a ScanPlan, stream: StepStream) -> Self {
        Self { plan, stream }
    }

    /// Its stream, for counts.
    pub const fn stream(&self) -> &StepStream {
        &self.stream
    }
}

impl StepBytes for StreamedBytes<'_> {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        let step = self.stream.next_step().map_err(|error| named(self.plan, error))?;
        Ok(step.map(|step| StepData {
            step: step.number(),
            parts: step.parts().map(|(_, bytes)| bytes.clone()).collect(),
            held: Some(Arc::new(step)),
        }))
    }
}

/// Converts an error; replaces file numbers by names.
fn named(plan: &ScanPlan, error: ReadsError) -> ColumnsError {
    let name = |file: FileId| {
        plan.files().get(file.0 as usize).map(|file| file.name().to_owned()).unwrap_or_default()
    };
    match error {
        ReadsError::Damaged { file, offset_bytes, why } => {
            ColumnsError::damaged(&damaged_place(plan, file, offset_bytes), why)
        }
        ReadsError::Io { file, .. }
        | ReadsError::UnknownFile { file, .. }
        | ReadsError::BeyondEnd { file, .. } => ColumnsError::Reads { file: name(file), source: error },
        other => ColumnsError::Reads { file: String::new(), source: other },
    }
}

/// Returns the column chunk of a damaged block; if several share it, the first that the plan reads.
fn damaged_place(plan: &ScanPlan, id: FileId, offset_bytes: u64) -> Place {
    let Some(file) = plan.files().get(id.0 as usize) else { return Place::default() };
    let block = offset_bytes..offset_bytes + BLOCK_BYTES;
    let is_there =
        |want: &&Want| want.file == id && want.offset_bytes < block.end && block.start < want.end_bytes();
    match plan.wants().iter().find(is_there) {
        Some(want) => file.place_of(&(want.offset_bytes.max(block.start)..want.end_bytes().min(block.end))),
        None => file.place_of(&block),
    }
}
