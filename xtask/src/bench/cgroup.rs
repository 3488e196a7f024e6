//! A program in a memory cgroup, which charges page cache to each program alike.

mod reads;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

pub(super) use self::reads::ReadLimit;
use self::reads::Reads;
use crate::Outcome;

/// Joins the groups named first, by their lists of processes, and executes the program behind `--`.
const ENTER: &str = "while [ \"$1\" != -- ]; do echo $$ > \"$1\" || exit 1; shift; done; shift; exec \"$@\"";
/// Interval between samples of a program's memory.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// File names of one cgroup version.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    root: &'static str,
    limit: &'static str,
    peak: &'static str,
    kills: &'static str,
    /// Field of `memory.stat` for memory other than page cache.
    anonymous: &'static str,
}

const VERSIONS: [Version; 2] = [
    Version {
        root: "/sys/fs/cgroup",
        limit: "memory.max",
        peak: "memory.peak",
        kills: "memory.events",
        anonymous: "anon",
    },
    Version {
        root: "/sys/fs/cgroup/memory",
        limit: "memory.limit_in_bytes",
        peak: "memory.max_usage_in_bytes",
        kills: "memory.oom_control",
        anonymous: "total_rss",
    },
];

/// A group with a limit, removed on drop.
pub(super) struct Group {
    folder: PathBuf,
    version: &'static Version,
    look_every: Duration,
    reads: Option<Reads>,
}

/// Resource usage of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Peak with page cache, as the group accounts it.
    pub(super) peak_bytes: Option<u64>,
    /// Sampled peak without page cache.
    pub(super) anonymous_bytes: u64,
    /// Bytes read from the disk, if accounted.
    pub(super) read_bytes: Option<u64>,
    /// True if the system killed a process for lack of memory.
    pub(super) was_killed: bool,
}

impl Group {
    /// Makes a group, if the system permits.
    pub(super) fn make(limit_bytes: u64) -> Option<Self> {
        VERSIONS.iter().find_map(|version| Self::of_version(version, limit_bytes))
    }

    fn of_version(version: &'static Version, limit_bytes: u64) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let root = Path::new(version.root);
        // In version 2 a group passes controllers on to its children.
        let handed_down = root.join("cgroup.subtree_control");
        if handed_down.exists() {
            _ = fs::write(&handed_down, "+memory");
            _ = fs::write(handed_down, "+io");
        }
        let name = format!("nandle-bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = root.join(name);
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, version, look_every: LOOK_EVERY, reads: None };
        let limit = group.folder.join(version.limit);
        // An ordinary folder would accept any file.
        let is_limited = limit.exists() && fs::write(&limit, limit_bytes.to_string()).is_ok();
        is_limited.then_some(group)
    }

    /// Counts and limits reads of a disk, named like `254:0`. Returns `None` if the system doesn't
    /// permit it.
    pub(super) fn with_reads(mut self, disk: &str, limit: ReadLimit) -> Option<Self> {
        self.reads = Some(Reads::limit(&self.folder, disk, limit)?);
        Some(self)
    }

    /// Sets the interval of memory samples, as each sample takes time.
    pub(super) fn looked_at_every(mut self, time: Duration) -> Self {
        self.look_every = time;
        self
    }

    /// Same command, run inside the group.
    pub(super) fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", ENTER, "sh"]).arg(self.folder.join("cgroup.procs"));
        inside.args(self.reads.as_ref().map(|reads| reads.folder().join("cgroup.procs")));
        inside.arg("--").arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// Samples the group's memory until the program ends.
    pub(super) fn watch(&self, child: &mut Child) -> Outcome<Taken> {
        let has_ended = AtomicBool::new(false);
        let (ended, anonymous_bytes) = thread::scope(|scope| {
            let looking = scope.spawn(|| self.look_until(&has_ended));
            // The waiting thread notices the end at once. The sampling thread may be late.
            let ended = child.wait();
            has_ended.store(true, Ordering::Release);
            looking.thread().unpark();
            (ended, looking.join().unwrap_or_default())
        });
        ended?;
        Ok(Taken {
            peak_bytes: self.read(self.version.peak).and_then(|text| text.trim().parse().ok()),
            anonymous_bytes,
            read_bytes: self.reads.as_ref().and_then(Reads::read_bytes),
            was_killed: self.field(self.version.kills, "oom_kill").is_some_and(|kills| kills > 0),
        })
    }

    /// Sampled peak without page cache.
    fn look_until(&self, has_ended: &AtomicBool) -> u64 {
        let mut most_bytes = 0;
        while !has_ended.load(Ordering::Acquire) {
            most_bytes = most_bytes.max(self.anonymous_bytes());
            thread::park_timeout(self.look_every);
        }
        most_bytes
    }

    fn anonymous_bytes(&self) -> u64 {
        self.field("memory.stat", self.version.anonymous).unwrap_or_default()
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }

    fn field(&self, file: &str, name: &str) -> Option<u64> {
        field(&self.read(file)?, name)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Removes a group's folder. Retries while the last process is still exiting.
fn remove(folder: &Path) {
    for _ in 0..50 {
        if fs::remove_dir(folder).is_ok() {
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Number after a name.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_names() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!((field(text, "oom_kill"), field(text, "anon")), (Some(3), None));
    }

    /// Needs permission to create groups.
    #[test]
    fn a_program_runs_inside_and_the_group_goes() {
        let Some(group) = Group::make(64 << 20) else { return };
        let folder = group.folder.clone();
        let mut list = Command::new("sh");
        list.env("WHERE", "inside")
            .args(["-c", "test \"$WHERE\" = inside && grep -q nandle-bench /proc/self/cgroup"]);
        let mut child = group.inside(&list).spawn().unwrap();
        let taken = group.watch(&mut child).unwrap();
        assert!(child.wait().unwrap().success() && !taken.was_killed, "{taken:?}");
        assert!(taken.peak_bytes.is_none_or(|bytes| bytes <= 64 << 20), "{taken:?}");
        drop(group);
        assert!(!folder.exists());
    }
}
