use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use nandle_io::{BufferMut, Completion, DeviceId};

use crate::plan::PlanFile;
use crate::{FileId, ReadsError, Want};

/// Checks what was read.
pub trait Check: Send + Sync {
    /// Whether these are the bytes that were written there. Offset and length are multiples of the file's alignment, but where the
    /// readable part ends.
    ///
    /// # Errors
    /// Where the first of them are that aren't, and what is wrong with them.
    fn check(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Mismatch>;
}

/// Bytes that aren't what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where they begin, in their file.
    pub offset_bytes: u64,
    /// What is wrong with them, as a part of a sentence.
    pub why: String,
}

/// A file to read from, on a device of a world.
#[derive(Clone)]
pub struct ReadFile {
    /// The device.
    pub device: DeviceId,
    /// Where on the device the file begins: a multiple of its logical block.
    pub start_bytes: u64,
    /// What planning knows of it.
    pub plan: PlanFile,
    /// What lies behind the readable part: `length_bytes − readable_bytes` bytes, checked already.
    pub tail: Bytes,
    /// What checks each request; `None` where a file has no sums.
    pub check: Option<Arc<dyn Check>>,
}

impl ReadFile {
    /// What a request has read, checked.
    pub(crate) fn checked(
        &self,
        file: FileId,
        offset_bytes: u64,
        completion: Completion,
    ) -> Result<BufferMut, ReadsError> {
        completion.result.map_err(|source| ReadsError::Io { file, source })?;
        let Some(buffer) = completion.operation.into_read_buffer() else {
            unreachable!("a completion has its request's buffer")
        };
        if let Some(check) = &self.check {
            guarded(check.as_ref(), offset_bytes, &buffer)
                .map_err(|Mismatch { offset_bytes, why }| ReadsError::Damaged { file, offset_bytes, why })?;
        }
        Ok(buffer)
    }

    /// The part of a want that lies behind what can be read.
    pub(crate) fn in_tail(&self, want: &Want) -> Bytes {
        let from = want.offset_bytes.max(self.plan.readable_bytes) - self.plan.readable_bytes;
        let to = want.end_bytes().saturating_sub(self.plan.readable_bytes);
        let at = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(self.tail.len());
        self.tail.slice(at(from).min(at(to))..at(to))
    }
}

/// A check isn't ours: one that panics fails its own scan, and not those that go on beside it in the same thread.
fn guarded(check: &dyn Check, offset_bytes: u64, bytes: &[u8]) -> Result<(), Mismatch> {
    catch_unwind(AssertUnwindSafe(|| check.check(offset_bytes, bytes))).unwrap_or_else(|_| {
        let why = "the check of these bytes panicked; its message is on standard error".to_owned();
        Err(Mismatch { offset_bytes, why })
    })
}

impl std::fmt::Debug for ReadFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadFile")
            .field("device", &self.device)
            .field("start_bytes", &self.start_bytes)
            .field("plan", &self.plan)
            .field("is_checked", &self.check.is_some())
            .finish_non_exhaustive()
    }
}
