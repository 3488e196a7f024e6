//! Direct I/O by type of file system (`linux/magic.h`, and the documentation of each). Types that
//! aren't listed pass direct I/O to their device.

use std::os::fd::BorrowedFd;

use rustix::fs::{FileType, fstatfs};
use rustix::io::Errno;

/// Handling of requests with direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directness {
    /// Requests reach the device.
    Full,
    /// Requests bypass the page cache of this system, but other places may hold or copy the data.
    Partial { why: &'static str },
    /// Like `Partial`, and the file system completes a request during its submission. Without
    /// workers, the submitting thread would wait for each, and only one would be in flight.
    Synchronous { why: &'static str },
    /// Unknown, unless `statx` reports an alignment.
    Unknown { why: &'static str },
    /// Requests reach the device only if `statx` reports an alignment; otherwise the flag is
    /// ignored.
    WhereStated { why: &'static str },
    /// Requests go through memory anyway.
    None { why: &'static str },
}

const SERVED: &str = "another machine serves this file system, and may keep files in its memory";

const NFS: u64 = 0x6969;
const SMB: u64 = 0x517b;
const CIFS: u64 = 0xff53_4d42;
const SMB2: u64 = 0xfe53_4d42;
const CEPH: u64 = 0x00c3_6400;
const PLAN_9: u64 = 0x0102_1997;

/// Number of an open file's file system type.
pub(super) fn magic(file: BorrowedFd<'_>) -> Result<u64, Errno> {
    // The field's type differs between architectures; its sign has no meaning.
    #[allow(clippy::cast_sign_loss, clippy::allow_attributes, reason = "a magic number, not a quantity")]
    Ok(fstatfs(file)?.f_type as u64)
}

impl Directness {
    /// Handling for an open file.
    pub(super) fn of(file: BorrowedFd<'_>, kind: FileType) -> Result<Self, Errno> {
        // A block device's node is in a file system in memory, which says nothing about the device.
        if kind == FileType::BlockDevice {
            return Ok(Self::Full);
        }
        Ok(Self::of_type(magic(file)?))
    }

    fn of_type(magic: u64) -> Self {
        match magic {
            0x0102_1994 => Self::None { why: "tmpfs holds its files in memory" },
            0x8584_58f6 => Self::None { why: "ramfs holds its files in memory" },
            0x9584_58f6 => Self::None { why: "hugetlbfs holds its files in memory" },
            // OpenZFS 2.3 introduced direct I/O. Datasets can switch it off, and later releases
            // report it.
            0x2fc1_2fc1 => Self::WhereStated {
                why: "ZFS states no direct I/O for this file, and then goes through its own cache (ARC)",
            },
            // Documentation of btrfs, "Checksumming".
            0x9123_683e => Self::Partial {
                why: "btrfs copies writes through memory where it keeps checksums (since Linux 6.14; `chattr +C` on the \
                      empty directory ends both), and reads what it has compressed through memory",
            },
            // Overlays report the values of their layer.
            0x794c_7630 => Self::Unknown {
                why: "the file lies in an overlay, and what the file system below makes of direct I/O isn't known",
            },
            0x6573_5546 => Self::Synchronous {
                why: "a program or another machine serves this file system (FUSE), and may keep files in its memory",
            },
            PLAN_9 => Self::Synchronous { why: SERVED },
            NFS | SMB | CIFS | SMB2 | CEPH => Self::Partial { why: SERVED },
            _ => Self::Full,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn ordinary_file_systems_reach_their_device() {
        for (name, magic) in [("ext4", 0xef53), ("xfs", 0x5846_5342), ("f2fs", 0xf2f5_2010)] {
            assert_eq!(Directness::of_type(magic), Directness::Full, "{name}");
        }
    }

    #[test]
    fn the_running_systems_memory_is_known() {
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let directness = Directness::of(file.as_fd(), FileType::RegularFile).unwrap();
        assert_eq!(directness, Directness::None { why: "tmpfs holds its files in memory" });
    }
}
