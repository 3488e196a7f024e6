//! Converts a request in flight into a ring entry.

use io_uring::{opcode, squeue, types};
use rustix::fs::FallocateFlags;

use crate::file::DurableCalls;
use crate::slots::InFlight;
use crate::tries::Tries;
use crate::vectors::Vectors;
use crate::{Operation, SyncCall};

/// State of a request in flight.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) file: FileHandle,
    /// Place of the buffer's arena in the ring's table, if it is registered.
    pub(super) arena_index: Option<u16>,
    /// Bytes moved so far. The system may move fewer than asked; the rest is requested again.
    pub(super) moved_bytes: u64,
    /// Fruitless tries since then.
    pub(super) tries: Tries,
    /// True while a sync makes the moved bytes durable: the second half of a durable write in two
    /// calls.
    pub(super) is_syncing: bool,
    /// Number of its latest ring entry.
    pub(super) push: u64,
    /// List of buffers that the kernel reads while the request is in flight.
    pub(super) vectors: Vectors,
}

/// File by its place in the ring's table, or by its descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileHandle {
    pub(super) number: i32,
    /// `FIXED_FILE` if the number is a place in the table; `ASYNC` if kernel workers must execute
    /// the requests.
    pub(super) flags: squeue::Flags,
    pub(super) calls: DurableCalls,
}

impl FileHandle {
    pub(super) fn unregistered(number: i32) -> Self {
        Self { number, flags: squeue::Flags::empty(), calls: DurableCalls::default() }
    }
}

impl Progress {
    /// Returns true if the request continues with a sync now that all bytes have moved.
    pub(super) fn begins_to_sync(&mut self, operation: &Operation) -> bool {
        let needs_sync = matches!(operation, Operation::Write { durability, .. }
            if self.file.calls.syncs_after(*durability));
        needs_sync && !std::mem::replace(&mut self.is_syncing, true)
    }

    pub(super) fn new(file: FileHandle, arena_index: Option<u16>) -> Self {
        Self {
            file,
            arena_index,
            moved_bytes: 0,
            tries: Tries::default(),
            is_syncing: false,
            push: 0,
            vectors: Vectors::default(),
        }
    }
}

/// Builds the entry for the rest of a request. The slot must not change until the entry completes.
pub(super) fn build(in_flight: &mut InFlight<Progress>) -> squeue::Entry {
    let progress = &mut in_flight.extra;
    if progress.is_syncing {
        return sync_entry(progress).flags(progress.file.flags);
    }
    let entry = match &mut in_flight.operation {
        Operation::Read { offset_bytes, into } => {
            progress.vectors = Vectors::of_read(into, progress.moved_bytes);
            read_entry(progress, *offset_bytes + progress.moved_bytes)
        }
        Operation::Write { offset_bytes, from, durability } => {
            progress.vectors = Vectors::of_write(from, progress.moved_bytes);
            let flags = progress.file.calls.write_flags(*durability);
            write_entry(progress, *offset_bytes + progress.moved_bytes, flags)
        }
        Operation::Flush => sync_entry(progress),
        Operation::Discard { offset_bytes, length_bytes } => {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            opcode::Fallocate::new(file(progress), *length_bytes)
                .offset(*offset_bytes)
                .mode(hole.bits().cast_signed())
                .build()
        }
    };
    entry.flags(progress.file.flags)
}

fn file(progress: &Progress) -> types::Fd {
    types::Fd(progress.file.number)
}

fn sync_entry(progress: &Progress) -> squeue::Entry {
    let flags = match progress.file.calls.sync {
        SyncCall::Fdatasync => types::FsyncFlags::DATASYNC,
        SyncCall::Fsync => types::FsyncFlags::empty(),
    };
    opcode::Fsync::new(file(progress)).flags(flags).build()
}

fn read_entry(progress: &Progress, offset_bytes: u64) -> squeue::Entry {
    let file = file(progress);
    match (progress.vectors.single(), progress.arena_index) {
        (Some((address, length)), Some(index)) => {
            opcode::ReadFixed::new(file, address, length, index).offset(offset_bytes).build()
        }
        (Some((address, length)), None) => {
            opcode::Read::new(file, address, length).offset(offset_bytes).build()
        }
        (None, _) => {
            let list = progress.vectors.list();
            opcode::Readv::new(file, list.as_ptr(), count(list)).offset(offset_bytes).build()
        }
    }
}

fn write_entry(progress: &Progress, offset_bytes: u64, flags: i32) -> squeue::Entry {
    let file = file(progress);
    match (progress.vectors.single(), progress.arena_index) {
        (Some((address, length)), Some(index)) => {
            opcode::WriteFixed::new(file, address, length, index).offset(offset_bytes).rw_flags(flags).build()
        }
        (Some((address, length)), None) => {
            opcode::Write::new(file, address, length).offset(offset_bytes).rw_flags(flags).build()
        }
        (None, _) => {
            let list = progress.vectors.list();
            opcode::Writev::new(file, list.as_ptr(), count(list)).offset(offset_bytes).rw_flags(flags).build()
        }
    }
}

fn count(list: &[libc::iovec]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
