mod direct;
mod durable;
mod file_system;
mod lock;

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};

use self::direct::Direct;
pub(crate) use self::durable::DurableCalls;
use self::file_system::Directness;
pub use self::lock::FileLock;
use self::lock::Locks;
use crate::{Access, BufferMut, DurableWrites, IoError, Operation, Shape};

/// An open file or raw block device, and its shape. Several worlds may use the same one.
#[derive(Debug)]
pub struct DeviceFile {
    file: File,
    shape: Shape,
    directness: Directness,
    calls: DurableCalls,
    locks: Locks,
}

/// Which system call a flush of a file is, and with it what a durable write makes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncCall {
    /// `fdatasync` and `RWF_DSYNC`: the data, and what it takes to read it back.
    #[default]
    Fdatasync,
    /// `fsync` and `RWF_SYNC`: the file's times as well.
    Fsync,
}

/// How a file is to be used.
#[derive(Debug, Clone, Copy)]
pub struct FileOptions {
    /// Bypass the page cache where the file can; otherwise the shape says why not.
    pub direct: bool,
    /// What is known of the device's durable writes.
    pub durable_writes: DurableWrites,
    /// Whether a discard gives blocks of a regular file back to its file system. A file that was preallocated isn't any
    /// more then, and a full disk can fail a later write, so it is not done unless it is asked for. Block devices take
    /// discards either way.
    pub punch_holes: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { direct: true, durable_writes: DurableWrites::Unknown, punch_holes: false }
    }
}

/// A file could not be made a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("{action}: {}", std::io::Error::from(*errno))]
    System {
        /// What was tried.
        action: &'static str,
        /// What the system said.
        errno: rustix::io::Errno,
    },
    /// It is a directory, a pipe, a socket, a terminal …
    #[error("it is a {kind}; a device is a regular file or a block device")]
    Kind {
        /// What it is.
        kind: &'static str,
    },
}

impl DeviceFile {
    /// Makes a device of an open file, whose present size becomes the capacity. Decides about direct I/O by the
    /// file system's type and by what `statx` says, and sets the file's flag accordingly.
    ///
    /// # Errors
    /// It is neither a regular file nor a block device, or the system refuses to tell about it.
    pub fn new(file: File, options: FileOptions) -> Result<Self, FileError> {
        let system = |action| move |errno| FileError::System { action, errno };
        let flags = fcntl_getfl(&file).map_err(system("reading the file's flags"))?;
        let kind = FileType::from_raw_mode(fstat(&file).map_err(system("reading the file's type"))?.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::BlockDevice) {
            return Err(FileError::Kind { kind: kind_name(kind) });
        }
        let directness =
            Directness::of(file.as_fd(), kind).map_err(system("reading the file system's type"))?;
        let direct = Direct::decide(file.as_fd(), kind, directness, options.direct);
        let wanted_flags = match direct {
            Direct::Yes { .. } => flags | OFlags::DIRECT,
            Direct::No { .. } => flags - OFlags::DIRECT,
        };
        fcntl_setfl(&file, wanted_flags).map_err(system("setting the file's direct I/O flag"))?;
        let end = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
            .map_err(system("reading the file's size"))?;
        let writable = flags & OFlags::RWMODE == OFlags::RDWR;
        let calls = DurableCalls::of(file.as_fd(), kind).map_err(system("reading the file system's type"))?;
        let durable_writes =
            if calls.flag_is_honoured { options.durable_writes } else { DurableWrites::WriteThenFlush };
        let discards = writable && (kind == FileType::BlockDevice || options.punch_holes);
        let shape = Shape { discards, ..direct.shape(end, writable, durable_writes) };
        Ok(Self { file, shape, directness, calls, locks: Locks::default() })
    }

    /// The same, flushed by another system call.
    #[must_use]
    pub fn with_sync(self, sync: SyncCall) -> Self {
        Self { calls: DurableCalls { sync, ..self.calls }, ..self }
    }

    /// The same, of which requests may reach up to `capacity_bytes`, rounded down to whole logical blocks: a write
    /// beyond the file's end makes it longer.
    #[must_use]
    pub fn growing_to(mut self, capacity_bytes: u64) -> Self {
        let block_bytes = self.shape.logical_block_bytes;
        self.shape.capacity_bytes = capacity_bytes - capacity_bytes % block_bytes;
        self
    }

    /// The same, of which requests reach only the first `capacity_bytes`, rounded down to whole logical blocks: what
    /// lies behind them isn't a test's to touch.
    #[must_use]
    pub fn with_capacity(mut self, capacity_bytes: u64) -> Self {
        let shape = &mut self.shape;
        let whole_blocks_bytes = capacity_bytes - capacity_bytes % shape.logical_block_bytes;
        shape.capacity_bytes = shape.capacity_bytes.min(whole_blocks_bytes);
        self
    }

    /// What it can do.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Reads from `offset_bytes` on as many bytes as the buffer has, in the calling thread, which waits: for threads that
    /// have no world, beside those that use the file. The buffer comes back, after an error with anything in it.
    pub fn read_at(&self, offset_bytes: u64, into: BufferMut) -> (BufferMut, Result<(), IoError>) {
        let mut operation = Operation::read(offset_bytes, into);
        let result = match (self.shape.check(&operation), &mut operation) {
            (Ok(()), Operation::Read { into, .. }) => crate::threads::read(self, offset_bytes, into),
            (checked, _) => checked,
        };
        let result = result.map_err(|cause| IoError::new(&operation, cause));
        let Some(buffer) = operation.into_read_buffer() else { unreachable!("a read of one buffer has it") };
        (buffer, result)
    }

    /// Which system call flushes it.
    pub fn sync(&self) -> SyncCall {
        self.calls.sync
    }

    /// Which system calls make what it holds durable.
    pub(crate) fn durable_calls(&self) -> DurableCalls {
        self.calls
    }

    /// What else may hold or copy what is read and written, though direct I/O bypasses the page cache; `None` where
    /// nothing is known of the kind. A sentence, without its full stop.
    pub fn beside_the_device(&self) -> Option<&'static str> {
        if self.shape.access == Access::Direct {
            direct::beside_the_device(self.file.as_fd(), self.directness)
        } else {
            None
        }
    }

    /// Whether requests are done while they are submitted, so that only worker threads can keep several outstanding.
    pub(crate) fn blocks_submission(&self) -> bool {
        matches!(self.directness, Directness::Synchronous { .. })
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl AsFd for DeviceFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::Symlink => "symbolic link",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character device",
        _ => "special file",
    }
}
