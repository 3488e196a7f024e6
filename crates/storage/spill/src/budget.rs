//! The memory of an operator: one stated amount, from which everything large is taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{Arena, BufferMut};

use crate::SpillError;

/// The least that operators work in.
pub const BUDGET_BYTES_MIN: usize = 64 << 10;

/// Memory that operators may use, in bytes. Rows, the order of rows, buffers of requests and lists of clusters are taken from
/// it and given back; what is left outside are a few fixed-size structures. A clone is another handle to the same memory.
#[derive(Debug, Clone)]
pub struct Budget {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Mapped, but without real pages until they are used.
    arena: Arena,
    bytes: usize,
    used: AtomicUsize,
    most_used: AtomicUsize,
}

/// A part of a [`Budget`], given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Grant {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Budget {
    /// A budget of so many bytes.
    ///
    /// # Errors
    /// It is less than [`BUDGET_BYTES_MIN`], or the system has no address space left.
    pub fn new(bytes: usize) -> Result<Self, SpillError> {
        if bytes < BUDGET_BYTES_MIN {
            return Err(SpillError::Memory {
                purpose: "sorting or joining at all",
                needed_bytes: BUDGET_BYTES_MIN as u64,
                budget_bytes: bytes as u64,
            });
        }
        let (used, most_used) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { shared: Arc::new(Shared { arena: Arena::new(bytes)?, bytes, used, most_used }) })
    }

    /// All of it.
    pub fn bytes(&self) -> usize {
        self.shared.bytes
    }

    /// What is taken now.
    pub fn used_bytes(&self) -> usize {
        self.shared.used.load(Ordering::Relaxed)
    }

    /// The most that was taken at once.
    pub fn most_used_bytes(&self) -> usize {
        self.shared.most_used.load(Ordering::Relaxed)
    }

    pub(crate) fn free_bytes(&self) -> usize {
        self.shared.bytes.saturating_sub(self.used_bytes())
    }

    /// Counts memory that comes from elsewhere.
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

    /// Takes one buffer, which is counted in whole grains of the arena.
    pub(crate) fn buffer(
        &self,
        purpose: &'static str,
        bytes: usize,
    ) -> Result<(Grant, BufferMut), SpillError> {
        let grant = self.count(purpose, bytes.next_multiple_of(GRAIN_BYTES))?;
        Ok((grant, self.shared.arena.allocate(bytes)?))
    }

    /// Takes so many buffers of the same length, which are never filled again by others: short ones share grains.
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

/// What so many buffers of the same length take.
pub(crate) fn buffers_bytes(count: usize, bytes: usize) -> usize {
    count.div_ceil(by_piece(bytes)) * piece_bytes(bytes)
}

/// What each of many buffers of the same length takes, rounded up.
pub(crate) fn buffer_bytes_of_many(bytes: usize) -> usize {
    piece_bytes(bytes).div_ceil(by_piece(bytes))
}

/// How many buffers share a piece of memory, which is whole grains.
fn by_piece(bytes: usize) -> usize {
    debug_assert!(bytes > 0, "a buffer of nothing");
    (GRAIN_BYTES / bytes).max(1)
}

fn piece_bytes(bytes: usize) -> usize {
    (by_piece(bytes) * bytes).next_multiple_of(GRAIN_BYTES)
}

impl Grant {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts more, or less.
    pub(crate) fn resize(&mut self, purpose: &'static str, bytes: usize) -> Result<(), SpillError> {
        if bytes > self.bytes {
            let budget = Budget { shared: Arc::clone(&self.shared) };
            let mut more = budget.count(purpose, bytes - self.bytes)?;
            more.bytes = 0; // it is this grant's now
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
