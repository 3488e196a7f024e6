//! Counts and limits of a group's disk reads.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum read rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) struct ReadLimit {
    pub(in crate::bench) bytes_per_s: u64,
    pub(in crate::bench) reads_per_s: u64,
}

impl ReadLimit {
    /// Above the rates of any disk. Some kernels count nothing without a limit.
    pub(in crate::bench) const NONE: Self =
        Self { bytes_per_s: 1_000_000_000_000, reads_per_s: 1_000_000_000 };
}

const ROOT_1: &str = "/sys/fs/cgroup/blkio";

/// A group's reads of a disk.
pub(super) struct Reads {
    folder: PathBuf,
    /// Device number like `254:0`.
    disk: String,
    is_version_1: bool,
}

impl Reads {
    /// Limits a group's reads: in version 2 in the group itself, in version 1 in a second group.
    pub(super) fn limit(group: &Path, disk: &str, limit: ReadLimit) -> Option<Self> {
        let disk = disk.to_owned();
        let ReadLimit { bytes_per_s, reads_per_s } = limit;
        if group.join("io.max").exists() {
            let text = format!("{disk} rbps={bytes_per_s} riops={reads_per_s}");
            fs::write(group.join("io.max"), text).ok()?;
            return Some(Self { folder: group.to_owned(), disk, is_version_1: false });
        }
        let folder = Path::new(ROOT_1).join(group.file_name()?);
        fs::create_dir(&folder).ok()?;
        let reads = Self { folder, disk, is_version_1: true };
        let files = [("bps", bytes_per_s), ("iops", reads_per_s)];
        let is_limited = files.iter().all(|(unit, figure)| {
            let file = reads.folder.join(format!("blkio.throttle.read_{unit}_device"));
            file.exists() && fs::write(file, format!("{} {figure}", reads.disk)).is_ok()
        });
        is_limited.then_some(reads)
    }

    /// Folder of the group that processes join.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes read from the disk.
    pub(super) fn read_bytes(&self) -> Option<u64> {
        let file = if self.is_version_1 { "blkio.throttle.io_service_bytes" } else { "io.stat" };
        Some(read_bytes(&fs::read_to_string(self.folder.join(file)).ok()?, &self.disk))
    }
}

impl Drop for Reads {
    fn drop(&mut self) {
        if self.is_version_1 {
            super::remove(&self.folder);
        }
    }
}

/// Parses `254:0 Read 4096` (version 1) or `254:0 rbytes=4096 wbytes=0` (version 2). A missing line
/// means 0.
fn read_bytes(text: &str, disk: &str) -> u64 {
    let rest = |line: &str| line.strip_prefix(disk)?.strip_prefix(' ').map(str::to_owned);
    let lines = text.lines().filter_map(rest);
    let number = |line: String| {
        let after = line.strip_prefix("Read ").or_else(|| line.strip_prefix("rbytes="));
        after?.split(' ').next()?.parse::<u64>().ok()
    };
    lines.filter_map(number).sum()
}

#[cfg(test)]
mod tests {
    use super::read_bytes;

    #[test]
    fn both_versions_tell_what_was_read() {
        let one = "254:0 Read 4096\n254:0 Write 1\n254:16 Read 7\nTotal 4104\n";
        assert_eq!((read_bytes(one, "254:0"), read_bytes(one, "254:1")), (4096, 0));
        assert_eq!(read_bytes("254:0 rbytes=512 wbytes=3\n", "254:0"), 512);
    }
}
