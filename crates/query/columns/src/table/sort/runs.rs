use std::io::{BufWriter, Write};
use std::sync::Arc;

use crate::directory::{PARTIAL, PROJECTIONS};
use crate::number::{index, short};
use crate::{ColumnsError, Files, ReadAt, WriteFile};

const WRITTEN_AT_ONCE_BYTES: usize = 64 << 10;

/// A file that is removed on drop.
#[derive(Debug)]
struct Temporary {
    files: Arc<dyn Files>,
    path: String,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // On failure the next writer removes it.
        let _ = self.files.remove(&self.path);
    }
}

/// A run being written.
pub(super) struct RunBuffer {
    into: BufWriter<Box<dyn WriteFile>>,
    file: Temporary,
}

impl RunBuffer {
    pub(super) fn create(files: &Arc<dyn Files>, number: u64) -> Result<Self, ColumnsError> {
        let path = format!("{PROJECTIONS}/sort-{number}{PARTIAL}");
        let into = files.create(&path).map_err(ColumnsError::io("creating", &path))?;
        let file = Temporary { files: Arc::clone(files), path };
        Ok(Self { into: BufWriter::with_capacity(WRITTEN_AT_ONCE_BYTES, into), file })
    }

    pub(super) fn push(&mut self, row: &[u8]) -> Result<(), ColumnsError> {
        let written =
            self.into.write_all(&short(row.len()).to_le_bytes()).and_then(|()| self.into.write_all(row));
        written.map_err(ColumnsError::io("writing", &self.file.path))
    }

    pub(super) fn finish(mut self) -> Result<TemporaryRun, ColumnsError> {
        self.into.flush().map_err(ColumnsError::io("writing", &self.file.path))?;
        Ok(TemporaryRun { file: self.file })
    }
}

/// A sorted run.
#[derive(Debug)]
pub(super) struct TemporaryRun {
    file: Temporary,
}

/// Reads a run sequentially.
pub(super) struct RunReader {
    run: TemporaryRun,
    source: Arc<dyn ReadAt>,
    next_byte: u64,
    buffer: Vec<u8>,
    /// Consumed bytes of the buffer.
    taken: usize,
    buffer_bytes: usize,
}

impl RunReader {
    pub(super) fn open(run: TemporaryRun, buffer_bytes: usize) -> Result<Self, ColumnsError> {
        let path = &run.file.path;
        let source = run.file.files.open(path).map_err(ColumnsError::io("opening", path))?;
        Ok(Self { run, source, next_byte: 0, buffer: Vec::new(), taken: 0, buffer_bytes })
    }

    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, ColumnsError> {
        let is_over = self.taken == self.buffer.len() && self.next_byte == self.source.length_bytes();
        if is_over {
            return Ok(None);
        }
        let mut length = [0; 4];
        length.copy_from_slice(self.take(4)?);
        self.take(u32::from_le_bytes(length) as usize).map(|row| Some(row.to_vec()))
    }

    fn take(&mut self, bytes: usize) -> Result<&[u8], ColumnsError> {
        if self.buffer.len() - self.taken < bytes {
            self.fill(bytes)?;
        }
        let from = self.taken;
        self.taken += bytes;
        Ok(self.buffer.get(from..self.taken).unwrap_or_default())
    }

    fn fill(&mut self, least: usize) -> Result<(), ColumnsError> {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let held = self.buffer.len();
        let left = index(self.source.length_bytes() - self.next_byte);
        // A file shorter than its lengths say is damaged: reading beyond its end reports that.
        let wanted = left.min(self.buffer_bytes).max(least - held);
        self.buffer.resize(held + wanted, 0);
        let into = self.buffer.get_mut(held..).unwrap_or_default();
        let path = &self.run.file.path;
        self.source.read_exact_at(self.next_byte, into).map_err(ColumnsError::io("reading", path))?;
        self.next_byte += wanted as u64;
        Ok(())
    }
}
