use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, FileType, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, fstat, fstatfs, statx};

use crate::{Access, Durability, DurableWrites, Shape};

/// One request may move this much: a registered buffer's limit, and well below the system's `MAX_RW_COUNT`.
const LARGEST_TRANSFER_BYTES: u64 = 1 << 30;
/// Assumed where an old kernel doesn't tell a file's alignment; every device met so far is content with it.
const SAFE_ALIGNMENT_BYTES: u64 = 4096;
const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;

/// An open file or raw block device, and its shape. Several worlds may use the same one.
#[derive(Debug)]
pub struct DeviceFile {
    file: File,
    shape: Shape,
    sync: SyncCall,
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

impl SyncCall {
    /// The flags of `pwritev2(2)` for a write.
    pub(crate) fn write_flags(self, durability: Durability) -> i32 {
        match (durability, self) {
            (Durability::Volatile, _) => 0,
            (Durability::Durable, Self::Fdatasync) => libc::RWF_DSYNC,
            (Durability::Durable, Self::Fsync) => libc::RWF_SYNC,
        }
    }
}

/// How a file is to be used.
#[derive(Debug, Clone, Copy)]
pub struct FileOptions {
    /// Bypass the page cache where the file can; otherwise the shape says why not.
    pub direct: bool,
    /// What is known of the device's durable writes.
    pub durable_writes: DurableWrites,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { direct: true, durable_writes: DurableWrites::Unknown }
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
        let direct = Direct::decide(file.as_fd(), kind, options.direct)?;
        let wanted_flags = match direct {
            Direct::Yes { .. } => flags | OFlags::DIRECT,
            Direct::No { .. } => flags - OFlags::DIRECT,
        };
        fcntl_setfl(&file, wanted_flags).map_err(system("setting the file's direct I/O flag"))?;
        let end = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
            .map_err(system("reading the file's size"))?;
        let writable = flags & OFlags::RWMODE == OFlags::RDWR;
        let shape = direct.shape(end, writable, options.durable_writes);
        Ok(Self { file, shape, sync: SyncCall::default() })
    }

    /// The same, flushed by another system call.
    #[must_use]
    pub fn with_sync(self, sync: SyncCall) -> Self {
        Self { sync, ..self }
    }

    /// The same, of which requests may reach up to `capacity_bytes`, rounded down to whole logical blocks: a write
    /// beyond the file's end makes it longer.
    #[must_use]
    pub fn growing_to(mut self, capacity_bytes: u64) -> Self {
        let block_bytes = self.shape.logical_block_bytes;
        self.shape.capacity_bytes = capacity_bytes - capacity_bytes % block_bytes;
        self
    }

    /// What it can do.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Which system call flushes it.
    pub fn sync(&self) -> SyncCall {
        self.sync
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

/// Whether a file takes direct I/O, and with which alignments.
enum Direct {
    Yes { memory_alignment_bytes: u64, logical_block_bytes: u64 },
    No { reason: String },
}

impl Direct {
    fn decide(file: BorrowedFd<'_>, kind: FileType, wanted: bool) -> Result<Self, FileError> {
        if !wanted {
            return Ok(Self::No { reason: "buffered I/O was asked for".into() });
        }
        // A block device's node lies in a file system in memory as well, which says nothing of the device.
        if kind == FileType::RegularFile
            && let Some(name) = memory_file_system(file)?
        {
            // These accept the flag and go through memory all the same.
            return Ok(Self::No { reason: format!("{name} holds its files in memory") });
        }
        let stat = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN);
        if let Ok(stat) = stat
            && stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0
        {
            return Ok(match (stat.stx_dio_mem_align, stat.stx_dio_offset_align) {
                (0, _) | (_, 0) => {
                    Self::No { reason: "the file system says that this file takes no direct I/O".into() }
                }
                (memory, offset) => {
                    Self::Yes { memory_alignment_bytes: memory.into(), logical_block_bytes: offset.into() }
                }
            });
        }
        Ok(Self::on_older_kernels(file, kind))
    }

    /// Before Linux 6.1, and on file systems that don't tell: a block device's logical block is known, a file's
    /// alignment isn't. Whether the file system takes the flag at all is asked by setting it.
    fn on_older_kernels(file: BorrowedFd<'_>, kind: FileType) -> Self {
        if kind == FileType::BlockDevice
            && let Ok(logical) = rustix::fs::ioctl_blksszget(file)
        {
            return Self::Yes { memory_alignment_bytes: logical.into(), logical_block_bytes: logical.into() };
        }
        match fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags | OFlags::DIRECT)) {
            Ok(()) => Self::Yes {
                memory_alignment_bytes: SAFE_ALIGNMENT_BYTES,
                logical_block_bytes: SAFE_ALIGNMENT_BYTES,
            },
            Err(errno) => Self::No {
                reason: format!("the file system refuses direct I/O: {}", std::io::Error::from(errno)),
            },
        }
    }

    fn shape(self, size_bytes: u64, writable: bool, durable_writes: DurableWrites) -> Shape {
        let (access, logical_block_bytes, memory_alignment_bytes) = match self {
            Self::Yes { memory_alignment_bytes, logical_block_bytes } => {
                (Access::Direct, logical_block_bytes, memory_alignment_bytes)
            }
            Self::No { reason } => (Access::Buffered { reason }, 1, 1),
        };
        Shape {
            capacity_bytes: size_bytes - size_bytes % logical_block_bytes,
            logical_block_bytes,
            memory_alignment_bytes,
            largest_transfer_bytes: LARGEST_TRANSFER_BYTES,
            access,
            durable_writes,
            writable,
            discards: writable,
        }
    }
}

fn memory_file_system(file: BorrowedFd<'_>) -> Result<Option<&'static str>, FileError> {
    let stat = fstatfs(file)
        .map_err(|errno| FileError::System { action: "reading the file system's type", errno })?;
    // The field's type differs between architectures, and its sign is of no meaning.
    #[allow(clippy::cast_sign_loss, clippy::allow_attributes, reason = "a magic number, not a quantity")]
    let magic = stat.f_type as u64;
    Ok(match magic {
        TMPFS_MAGIC => Some("tmpfs"),
        RAMFS_MAGIC => Some("ramfs"),
        _ => None,
    })
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
