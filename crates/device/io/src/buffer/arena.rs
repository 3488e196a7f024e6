//! Mapping of the memory for requests.
#![allow(unsafe_code, reason = "maps memory; each block names its invariant")]

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use super::extents::FreeExtents;
use super::handle::BufferMut;

/// Alignment and length unit of every buffer. Satisfies direct I/O on every device seen so far.
pub const GRAIN_BYTES: usize = 4096;

/// Size of huge pages on x86 and of most ARM kernels.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Least arena that is mapped as whole huge pages: in a smaller one most of the page would be
/// unused.
const HUGE_PAGES_FROM_BYTES: usize = 1 << 20;

/// Memory for requests; see the [module](crate::buffer). A clone is another handle to the same
/// memory.
#[derive(Debug, Clone)]
pub struct Arena {
    region: Arc<Region>,
}

/// Mapped memory. Every buffer cut from it holds the `Arc`, so it outlives them.
#[derive(Debug)]
pub(crate) struct Region {
    /// Unmapped when the region is dropped.
    _mapping: Mapping,
    base: NonNull<u8>,
    bytes: usize,
    free: Mutex<FreeExtents>,
}

/// Address range owned by the region. `base` and its `bytes` are inside.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the region is plain memory. Its mapping, `base` and `bytes` never change, and `free` is
// behind a mutex. The bytes are accessed only through handles, of which `BufferMut` is unique and
// `Buffer` read-only.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

/// Failures to get memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// The system refused to map memory.
    #[error("mapping an arena of {bytes} bytes: {}", std::io::Error::from(*errno))]
    Map {
        /// Bytes requested.
        bytes: usize,
        /// The system's error.
        errno: rustix::io::Errno,
    },
    /// No free extent is long enough.
    #[error(
        "a buffer of {bytes} bytes: the longest free part of the arena ({arena_bytes} bytes) has {longest_bytes} bytes"
    )]
    Full {
        /// Bytes requested.
        bytes: usize,
        /// Size of the arena.
        arena_bytes: usize,
        /// Longest free extent of the arena.
        longest_bytes: usize,
    },
}

impl Arena {
    /// Maps an arena of at least `bytes`, rounded up to whole grains, or from 1 MiB on to whole
    /// huge pages (2 MiB). The memory is zero and uses no physical pages until it is accessed; then
    /// it uses huge ones if available.
    ///
    /// # Errors
    /// Fails if the system has no address space left, or forbids the mapping.
    pub fn new(bytes: usize) -> Result<Self, ArenaError> {
        let bytes = whole_grains(bytes).ok_or(ArenaError::Map { bytes, errno: rustix::io::Errno::NOMEM })?;
        let is_huge = bytes >= HUGE_PAGES_FROM_BYTES;
        let mapped = if is_huge { Mapping::huge(bytes) } else { Mapping::new(bytes) };
        let (mapping, base) = mapped.map_err(|errno| ArenaError::Map { bytes, errno })?;
        let bytes = if is_huge { bytes.next_multiple_of(HUGE_PAGE_BYTES) } else { bytes };
        let free = Mutex::new(FreeExtents::whole(bytes));
        Ok(Self { region: Arc::new(Region { _mapping: mapping, base, bytes, free }) })
    }

    /// Allocates a buffer of `bytes`. Its contents are arbitrary.
    ///
    /// # Errors
    /// Fails if no free extent is long enough.
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

    /// Bytes without a handle.
    pub fn free_bytes(&self) -> usize {
        self.region.free.lock().unwrap_or_else(PoisonError::into_inner).all()
    }

    /// Returns true if both are handles to the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.region, &other.region)
    }

    /// Returns true if no handle to any of its bytes is left.
    pub fn is_unused(&self) -> bool {
        let free = self.region.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.longest() == self.region.bytes
    }

    pub(crate) fn region(&self) -> &Arc<Region> {
        &self.region
    }
}

/// Rounds `bytes`, at least one, up to whole grains; `None` on overflow.
fn whole_grains(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(GRAIN_BYTES)
}

impl Mapping {
    /// Maps `bytes`, and returns their address.
    fn new(bytes: usize) -> rustix::io::Result<(Self, NonNull<u8>)> {
        // SAFETY: the kernel chooses the address, so the new mapping overlaps none of ours.
        let mapped = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = NonNull::new(mapped?.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok((Self { start, bytes }, start))
    }

    /// Maps `bytes` as whole huge pages, and returns the address of the first.
    ///
    /// The bytes of a buffer are then contiguous in physical memory: a request has one segment
    /// instead of one for each 4 KiB, and registered buffers are cheaper to walk. On a virtual
    /// disk, reads of 32 KiB are three times as fast, and reads of 128 KiB four times. Without huge
    /// pages in the kernel, only address space is lost.
    fn huge(bytes: usize) -> rustix::io::Result<(Self, NonNull<u8>)> {
        let huge_bytes = bytes.checked_next_multiple_of(HUGE_PAGE_BYTES).ok_or(rustix::io::Errno::NOMEM)?;
        let mapped_bytes = huge_bytes.checked_add(HUGE_PAGE_BYTES).ok_or(rustix::io::Errno::NOMEM)?;
        let (mapping, start) = Self::new(mapped_bytes)?;
        let before_bytes = start.addr().get().wrapping_neg() % HUGE_PAGE_BYTES;
        // SAFETY: the first huge page starts less than a huge page into the mapping, which has one
        // to spare.
        let base = unsafe { start.add(before_bytes) };
        // SAFETY: the range is part of the new mapping, and the advice doesn't change its contents.
        let _ = unsafe { madvise(base.as_ptr().cast(), huge_bytes, Advice::LinuxHugepage) };
        Ok((mapping, base))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped the range. The region's last `Arc` is gone, so no handle to its
        // bytes is left; worlds keep the handles of requests that the kernel may still write to.
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

/// Allocated part of a region, shared by its handles. Dropping the last handle frees it.
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

    /// Address of byte `at` of this extent, at most one past its end.
    pub(super) fn address(&self, at: usize) -> NonNull<u8> {
        assert!(at <= self.bytes, "byte {at} of an extent of {} bytes", self.bytes);
        // SAFETY: `start + bytes` is in the region, and `at` in the extent, so the result is in the
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
