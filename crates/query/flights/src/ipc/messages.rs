//! Messages of a stream: `ffffffff`, the length of the metadata, the metadata (a flatbuffer), and a
//! body of the length stated there.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use arrow_ipc::{Message, RecordBatch, root_as_message};

use super::{ArrowFileError, CONTINUATION};

/// Maximum unpacked size of a message.
const MESSAGE_BYTES_MAX: u64 = 512 << 20;
/// Columns of nulls take no memory, so rows are limited separately.
const MESSAGE_ROWS_MAX: i64 = 1 << 28;
/// A compressed buffer is preceded by its unpacked length; this value marks an uncompressed one.
const NOT_PACKED: i64 = -1;

/// Sequential messages of a file.
pub(super) struct Messages {
    file: Arc<str>,
    source: File,
    /// Unread bytes of the file.
    left_bytes: u64,
    /// True if a footer follows the messages.
    has_footer: bool,
    number: u64,
    is_ended: bool,
}

impl Messages {
    pub(super) fn new(file: Arc<str>, source: File, left_bytes: u64, has_footer: bool) -> Self {
        Self { file, source, left_bytes, has_footer, number: 0, is_ended: false }
    }

    /// Returns the next message with its length prefix; the last one is the end mark. `None` after
    /// that.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, ArrowFileError> {
        if self.is_ended {
            return Ok(None);
        }
        self.number += 1;
        let mut bytes = Vec::new();
        self.read(8, &mut bytes)?;
        let Some((start, length)) = bytes.split_first_chunk::<4>() else {
            unreachable!("eight bytes were read")
        };
        if *start != CONTINUATION {
            return Err(self.damaged("no message begins where one should"));
        }
        let metadata_bytes = length.first_chunk().copied().map_or(0, u32::from_le_bytes);
        if metadata_bytes == 0 {
            return self.end(bytes);
        }
        self.read(metadata_bytes.into(), &mut bytes)?;
        let body_bytes = self.metadata(&bytes)?.bodyLength();
        let body_bytes = u64::try_from(body_bytes).map_err(|_| self.damaged("its length is negative"))?;
        let body_start = bytes.len();
        self.read(body_bytes, &mut bytes)?;
        self.check(&self.metadata(&bytes)?, bytes.get(body_start..).unwrap_or_default())?;
        Ok(Some(bytes))
    }

    fn metadata<'a>(&self, bytes: &'a [u8]) -> Result<Message<'a>, ArrowFileError> {
        root_as_message(bytes.get(8..).unwrap_or_default()).map_err(|error| self.damaged(&error.to_string()))
    }

    fn end(&mut self, mark: Vec<u8>) -> Result<Option<Vec<u8>>, ArrowFileError> {
        self.is_ended = true;
        if self.left_bytes > 0 && !self.has_footer {
            return Err(self.damaged("something is behind the end"));
        }
        Ok(Some(mark))
    }

    fn read(&mut self, length_bytes: u64, into: &mut Vec<u8>) -> Result<(), ArrowFileError> {
        if length_bytes > self.left_bytes {
            let left_bytes = self.left_bytes;
            return Err(self.damaged(&format!("{length_bytes} bytes should follow, and {left_bytes} do")));
        }
        if length_bytes > MESSAGE_BYTES_MAX {
            return Err(self.too_large(length_bytes));
        }
        let read = (&mut self.source).take(length_bytes).read_to_end(into);
        let wrong = |source| ArrowFileError::Read { file: Arc::clone(&self.file), source };
        if read.map_err(wrong)? as u64 != length_bytes {
            return Err(self.damaged("the file became shorter while it was read"));
        }
        self.left_bytes -= length_bytes;
        Ok(())
    }

    /// Validates the lengths stated in a message.
    fn check(&self, message: &Message<'_>, body: &[u8]) -> Result<(), ArrowFileError> {
        let of_dictionary = || message.header_as_dictionary_batch()?.data();
        let Some(batch) = message.header_as_record_batch().or_else(of_dictionary) else { return Ok(()) };
        if !(0..=MESSAGE_ROWS_MAX).contains(&batch.length()) {
            return Err(self.damaged(&format!("it has {} rows", batch.length())));
        }
        match unpacked_bytes(&batch, body) {
            None => Err(self.damaged("a buffer lies outside of it")),
            Some(bytes) if bytes > MESSAGE_BYTES_MAX => Err(self.too_large(bytes)),
            Some(_) => Ok(()),
        }
    }

    fn too_large(&self, bytes: u64) -> ArrowFileError {
        let (file, message) = (Arc::clone(&self.file), self.number);
        ArrowFileError::TooLarge { file, message, bytes, max_bytes: MESSAGE_BYTES_MAX }
    }

    pub(super) fn damaged(&self, why: &str) -> ArrowFileError {
        ArrowFileError::Damaged { file: Arc::clone(&self.file), message: self.number, why: why.to_owned() }
    }
}

/// Total unpacked size of the buffers; `None` if one isn't within the body.
fn unpacked_bytes(batch: &RecordBatch<'_>, body: &[u8]) -> Option<u64> {
    let is_packed = batch.compression().is_some();
    let mut bytes = 0_u64;
    for buffer in batch.buffers().iter().flatten() {
        let from = usize::try_from(buffer.offset()).ok()?;
        let length = usize::try_from(buffer.length()).ok()?;
        let packed = body.get(from..from.checked_add(length)?)?;
        let stated = packed.first_chunk().copied().map(i64::from_le_bytes).filter(|_| is_packed);
        let unpacked = match stated {
            None | Some(NOT_PACKED) => packed.len() as u64,
            Some(unpacked) => u64::try_from(unpacked).ok()?,
        };
        bytes = bytes.checked_add(unpacked)?;
    }
    Some(bytes)
}
