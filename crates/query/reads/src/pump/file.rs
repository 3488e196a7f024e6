use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use nandle_io::{BufferMut, Completion, DeviceId};

use crate::plan::PlanFile;
use crate::{FileId, ReadsError, Want};

/// Check of the bytes read.
pub trait Check: Send + Sync {
    /// Checks that `bytes` are those written at the offset. Offset and length are multiples of the
    /// file's alignment, except at the end of its readable part.
    ///
    /// # Errors
    /// The offset of the first wrong bytes, and the reason.
    fn check(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Mismatch>;
}

/// Report of damaged bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the damage in the file.
    pub offset_bytes: u64,
    /// The damage, as a part of a sentence.
    pub why: String,
}

/// A file on a device of a world.
#[derive(Clone)]
pub struct ReadFile {
    /// The device.
    pub device: DeviceId,
    /// Offset of the file on the device: a multiple of its logical block.
    pub start_bytes: u64,
    /// Properties for planning.
    pub plan: PlanFile,
    /// The bytes behind the readable part (`length_bytes − readable_bytes`), already checked.
    pub tail: Bytes,
    /// Check of each request; `None` for a file without checksums.
    pub check: Option<Arc<dyn Check>>,
}

impl ReadFile {
    /// Returns the checked bytes of a completed request.
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

    /// Returns the part of a want that lies behind the readable part.
    pub(crate) fn in_tail(&self, want: &Want) -> Bytes {
        let from = want.offset_bytes.max(self.plan.readable_bytes) - self.plan.readable_bytes;
        let to = want.end_bytes().saturating_sub(self.plan.readable_bytes);
        let at = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(self.tail.len());
        self.tail.slice(at(from).min(at(to))..at(to))
    }
}

/// Isolates a panic in the caller's check: only its own scan fails, not others of the same thread.
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
