//! Space for test files, checked and reserved before anything is written, so that a test doesn't
//! fill the disk halfway through.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, fstatvfs, statvfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::BLOCK_BYTES;
use crate::{OpenOptions, Problem};

/// Largest reserve that stays free for others.
const RESERVE_BYTES_MAX: u64 = 1 << 30;

/// Size of the test file, if the file system has space for it.
pub(super) fn wanted_bytes(directory: &Path, options: &OpenOptions) -> Result<u64, Problem> {
    let wanted_bytes = options.test_file_bytes - options.test_file_bytes % BLOCK_BYTES;
    check(directory, wanted_bytes)?;
    check_limit(wanted_bytes)?;
    Ok(wanted_bytes)
}

/// Checks that a directory's file system has space for test files of `wanted_bytes`.
pub(crate) fn check(directory: &Path, wanted_bytes: u64) -> Result<(), Problem> {
    let stat = statvfs(directory).map_err(Problem::system("asking the file system for its free space"))?;
    Room::new(stat.f_blocks, stat.f_bavail, stat.f_frsize).check(wanted_bytes)
}

/// Checks the user's limit on file sizes. Beyond it the system would kill the process instead of
/// refusing the file.
fn check_limit(wanted_bytes: u64) -> Result<(), Problem> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < wanted_bytes.saturating_add(super::kept_file::MARK_BYTES) => {
            Err(Problem::System { action: "making a test file beyond `ulimit -f`", errno: Errno::FBIG })
        }
        _ => Ok(()),
    }
}

/// Reserves space for a file. Returns a remark if the file system can't do that.
pub(crate) fn allocate(file: &File, bytes: u64) -> Result<Option<String>, Problem> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(None),
        Err(Errno::NOSPC) => Err(no_room(file, bytes)),
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            file.set_len(bytes).map_err(Problem::system("making the test file as long as wanted"))?;
            Ok(Some("this file system can't reserve space, so it may turn out to be full only later".into()))
        }
        Err(errno) => Err(Problem::System { action: "reserving space for the test file", errno }),
    }
}

/// The file system reported more free space than it provides.
fn no_room(file: &File, bytes: u64) -> Problem {
    let room =
        fstatvfs(file).map_or(Room::default(), |stat| Room::new(stat.f_blocks, stat.f_bavail, stat.f_frsize));
    room.refuse(bytes)
}

#[derive(Debug, Default, Clone, Copy)]
struct Room {
    capacity_bytes: u64,
    available_bytes: u64,
}

impl Room {
    fn new(blocks: u64, blocks_available: u64, block_bytes: u64) -> Self {
        Self {
            capacity_bytes: blocks.saturating_mul(block_bytes),
            available_bytes: blocks_available.saturating_mul(block_bytes),
        }
    }

    /// Reserve that stays free: 5 % of the file system, at most 1 GiB. Full file systems are slow,
    /// and others write to them as well.
    fn reserve_bytes(self) -> u64 {
        (self.capacity_bytes / 20).min(RESERVE_BYTES_MAX)
    }

    fn check(self, wanted_bytes: u64) -> Result<(), Problem> {
        let needed_bytes = wanted_bytes.saturating_add(self.reserve_bytes());
        if needed_bytes <= self.available_bytes { Ok(()) } else { Err(self.refuse(wanted_bytes)) }
    }

    fn refuse(self, wanted_bytes: u64) -> Problem {
        let largest_bytes = self.available_bytes.saturating_sub(self.reserve_bytes());
        Problem::NoRoom {
            wanted_bytes,
            needed_bytes: wanted_bytes.saturating_add(self.reserve_bytes()),
            available_bytes: self.available_bytes,
            largest_bytes: largest_bytes - largest_bytes % super::SMALLEST_AREA_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_reserve_is_the_smaller_of_a_share_and_a_gibibyte() {
        assert_eq!(Room::new(10 * GIB, 0, 1).reserve_bytes(), GIB / 2);
        assert_eq!(Room::new(1000 * GIB, 0, 1).reserve_bytes(), GIB);
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused_with_the_largest_size() {
        let room = Room { capacity_bytes: 100 * GIB, available_bytes: 3 * GIB };
        assert!(room.check(2 * GIB).is_ok());
        let problem = room.check(4 * GIB).unwrap_err();
        assert!(problem.to_string().contains("--file-size 2GiB or less"), "{problem}");
        assert!(problem.to_string().contains("needs 5GiB"), "{problem}");
    }
}
