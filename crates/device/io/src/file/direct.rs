//! Support of direct I/O, decided by a file's file system and by `statx`. Trying isn't enough,
//! because some file systems accept the flag and still go through memory.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, statx};

use super::file_system::Directness;
use crate::{Access, DurableWrites, Shape};

/// Limit of a request's length: that of a registered buffer, well below the system's
/// `MAX_RW_COUNT`.
const LARGEST_TRANSFER_BYTES: u64 = 1 << 30;
/// Alignment if an old kernel doesn't report a file's; sufficient for every device seen so far.
const SAFE_ALIGNMENT_BYTES: u64 = 4096;

/// Support of direct I/O by a file, with its alignments.
pub(super) enum Direct {
    Yes { memory_alignment_bytes: u64, logical_block_bytes: u64 },
    No { reason: String },
}

impl Direct {
    pub(super) fn decide(file: BorrowedFd<'_>, kind: FileType, directness: Directness, wanted: bool) -> Self {
        if !wanted {
            return Self::No { reason: "buffered I/O was asked for".into() };
        }
        match (directness, stated(file)) {
            (Directness::None { why }, _) | (Directness::WhereStated { why }, None) => {
                Self::No { reason: why.into() }
            }
            (_, Some((0, _) | (_, 0))) => {
                Self::No { reason: "the file system says that this file takes no direct I/O".into() }
            }
            (_, Some((memory_alignment_bytes, logical_block_bytes))) => {
                Self::Yes { memory_alignment_bytes, logical_block_bytes }
            }
            (_, None) => Self::on_older_kernels(file, kind),
        }
    }

    /// Fallback before Linux 6.1, and on file systems that don't report: a block device's logical
    /// block is known, a file's alignment isn't. Sets the flag to find out if the file system
    /// accepts it.
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

    pub(super) fn shape(self, size_bytes: u64, writable: bool, durable_writes: DurableWrites) -> Shape {
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
            discards: false,
        }
    }
}

/// Other holders or copies of the data, as a sentence.
pub(super) fn beside_the_device(file: BorrowedFd<'_>, directness: Directness) -> Option<&'static str> {
    match directness {
        Directness::Partial { why } | Directness::Synchronous { why } => Some(why),
        Directness::Unknown { why } if stated(file).is_none() => Some(why),
        _ => None,
    }
}

/// Alignments of memory and of offsets as reported by the system, 0 for a file without direct I/O.
fn stated(file: BorrowedFd<'_>) -> Option<(u64, u64)> {
    let stat = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let is_stated = stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    is_stated.then(|| (stat.stx_dio_mem_align.into(), stat.stx_dio_offset_align.into()))
}
