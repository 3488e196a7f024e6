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

/// Open file or raw block device, and its shape. Several worlds may share it.
#[derive(Debug)]
pub struct DeviceFile {
    file: File,
    shape: Shape,
    directness: Directness,
    calls: DurableCalls,
    locks: Locks,
}

/// System call for a flush, and thus the scope of a durable write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncCall {
    /// `fdatasync` and `RWF_DSYNC`: the data, and the metadata needed to read it.
    #[default]
    Fdatasync,
    /// `fsync` and `RWF_SYNC`: the file's times as well.
    Fsync,
}

/// Options for using a file as a device.
#[derive(Debug, Clone, Copy)]
pub struct FileOptions {
    /// Bypass the page cache if the file can; otherwise the shape states the reason.
    pub direct: bool,
    /// Durable writes of the device, if known.
    pub durable_writes: DurableWrites,
    /// Punch holes into a regular file on discards. The file then loses its preallocation, and a
    /// later write may fail on a full disk, so this is off by default. Block devices always accept
    /// discards.
    pub punch_holes: bool,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { direct: true, durable_writes: DurableWrites::Unknown, punch_holes: false }
    }
}

/// Reasons why a file can't be used as a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused a call.
    #[error("{action}: {}", std::io::Error::from(*errno))]
    System {
        /// Attempted action.
        action: &'static str,
        /// The system's error.
        errno: rustix::io::Errno,
    },
    /// The file is a directory, a pipe, a socket, a terminal …
    #[error("it is a {kind}; a device is a regular file or a block device")]
    Kind {
        /// Kind of file.
        kind: &'static str,
    },
}

impl DeviceFile {
    /// Makes a device of an open file with its current size as the capacity. Decides on direct I/O
    /// by the file system's type and by `statx`, and sets the file's flag accordingly.
    ///
    /// # Errors
    /// Fails if it is neither a regular file nor a block device, or the system doesn't report its
    /// properties.
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

    /// Sets the system call for flushes.
    #[must_use]
    pub fn with_sync(self, sync: SyncCall) -> Self {
        Self { calls: DurableCalls { sync, ..self.calls }, ..self }
    }

    /// Extends the capacity to `capacity_bytes`, rounded down to whole logical blocks: a write
    /// beyond the file's end extends it.
    #[must_use]
    pub fn growing_to(mut self, capacity_bytes: u64) -> Self {
        let block_bytes = self.shape.logical_block_bytes;
        self.shape.capacity_bytes = capacity_bytes - capacity_bytes % block_bytes;
        self
    }

    /// Limits the capacity to `capacity_bytes`, rounded down to whole logical blocks, so that a
    /// test leaves the rest of the file untouched.
    #[must_use]
    pub fn with_capacity(mut self, capacity_bytes: u64) -> Self {
        let shape = &mut self.shape;
        let whole_blocks_bytes = capacity_bytes - capacity_bytes % shape.logical_block_bytes;
        shape.capacity_bytes = shape.capacity_bytes.min(whole_blocks_bytes);
        self
    }

    /// Capacity and capabilities.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Fills the buffer from `offset_bytes` on, blocking the calling thread. For threads without a
    /// world, in parallel with those that use the file. Returns the buffer; after an error its
    /// contents are arbitrary.
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

    /// System call for flushes.
    pub fn sync(&self) -> SyncCall {
        self.calls.sync
    }

    /// System calls that make its contents durable.
    pub(crate) fn durable_calls(&self) -> DurableCalls {
        self.calls
    }

    /// Other holders or copies of the data despite direct I/O, as a sentence without its full stop.
    /// `None` if the file system is not known to have any.
    pub fn beside_the_device(&self) -> Option<&'static str> {
        if self.shape.access == Access::Direct {
            direct::beside_the_device(self.file.as_fd(), self.directness)
        } else {
            None
        }
    }

    /// Returns true if requests complete during submission, so that only worker threads can keep
    /// several in flight.
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
