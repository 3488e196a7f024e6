//! Reads of footers through the reading thread.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use nandle_columns::ReadAt;
use nandle_io::DeviceId;
use nandle_reads::{FileId, Owner, PlanFile, PlanOptions, Pricing, ReadFile, ReadsError, StepStream};

/// Footers are read urgently by a scan without steps.
const MEMORY_BYTES: u64 = 1 << 20;

/// A file read by an owner's thread.
#[derive(Debug)]
pub(crate) struct Pumped {
    reads: Arc<StepStream>,
    file: FileId,
    length_bytes: u64,
}

impl Pumped {
    /// Files of the owner's world, by their numbers in `files`.
    pub(crate) fn all(
        owner: &Owner,
        files: Vec<ReadFile>,
        pricing: &Pricing,
    ) -> std::result::Result<Vec<Self>, ReadsError> {
        let planned: Vec<PlanFile> = files.iter().map(|file| file.plan.clone()).collect();
        let plan = pricing.plan(Vec::new(), &planned, PlanOptions::new(MEMORY_BYTES))?;
        let reads = Arc::new(owner.scan(files.into(), Arc::new(plan), MEMORY_BYTES));
        let of = |(file, plan): (u32, PlanFile)| Self {
            reads: Arc::clone(&reads),
            file: FileId(file),
            length_bytes: plan.length_bytes,
        };
        Ok((0..).zip(planned).map(of).collect())
    }
}

impl ReadAt for Pumped {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_exact_at(&self, offset_bytes: u64, into: &mut [u8]) -> Result<()> {
        if into.is_empty() {
            return Ok(());
        }
        let read = self.reads.read_urgently(self.file, offset_bytes, into.len() as u64);
        let bytes = read.map_err(|error| match error {
            ReadsError::BeyondEnd { .. } => Error::new(ErrorKind::UnexpectedEof, error),
            error => Error::other(error),
        })?;
        into.copy_from_slice(&bytes);
        Ok(())
    }
}

/// Opens a file without checksums for a scan. Reads the end that isn't a whole block.
pub(crate) fn plain(path: &Path, device: DeviceId, align_bytes: u64) -> Result<ReadFile> {
    let file = File::open(path)?;
    let plan = PlanFile::new(file.metadata()?.len(), align_bytes);
    let mut tail = vec![0; usize::try_from(plan.length_bytes - plan.readable_bytes).unwrap_or_default()];
    file.read_exact_at(&mut tail, plan.readable_bytes)?;
    Ok(ReadFile { device, start_bytes: 0, plan, tail: Bytes::from(tail), check: None })
}
