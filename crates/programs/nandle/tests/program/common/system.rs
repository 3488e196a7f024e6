use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints a notice that a test, or a part of it, was skipped.
pub(crate) fn skip(why: &str) {
    eprintln!("SKIPPED: {why}");
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns true if a program is installed.
pub(crate) fn program_exists(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// A file as a block device, detached on drop.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
}

impl LoopDevice {
    /// Returns `None`, with a notice, if loop devices aren't available.
    pub(crate) fn new(image: &Path) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(image).output();
        match output {
            Ok(output) if output.status.success() => {
                let path = String::from_utf8(output.stdout).unwrap().trim().into();
                Some(Self { path })
            }
            other => {
                skip(&format!("a loop device: {other:?}"));
                None
            }
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}
