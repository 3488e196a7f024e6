//! System calls that make a file's contents durable, and the file systems that honour the flags of
//! a write.

use std::os::fd::BorrowedFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::file_system::magic;
use crate::{Durability, SyncCall};

/// System calls of a durable write and of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DurableCalls {
    pub(crate) sync: SyncCall,
    /// True if a write with `RWF_DSYNC` or `RWF_SYNC` is durable on completion, even if submitted
    /// asynchronously. FUSE (and so virtiofs) accepts the flag but completes asynchronous direct
    /// writes without a sync.
    pub(crate) flag_is_honoured: bool,
}

/// Note of a world in which durable writes of a file take two calls.
pub(crate) const TWO_CALLS: &str = "durable writes are a write and a sync: it is not known of this file system whether \
    asynchronous writes with RWF_DSYNC are durable when they complete";

impl DurableCalls {
    /// Calls for an open file. The flag is trusted only on file systems known to honour it.
    pub(super) fn of(file: BorrowedFd<'_>, kind: FileType) -> Result<Self, Errno> {
        let flag_is_honoured = kind == FileType::BlockDevice || syncs_flagged_writes(magic(file)?);
        Ok(Self { sync: SyncCall::default(), flag_is_honoured })
    }

    /// Flags of `pwritev2(2)` for a write.
    pub(crate) fn write_flags(self, durability: Durability) -> i32 {
        match (durability, self.sync) {
            (Durability::Volatile, _) => 0,
            (Durability::Durable, _) if !self.flag_is_honoured => 0,
            (Durability::Durable, SyncCall::Fdatasync) => libc::RWF_DSYNC,
            (Durability::Durable, SyncCall::Fsync) => libc::RWF_SYNC,
        }
    }

    /// Returns true if a write needs a sync before it completes.
    pub(crate) fn syncs_after(self, durability: Durability) -> bool {
        durability == Durability::Durable && !self.flag_is_honoured
    }

    /// Note for the world's [`Backend`](crate::Backend).
    pub(crate) fn stepped_down(self) -> Option<&'static str> {
        (!self.flag_is_honoured).then_some(TWO_CALLS)
    }
}

/// File systems whose direct writes end in the kernel's own `iomap` or direct-I/O code, which syncs
/// before it completes an asynchronous write with the flag (`iomap_dio_complete`, `dio_complete`):
/// ext2 to ext4, XFS, btrfs, F2FS; and tmpfs and ramfs, which are memory anyway.
const SYNC_FLAGGED_WRITES: [u64; 6] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x8584_58f6];

fn syncs_flagged_writes(magic: u64) -> bool {
    SYNC_FLAGGED_WRITES.contains(&magic)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn what_is_not_known_gets_a_sync_of_its_own() {
        for (name, magic) in [("FUSE", 0x6573_5546), ("NFS", 0x6969), ("overlay", 0x794c_7630)] {
            assert!(!syncs_flagged_writes(magic), "{name}");
        }
        let two = DurableCalls { flag_is_honoured: false, ..DurableCalls::default() };
        assert_eq!(two.write_flags(Durability::Durable), 0);
        assert!(two.syncs_after(Durability::Durable) && !two.syncs_after(Durability::Volatile));
    }

    #[test]
    fn one_call_does_where_the_flag_is_honoured() {
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let one = DurableCalls::of(file.as_fd(), FileType::RegularFile).unwrap();
        assert!(one.flag_is_honoured && one.stepped_down().is_none());
        assert_eq!(one.write_flags(Durability::Durable), libc::RWF_DSYNC);
        let full = DurableCalls { sync: SyncCall::Fsync, ..one };
        assert_eq!(full.write_flags(Durability::Durable), libc::RWF_SYNC);
        assert!(!full.syncs_after(Durability::Durable) && full.write_flags(Durability::Volatile) == 0);
    }
}
