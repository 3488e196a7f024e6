//! Users of a file's contents. Overwriting is refused while there are any.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};

use super::block::BlockDevice;
use super::in_use::uses;
use crate::roots::{Roots, names, read_text};

/// Users of a file that are visible to this process.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FileUsers {
    /// Descriptions, each the end of a sentence: `it is behind loop0, and loop0 is mounted at
    /// /mnt`.
    pub(crate) seen: Vec<String>,
    /// Number of processes whose files aren't visible.
    pub(crate) unseen: usize,
}

/// Most processes named in a message.
const NAMED_MAX: usize = 3;

impl FileUsers {
    /// Finds the users of an open file, except this process.
    pub(crate) fn of(roots: &Roots, file: &File) -> Self {
        let Ok(metadata) = file.metadata() else { return Self::default() };
        let is_it = |path: &Path| is_same(path, &metadata);
        let mut users = Self::default();
        users.add_loops(roots, &is_it);
        users.add_swaps(roots, &is_it);
        users.add_processes(roots, &is_it);
        users
    }

    /// Adds loop devices. Only the kernel has their file open, no process does.
    fn add_loops(&mut self, roots: &Roots, is_it: &dyn Fn(&Path) -> bool) {
        let block = roots.sys.join("block");
        for name in names(&block).into_iter().filter(|name| name.starts_with("loop")) {
            let backing = read_text(&block.join(&name).join("loop/backing_file"));
            if backing.is_some_and(|backing| is_it(Path::new(&backing))) {
                self.seen.push(format!("it is behind the loop device {name}"));
                let device = BlockDevice::by_name(roots, &name);
                self.seen.extend(device.into_iter().flat_map(|device| uses(roots, &device)));
            }
        }
    }

    fn add_swaps(&mut self, roots: &Roots, is_it: &dyn Fn(&Path) -> bool) {
        let swaps = read_text(&roots.proc.join("swaps")).unwrap_or_default();
        let mut files = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        if files.any(|path| is_it(Path::new(&super::mounts::unescape(path)))) {
            self.seen.push("it is swap space".into());
        }
    }

    fn add_processes(&mut self, roots: &Roots, is_it: &dyn Fn(&Path) -> bool) {
        let own = std::process::id().to_string();
        let is_process = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own;
        let mut having = Vec::new();
        for process in names(&roots.proc).into_iter().filter(is_process) {
            let directory = roots.proc.join(&process);
            match fs::read_dir(directory.join("fd")) {
                Ok(mut files) => {
                    if files.any(|file| file.is_ok_and(|file| is_it(&file.path()))) {
                        let name = read_text(&directory.join("comm")).unwrap_or_default();
                        having.push(format!("{name} (process {process})"));
                    }
                }
                // The process may have ended meanwhile.
                Err(error) => {
                    self.unseen += usize::from(error.kind() == std::io::ErrorKind::PermissionDenied);
                }
            }
        }
        let others = having.len().saturating_sub(NAMED_MAX);
        having.truncate(NAMED_MAX);
        if !having.is_empty() {
            let more = if others > 0 { format!(" and {others} more") } else { String::new() };
            let verb = if having.len() == 1 { "has" } else { "have" };
            self.seen.push(format!("{}{more} {verb} it open", having.join(", ")));
        }
    }
}

/// Returns true if a path leads to the file. The answer uses the kernel's cached data, so an
/// unreachable server isn't contacted for files that other processes have open there.
fn is_same(path: &Path, file: &Metadata) -> bool {
    let found = statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::INO);
    found.is_ok_and(|found| {
        let device = makedev(found.stx_dev_major, found.stx_dev_minor);
        (device, found.stx_ino) == (file.dev(), file.ino())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_swaps_and_processes_are_seen_in_a_recorded_system() {
        let directory = tempfile::tempdir().unwrap();
        let roots = Roots::recorded(directory.path());
        let file = directory.path().join("my image");
        fs::write(&file, "x").unwrap();
        let users = || FileUsers::of(&roots, &File::open(&file).unwrap());
        assert_eq!(users(), FileUsers::default());
        let write = |path: &str, text: String| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sys/block/loop3/loop/backing_file", format!("{}\n", file.display()));
        write("sys/block/loop4/loop/backing_file", "/somewhere/else\n".into());
        let escaped = file.display().to_string().replace(' ', "\\040");
        write("proc/swaps", format!("Filename Type Size Used Priority\n{escaped} file 9 0 -2\n"));
        write("proc/77/comm", "mysqld\n".into());
        fs::create_dir_all(directory.path().join("proc/77/fd")).unwrap();
        std::os::unix::fs::symlink(&file, directory.path().join("proc/77/fd/5")).unwrap();
        let seen = users().seen.join("; ");
        assert_eq!(
            seen,
            "it is behind the loop device loop3; it is swap space; mysqld (process 77) has it open"
        );
    }
}
