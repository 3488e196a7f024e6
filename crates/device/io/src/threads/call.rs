//! A request as blocking system calls.
#![allow(unsafe_code, reason = "calls the system with buffers' addresses; each block names its invariant")]

use std::os::fd::AsRawFd;
use std::sync::Arc;

use libc::{c_int, off_t};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use crate::file::DeviceFile;
use crate::tries::Tries;
use crate::vectors::Vectors;
use crate::{BufferMut, Cause, Durability, Operation, SyncCall};

/// Call that a worker runs. The request's slot in the world keeps the buffers.
pub(super) struct Call {
    file: Arc<DeviceFile>,
    kind: Kind,
}

enum Kind {
    Read { offset_bytes: u64, vectors: Vectors },
    Write { offset_bytes: u64, vectors: Vectors, durability: Durability },
    Flush,
    Discard { offset_bytes: u64, length_bytes: u64 },
}

// SAFETY: the addresses in `vectors` are of buffers in the request's slot, which nothing accesses
// until the worker has reported the call's result.
unsafe impl Send for Call {}

impl Call {
    pub(super) fn new(file: Arc<DeviceFile>, operation: &Operation) -> Self {
        let kind = match operation {
            Operation::Read { offset_bytes, into } => {
                Kind::Read { offset_bytes: *offset_bytes, vectors: Vectors::of_read(into, 0) }
            }
            Operation::Write { offset_bytes, from, durability } => Kind::Write {
                offset_bytes: *offset_bytes,
                vectors: Vectors::of_write(from, 0),
                durability: *durability,
            },
            Operation::Flush => Kind::Flush,
            Operation::Discard { offset_bytes, length_bytes } => {
                Kind::Discard { offset_bytes: *offset_bytes, length_bytes: *length_bytes }
            }
        };
        Self { file, kind }
    }

    /// Runs the call to completion.
    pub(super) fn run(self) -> Result<(), Cause> {
        match self.kind {
            Kind::Read { offset_bytes, vectors } => transfer(&self.file, offset_bytes, vectors, None),
            Kind::Write { offset_bytes, vectors, durability } => {
                let calls = self.file.durable_calls();
                let flags = calls.write_flags(durability);
                transfer(&self.file, offset_bytes, vectors, Some(flags))?;
                if calls.syncs_after(durability) { sync(&self.file) } else { Ok(()) }
            }
            Kind::Flush => sync(&self.file),
            Kind::Discard { offset_bytes, length_bytes } => {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                Tries::until_done(|| rustix::fs::fallocate(&*self.file, hole, offset_bytes, length_bytes))
            }
        }
    }
}

fn sync(file: &DeviceFile) -> Result<(), Cause> {
    Tries::until_done(|| match file.sync() {
        SyncCall::Fdatasync => rustix::fs::fdatasync(file),
        SyncCall::Fsync => rustix::fs::fsync(file),
    })
}

/// Reads in the caller's thread, in parallel with the worlds that use the file.
pub(crate) fn read(file: &DeviceFile, offset_bytes: u64, into: &mut [BufferMut]) -> Result<(), Cause> {
    // The buffers are borrowed mutably during the call, so nothing else accesses them.
    transfer(file, offset_bytes, Vectors::of_read(into, 0), None)
}

/// Reads, or writes with flags, until all bytes are moved.
fn transfer(
    file: &DeviceFile,
    offset_bytes: u64,
    vectors: Vectors,
    write_flags: Option<c_int>,
) -> Result<(), Cause> {
    let (mut moved_bytes, mut tries) = (0, Tries::default());
    let mut left = vectors;
    while !left.list().is_empty() {
        let offset =
            off_t::try_from(offset_bytes + moved_bytes).map_err(|_| Cause::System(libc::EOVERFLOW))?;
        match move_some(file, offset, left.list(), write_flags) {
            Err(errno) => tries.again(errno)?,
            Ok(0) => return Err(Cause::Short { moved_bytes }),
            Ok(moved) => {
                tries.has_progressed();
                moved_bytes += moved as u64;
                left = left.after(moved);
            }
        }
    }
    Ok(())
}

fn move_some(
    file: &DeviceFile,
    offset: off_t,
    list: &[libc::iovec],
    write_flags: Option<c_int>,
) -> Result<usize, Errno> {
    let descriptor = file.file().as_raw_fd();
    let count = c_int::try_from(list.len()).unwrap_or(c_int::MAX);
    // SAFETY: the list's buffers stay mapped and unused by others during the call (see `Call`). For
    // a read they are writable, since they come from `BufferMut`s.
    let moved = unsafe {
        match write_flags {
            None => libc::preadv(descriptor, list.as_ptr(), count, offset),
            Some(flags) => libc::pwritev2(descriptor, list.as_ptr(), count, offset, flags),
        }
    };
    usize::try_from(moved)
        .map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}
