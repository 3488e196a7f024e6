//! Arenas pinned by the kernel, so that requests on them need no address translation.
#![allow(unsafe_code, reason = "hands memory to the kernel; each block names its invariant")]

use std::sync::Arc;

use io_uring::Submitter;
use rustix::io::Errno;

use super::setup::ARENAS_MAX;
use crate::Operation;
use crate::buffer::{GRAIN_BYTES, Region};

/// Limit of the kernel for one registered buffer.
const REGISTERED_BYTES_MAX: usize = 1 << 30;
/// Smaller memory isn't worth a place in the table.
const REGISTERED_BYTES_MIN: usize = 64 << 10;

/// Table of registered arenas.
pub(super) struct Arenas {
    registered: Vec<Registered>,
    /// False if the kernel has no such table; the setup noted that.
    has_table: bool,
}

/// Arena whose first `bytes` are pinned; kept so that the memory stays mapped.
struct Registered {
    region: Arc<Region>,
    bytes: usize,
}

impl Arenas {
    pub(super) fn new(has_table: bool) -> Self {
        Self { registered: Vec::new(), has_table }
    }

    /// Place of the arena that holds the request's only buffer.
    pub(super) fn index_of(&self, operation: &Operation) -> Option<u16> {
        let (region, address, length) = match operation {
            Operation::Read { into, .. } => match into.as_slice() {
                [buffer] => (buffer.region(), buffer.address(), buffer.len()),
                _ => return None,
            },
            Operation::Write { from, .. } => match from.as_slice() {
                [buffer] => (buffer.region(), buffer.address(), buffer.len()),
                _ => return None,
            },
            Operation::Flush | Operation::Discard { .. } => return None,
        };
        let index = self.registered.iter().position(|arena| Arc::ptr_eq(&arena.region, region))?;
        let end = address.as_ptr().addr() - region.base().as_ptr().addr() + length;
        (end <= self.registered.get(index)?.bytes).then_some(u16::try_from(index).ok()?)
    }

    /// Registers an arena once. Returns the number of registered bytes, and the reason if some
    /// aren't.
    pub(super) fn register(
        &mut self,
        submitter: &Submitter<'_>,
        region: &Arc<Region>,
    ) -> (usize, Option<String>) {
        if let Some(known) = self.registered.iter().find(|known| Arc::ptr_eq(&known.region, region)) {
            return (known.bytes, None);
        }
        if !self.has_table {
            return (0, None);
        }
        let (bytes, shortfall) = self.register_what_can_be(submitter, region);
        if bytes > 0 {
            self.registered.push(Registered { region: Arc::clone(region), bytes });
        }
        let of = region.bytes();
        (bytes, (bytes < of).then(|| format!("{bytes} of {of} bytes of buffers registered: {shortfall}")))
    }

    /// Registers as much of the start of a region as the system allows. Returns the bytes and the
    /// reason for stopping.
    fn register_what_can_be(&self, submitter: &Submitter<'_>, region: &Region) -> (usize, String) {
        if self.registered.len() >= ARENAS_MAX as usize {
            return (0, format!("a ring registers {ARENAS_MAX} arenas"));
        }
        let mut shortfall = format!("a ring registers {REGISTERED_BYTES_MAX} bytes of an arena");
        let mut bytes = region.bytes().min(REGISTERED_BYTES_MAX);
        let least_bytes = bytes.min(REGISTERED_BYTES_MIN);
        while bytes >= least_bytes {
            match self.register_start(submitter, region, bytes) {
                Ok(()) => return (bytes, shortfall),
                // Ordinary users may pin 8 MiB on most systems: retry with less.
                Err(Some(Errno::NOMEM)) => {
                    shortfall = "raise RLIMIT_MEMLOCK (ulimit -l) for all".into();
                    bytes = bytes / 2 / GRAIN_BYTES * GRAIN_BYTES;
                }
                Err(errno) => return (0, std::io::Error::from(errno.unwrap_or(Errno::IO)).to_string()),
            }
        }
        (0, shortfall)
    }

    fn register_start(
        &self,
        submitter: &Submitter<'_>,
        region: &Region,
        bytes: usize,
    ) -> Result<(), Option<Errno>> {
        let index = u32::try_from(self.registered.len()).unwrap_or(ARENAS_MAX);
        // SAFETY: the range is mapped, and stays so: the region is kept here as long as the ring.
        unsafe { register_buffer(submitter, index, region.base().as_ptr(), bytes) }
            .map_err(|error| Errno::from_io_error(&error))
    }
}

/// # Safety
/// The `bytes` from `base` on must stay mapped until the ring is gone.
unsafe fn register_buffer(
    submitter: &Submitter<'_>,
    index: u32,
    base: *mut u8,
    bytes: usize,
) -> std::io::Result<()> {
    let vector = libc::iovec { iov_base: base.cast(), iov_len: bytes };
    // SAFETY: the caller keeps the memory mapped; the list itself is read during the call alone.
    unsafe { submitter.register_buffers_update(index, &[vector], None) }
}
