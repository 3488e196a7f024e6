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

/// Of this size are the huge pages of x86 and of most kernels for ARM.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// The least arena that takes whole huge pages: of smaller ones the rest of a page would be most of what they take.
const HUGE_PAGES_FROM_BYTES: usize = 1 << 20;

/// Memory for requests; see the [module](crate::buffer). A clone is another handle to the same memory.
#[derive(Debug, Clone)]
pub struct Arena {
    region: Arc<Region>,
}

/// The mapped memory. It outlives every buffer cut from it: each holds the `Arc`.
#[derive(Debug)]
pub(crate) struct Region {
    /// Goes when the region does.
    _mapping: Mapping,
    base: NonNull<u8>,
    bytes: usize,
    free: Mutex<FreeExtents>,
}

/// Address space of ours: `base` and the `bytes` from it on lie within.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the region is plain memory. Its mapping, `base` and `bytes` never change, `free` is behind a mutex, and the bytes
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
    /// Maps an arena of at least `bytes`, rounded up to whole grains, and from 1 MiB on to whole huge pages (2 MiB). The memory is zero and takes no
    /// real pages until it is used; then it takes huge ones where the system has them to give.
    ///
    /// # Errors
    /// The system has no address space left, or forbids it.
    pub fn new(bytes: usize) -> Result<Self, ArenaError> {
        let bytes = whole_grains(bytes).ok_or(ArenaError::Map { bytes, errno: rustix::io::Errno::NOMEM })?;
        let is_huge = bytes >= HUGE_PAGES_FROM_BYTES;
        let mapped = if is_huge { Mapping::huge(bytes) } else { Mapping::new(bytes) };
        let (mapping, base) = mapped.map_err(|errno| ArenaError::Map { bytes, errno })?;
        let bytes = if is_huge { bytes.next_multiple_of(HUGE_PAGE_BYTES) } else { bytes };
        let free = Mutex::new(FreeExtents::whole(bytes));
        Ok(Self { region: Arc::new(Region { _mapping: mapping, base, bytes, free }) })
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

    /// Bytes of it that no handle refers to.
    pub fn free_bytes(&self) -> usize {
        self.region.free.lock().unwrap_or_else(PoisonError::into_inner).all()
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

impl Mapping {
    /// Maps `bytes`, and says where they start.
    fn new(bytes: usize) -> rustix::io::Result<(Self, NonNull<u8>)> {
        // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing of ours.
        let mapped = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = NonNull::new(mapped?.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok((Self { start, bytes }, start))
    }

    /// Maps `bytes` as whole huge pages, and says where the first starts.
    ///
    /// The bytes of a buffer then lie side by side in real memory: a request names one place instead of one for each 4 KiB, and registered
    /// buffers are cheaper to walk. A virtual disk reads 32 KiB three times and 128 KiB four times as fast. Where the kernel has no huge pages,
    /// nothing but address space is lost.
    fn huge(bytes: usize) -> rustix::io::Result<(Self, NonNull<u8>)> {
        let huge_bytes = bytes.checked_next_multiple_of(HUGE_PAGE_BYTES).ok_or(rustix::io::Errno::NOMEM)?;
        let mapped_bytes = huge_bytes.checked_add(HUGE_PAGE_BYTES).ok_or(rustix::io::Errno::NOMEM)?;
        let (mapping, start) = Self::new(mapped_bytes)?;
        let before_bytes = start.addr().get().wrapping_neg() % HUGE_PAGE_BYTES;
        // SAFETY: fewer bytes than a huge page lie before the first that starts in the mapping, and it has one more than is asked for.
        let base = unsafe { start.add(before_bytes) };
        // SAFETY: the range is a part of the mapping just made, and the advice doesn't change its contents.
        let _ = unsafe { madvise(base.as_ptr().cast(), huge_bytes, Advice::LinuxHugepage) };
        Ok((mapping, base))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is what `new` mapped. It belongs to a region whose last `Arc` is gone, so no handle to its bytes is left, and worlds
        // keep the handles of requests that the kernel may still be writing to.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "unmapping an arena: {unmapped:?}");
    }
}

impl Region {
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
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

    pub(super) fn bytes(&self) -> usize {
        self.bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arenas_are_whole_huge_pages() {
        for bytes in [HUGE_PAGES_FROM_BYTES, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES + GRAIN_BYTES] {
            let arena = Arena::new(bytes).unwrap();
            assert_eq!(arena.region.base.addr().get() % HUGE_PAGE_BYTES, 0);
            assert_eq!(arena.bytes(), bytes.next_multiple_of(HUGE_PAGE_BYTES));
            let mut whole = arena.allocate(arena.bytes()).unwrap();
            whole.fill(1);
        }
    }

    #[test]
    fn an_arena_that_is_too_large_is_an_error() {
        for bytes in [usize::MAX, usize::MAX - HUGE_PAGE_BYTES, 1 << 60] {
            assert!(matches!(Arena::new(bytes), Err(ArenaError::Map { .. })), "{bytes}");
        }
    }

    #[test]
    fn what_no_handle_refers_to_is_free() {
        let arena = Arena::new(HUGE_PAGE_BYTES).unwrap();
        let [first, second] = [1, GRAIN_BYTES + 1].map(|bytes| arena.allocate(bytes).unwrap());
        assert_eq!(arena.free_bytes(), HUGE_PAGE_BYTES - 3 * GRAIN_BYTES);
        drop(first);
        assert_eq!(arena.free_bytes(), HUGE_PAGE_BYTES - 2 * GRAIN_BYTES);
        drop(second);
        assert!(arena.is_unused() && arena.free_bytes() == HUGE_PAGE_BYTES);
    }
}
