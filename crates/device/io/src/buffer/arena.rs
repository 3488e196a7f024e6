//! The one place where the memory of requests is mapped.
#![allow(unsafe_code, reason = "maps memory; each block names its invariant")]

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::extents::FreeExtents;
use super::handle::BufferMut;

/// Every buffer starts on a multiple of this, which satisfies direct I/O on every device met so far, and takes
/// a multiple of it.
pub const GRAIN_BYTES: usize = 4096;

/// Memory for requests; see the [module](crate::buffer). A clone is another handle to the same memory.
#[derive(Debug, Clone)]
pub struct Arena {
    region: Arc<Region>,
}

/// The mapped memory. It outlives every buffer cut from it: each holds the `Arc`.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    bytes: usize,
    free: Mutex<FreeExtents>,
}

// SAFETY: the region is plain memory. `base` and `bytes` never change, `free` is behind a mutex, and the bytes
// themselves are reached through handles alone, of which `BufferMut` is unique and `Buffer` read-only.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// Memory could not be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// The system gave none.
    #[error("mapping an arena of {bytes} bytes: {}", std::io::Error::from(*errno))]
    Map {
        /// Bytes asked for.
        bytes: usize,
        /// What the system said.
        errno: rustix::io::Errno,
    },
    /// No free extent is long enough.
    #[error(
        "a buffer of {bytes} bytes: the longest free part of the arena ({arena_bytes} bytes) has {longest_bytes} bytes"
    )]
    Full {
        /// Bytes asked for.
        bytes: usize,
        /// Size of the arena.
        arena_bytes: usize,
        /// Its longest free part.
        longest_bytes: usize,
    },
}

impl Arena {
    /// Maps an arena of at least `bytes`, rounded up to whole grains. The memory is zero and takes no real pages
    /// until it is used.
    ///
    /// # Errors
    /// The system has no address space left, or forbids it.
    pub fn new(bytes: usize) -> Result<Self, ArenaError> {
        let bytes = whole_grains(bytes).ok_or(ArenaError::Map { bytes, errno: rustix::io::Errno::NOMEM })?;
        // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing of ours.
        let mapped = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let base = mapped.map_err(|errno| ArenaError::Map { bytes, errno })?;
        // Huge pages make registered buffers cheaper to walk. Where the kernel has none, nothing is lost.
        // SAFETY: the range is the mapping just made, and the advice doesn't change its contents.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxHugepage) };
        let base =
            NonNull::new(base.cast()).ok_or(ArenaError::Map { bytes, errno: rustix::io::Errno::NOMEM })?;
        let free = Mutex::new(FreeExtents::whole(bytes));
        Ok(Self { region: Arc::new(Region { base, bytes, free }) })
    }

    /// Cuts a buffer of `bytes` from the arena. Its contents are whatever was there before.
    ///
    /// # Errors
    /// No free part is long enough.
    pub fn allocate(&self, bytes: usize) -> Result<BufferMut, ArenaError> {
        let mut free = self.region.free.lock().unwrap_or_else(PoisonError::into_inner);
        let found = whole_grains(bytes).and_then(|taken| Some((free.take(taken)?, taken)));
        let Some((start, taken)) = found else {
            let longest_bytes = free.longest();
            return Err(ArenaError::Full { bytes, arena_bytes: self.region.bytes, longest_bytes });
        };
        drop(free);
        let extent = Extent { region: Arc::clone(&self.region), start, bytes: taken };
        Ok(BufferMut::whole(Arc::new(extent), bytes))
    }

    /// Size of the arena.
    pub fn bytes(&self) -> usize {
        self.region.bytes
    }

    /// Whether another handle is to the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.region, &other.region)
    }

    /// Whether no handle to any of its bytes is left.
    pub fn is_unused(&self) -> bool {
        let free = self.region.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.longest() == self.region.bytes
    }

    pub(crate) fn region(&self) -> &Arc<Region> {
        &self.region
    }
}

/// `bytes`, at least one, rounded up to whole grains; `None` where no number of grains is as much.
fn whole_grains(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(GRAIN_BYTES)
}

impl Region {
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: `base` and `bytes` are the mapping of `Arena::new`. The last `Arc` is gone, so no handle to the
        // bytes is left, and worlds keep the handles of requests that the kernel may still be writing to.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "unmapping an arena: {unmapped:?}");
    }
}

/// A part of a region that is not free. Handles share it; when the last is dropped it goes back.
#[derive(Debug)]
pub(super) struct Extent {
    region: Arc<Region>,
    start: usize,
    bytes: usize,
}

impl Extent {
    pub(super) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// Address of the byte `at` of this extent, which is at most one past its end.
    pub(super) fn address(&self, at: usize) -> NonNull<u8> {
        assert!(at <= self.bytes, "byte {at} of an extent of {} bytes", self.bytes);
        // SAFETY: `start + bytes` lies within the region, and `at` within the extent, so the result is in the
        // region's mapping or one past its end.
        unsafe { self.region.base.add(self.start + at) }
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        let mut free = self.region.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.give_back(self.start, self.bytes);
    }
}
