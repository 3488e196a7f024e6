//! A program in a memory cgroup, so that what the system keeps of its files counts for everyone alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::Outcome;

/// Joins the group whose list of processes is named first, and becomes the program behind it.
const ENTER: &str = "echo $$ > \"$1\" && shift && exec \"$@\"";
/// How often a program's memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Names of one version's files.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    root: &'static str,
    limit: &'static str,
    peak: &'static str,
    kills: &'static str,
    /// Of `memory.stat`: what isn't page cache.
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

/// A group with a limit. It is gone when this is dropped.
pub(super) struct Group {
    folder: PathBuf,
    version: &'static Version,
}

/// What a program took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// Page cache included, by the group's own account.
    pub(super) peak_bytes: Option<u64>,
    /// Without page cache, as far as it was seen.
    pub(super) anonymous_bytes: u64,
    /// The system ended a process for want of memory.
    pub(super) was_killed: bool,
}

impl Group {
    /// Makes one, where the system lets us.
    pub(super) fn make(limit_bytes: u64) -> Option<Self> {
        VERSIONS.iter().find_map(|version| Self::of_version(version, limit_bytes))
    }

    fn of_version(version: &'static Version, limit_bytes: u64) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let root = Path::new(version.root);
        // In version 2 a group's children have what it hands down.
        let handed_down = root.join("cgroup.subtree_control");
        if handed_down.exists() {
            _ = fs::write(handed_down, "+memory");
        }
        let name = format!("nandle-bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = root.join(name);
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, version };
        let limit = group.folder.join(version.limit);
        // An ordinary folder would take any file.
        let is_limited = limit.exists() && fs::write(&limit, limit_bytes.to_string()).is_ok();
        is_limited.then_some(group)
    }

    /// The same command, inside.
    pub(super) fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", ENTER, "sh"]).arg(self.folder.join("cgroup.procs"));
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// Looks at the group until the program ends.
    pub(super) fn watch(&self, child: &mut Child) -> Outcome<Taken> {
        let mut taken = Taken::default();
        while child.try_wait()?.is_none() {
            taken.anonymous_bytes = taken.anonymous_bytes.max(self.anonymous_bytes());
            thread::sleep(LOOK_EVERY);
        }
        taken.peak_bytes = self.read(self.version.peak).and_then(|text| text.trim().parse().ok());
        taken.was_killed = self.field(self.version.kills, "oom_kill").is_some_and(|kills| kills > 0);
        Ok(taken)
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
        // The last process may not quite be gone.
        for _ in 0..50 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// The number behind a name.
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

    /// Where groups can be made: a program in one has its limit, and the group goes.
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
