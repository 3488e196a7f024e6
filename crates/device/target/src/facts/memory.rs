//! Memory available to this process: what the machine has available, within the limits of its
//! control groups (`cgroups(7)`). A process beyond its group's limit is killed without a message.

use std::path::{Path, PathBuf};

use crate::roots::{Roots, read_number, read_text};

/// Bytes of memory available to this process; `None` if unknown.
pub fn available_memory_bytes() -> Option<u64> {
    available(&Roots::default())
}

pub(super) fn available(roots: &Roots) -> Option<u64> {
    let of_machine =
        key_value(&roots.proc.join("meminfo"), "MemAvailable:").map(|kib| kib.saturating_mul(1024));
    let of_groups = groups(roots).into_iter().filter_map(|group| group.left_bytes());
    of_machine.into_iter().chain(of_groups).min()
}

/// Control group of this process.
struct Group {
    directory: PathBuf,
    files: &'static Files,
}

/// File names of a control group version.
struct Files {
    limit: &'static str,
    usage: &'static str,
    /// Name of the statistic of file pages that can be reclaimed at once.
    cache: &'static str,
}

const VERSION_1: Files =
    Files { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", cache: "total_inactive_file" };
const VERSION_2: Files = Files { limit: "memory.max", usage: "memory.current", cache: "inactive_file" };

impl Group {
    /// Remaining bytes; `None` without a limit ("max").
    fn left_bytes(&self) -> Option<u64> {
        let limit = read_number(&self.directory.join(self.files.limit))?;
        let used = read_number(&self.directory.join(self.files.usage)).unwrap_or(0);
        let cache = key_value(&self.directory.join("memory.stat"), self.files.cache).unwrap_or(0);
        Some(limit.saturating_sub(used.saturating_sub(cache)))
    }
}

/// Control groups of this process and their ancestors, each with its own limit.
fn groups(roots: &Roots) -> Vec<Group> {
    let lines = read_text(&roots.proc.join("self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in lines.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (mounts, files): (&[&str], _) = match controllers {
            "" => (&["fs/cgroup", "fs/cgroup/unified"], &VERSION_2),
            _ if controllers.split(',').any(|name| name == "memory") => (&["fs/cgroup/memory"], &VERSION_1),
            _ => continue,
        };
        let path = Path::new(path.trim_start_matches('/'));
        for mount in mounts {
            // In a container the path may be the host's, with only the mount's root visible.
            let above = path.ancestors().map(|above| roots.sys.join(mount).join(above));
            groups.extend(above.map(|directory| Group { directory, files }));
        }
    }
    groups
}

/// Number after a key at the beginning of a line.
fn key_value(path: &Path, key: &str) -> Option<u64> {
    let text = read_text(path)?;
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == key).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn available_with(files: &[(&str, &str)]) -> Option<u64> {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        available(&Roots::recorded(directory.path()))
    }

    #[test]
    fn the_tightest_group_is_the_limit_and_file_pages_do_not_count() {
        let machine = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    1048576 kB\n");
        assert_eq!(available_with(&[]), None);
        assert_eq!(available_with(&[machine]), Some(1024 * MIB));
        let own = ("proc/self/cgroup", "5:cpu:/x\n0::/jobs/one\n");
        let version_2 = [
            machine,
            own,
            ("sys/fs/cgroup/jobs/one/memory.max", "max\n"),
            ("sys/fs/cgroup/jobs/memory.max", "209715200\n"),
            ("sys/fs/cgroup/jobs/memory.current", "104857600\n"),
            ("sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 52428800\n"),
        ];
        assert_eq!(available_with(&version_2), Some(150 * MIB));
        let version_1 = [
            machine,
            ("proc/self/cgroup", "4:cpu,memory:/docker/abc\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "314572800\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n"),
        ];
        assert_eq!(available_with(&version_1), Some(200 * MIB));
    }
}
