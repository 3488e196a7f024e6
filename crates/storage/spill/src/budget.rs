//! The memory budget of an operator.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{Arena, BufferMut};

use crate::SpillError;

/// The smallest budget an operator works in, in bytes.
pub const BUDGET_BYTES_MIN: usize = 64 << 10;

/// Memory that operators may use, in bytes. Rows, row indexes, request buffers and cluster lists
/// are charged to it and released when dropped. Only a few fixed-size structures are not counted. A
/// clone is another handle to the same memory.
#[derive(Debug, Clone)]
pub struct Budget {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Mapped address space; pages become resident when first used.
    arena: Arena,
    bytes: usize,
    used: AtomicUsize,
    most_used: AtomicUsize,
}

/// A part of a [`Budget`]; released when dropped.
#[derive(Debug)]
pub(crate) struct Grant {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Budget {
    /// Creates a budget of `bytes` bytes.
    ///
    /// # Errors
    ///
    /// `bytes` is less than [`BUDGET_BYTES_MIN`], or the system has no address space left.
    pub fn new(bytes: usize) -> Result<Self, SpillError> {
        if bytes < BUDGET_BYTES_MIN {
            return Err(SpillError::Memory {
                purpose: "sorting or joining",
                needed_bytes: BUDGET_BYTES_MIN as u64,
                budget_bytes: bytes as u64,
            });
        }
        let (used, most_used) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { shared: Arc::new(Shared { arena: Arena::new(bytes)?, bytes, used, most_used }) })
    }

    /// Size of the budget, in bytes.
    pub fn bytes(&self) -> usize {
        self.shared.bytes
    }

    /// Bytes in use.
    pub fn used_bytes(&self) -> usize {
        self.shared.used.load(Ordering::Relaxed)
    }

    /// Peak number of bytes in use.
    pub fn most_used_bytes(&self) -> usize {
        self.shared.most_used.load(Ordering::Relaxed)
    }

    pub(crate) fn free_bytes(&self) -> usize {
        self.shared.bytes.saturating_sub(self.used_bytes())
    }

    /// Charges memory that was allocated outside the arena.
    pub(crate) fn count(&self, purpose: &'static str, bytes: usize) -> Result<Grant, SpillError> {
        let Shared { bytes: budget_bytes, used, most_used, .. } = &*self.shared;
        let taken = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|sum| sum <= budget_bytes)
        });
        let Ok(before) = taken else {
            let needed_bytes = self.used_bytes().saturating_add(bytes) as u64;
            return Err(SpillError::Memory { purpose, needed_bytes, budget_bytes: *budget_bytes as u64 });
        };
        most_used.fetch_max(before + bytes, Ordering::Relaxed);
        Ok(Grant { shared: Arc::clone(&self.shared), bytes })
    }

    /// Allocates one buffer; it is charged in whole grains of the arena.
    pub(crate) fn buffer(
        &self,
        purpose: &'static str,
        bytes: usize,
    ) -> Result<(Grant, BufferMut), SpillError> {
        let grant = self.count(purpose, bytes.next_multiple_of(GRAIN_BYTES))?;
        Ok((grant, self.shared.arena.allocate(bytes)?))
    }

    /// Allocates `count` buffers of `bytes` bytes each. Short buffers share grains, so they must
    /// not be returned to the arena one by one.
    pub(crate) fn buffers(
        &self,
        purpose: &'static str,
        count: usize,
        bytes: usize,
    ) -> Result<(Grant, Vec<BufferMut>), SpillError> {
        let by_piece = by_piece(bytes);
        let grant = self.count(purpose, buffers_bytes(count, bytes))?;
        let mut buffers = Vec::with_capacity(count);
        while buffers.len() < count {
            let mut piece = self.shared.arena.allocate(by_piece * bytes)?;
            let here = by_piece.min(count - buffers.len());
            buffers.extend((0..here).map(|_| piece.split_to(bytes)));
        }
        Ok((grant, buffers))
    }
}

/// Bytes charged for `count` buffers of `bytes` bytes each.
pub(crate) fn buffers_bytes(count: usize, bytes: usize) -> usize {
    count.div_ceil(by_piece(bytes)) * piece_bytes(bytes)
}

/// Bytes charged for each of many buffers of `bytes` bytes, rounded up.
pub(crate) fn buffer_bytes_of_many(bytes: usize) -> usize {
    piece_bytes(bytes).div_ceil(by_piece(bytes))
}

/// Number of buffers in one piece of memory; a piece is a whole number of grains.
fn by_piece(bytes: usize) -> usize {
    debug_assert!(bytes > 0, "a buffer has at least one byte");
    (GRAIN_BYTES / bytes).max(1)
}

fn piece_bytes(bytes: usize) -> usize {
    (by_piece(bytes) * bytes).next_multiple_of(GRAIN_BYTES)
}

impl Grant {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Changes the size of the grant to `bytes`.
    pub(crate) fn resize(&mut self, purpose: &'static str, bytes: usize) -> Result<(), SpillError> {
        if bytes > self.bytes {
            let budget = Budget { shared: Arc::clone(&self.shared) };
            let mut more = budget.count(purpose, bytes - self.bytes)?;
            more.bytes = 0; // now counted by this grant
        } else {
            self.shared.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        let before = self.shared.used.fetch_sub(self.bytes, Ordering::Relaxed);
        debug_assert!(before >= self.bytes, "{} bytes of {before} are given back", self.bytes);
    }
}
