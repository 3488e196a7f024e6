//! Memory available to a query.

use std::fs;
use std::path::Path;

/// Divisor of the machine's memory for the default.
const PART: u64 = 2;

/// Half of the machine's memory, or of the limit of this process's control group; `None` if neither
/// is known.
pub(crate) fn usual_bytes() -> Option<u64> {
    let known = [machine_bytes(), group_bytes()];
    known.into_iter().flatten().min().map(|bytes| bytes / PART)
}

fn machine_bytes() -> Option<u64> {
    total(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// Parses `MemTotal: 24576000 kB` of `proc_meminfo(5)`.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Least limit of the control groups above this process.
fn group_bytes() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let directory = root.join(path);
    let groups = directory.ancestors().take_while(|group| group.starts_with(root));
    let limits = groups.filter_map(|group| fs::read_to_string(group.join("memory.max")).ok());
    limits.filter_map(|limit| limit.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_says_what_it_has() {
        assert_eq!(total("MemTotal:        2048 kB\nMemFree: 1 kB\n"), Some(2 << 20));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert!(usual_bytes().is_some_and(|bytes| bytes > 1 << 20));
    }
}
