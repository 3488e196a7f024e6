//! A journaled ext4 in a file, if this machine can mount one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::Outcome;

const IMAGE_BYTES: u64 = 1 << 30;
/// Attempts a tenth of a second apart.
const UNMOUNT_TRIES: u32 = 100;

/// A mounted image, unmounted and removed on drop.
pub(super) struct LoopImage {
    image: PathBuf,
    folder: PathBuf,
}

impl LoopImage {
    /// Makes and mounts an image in a folder.
    ///
    /// # Errors
    /// The machine has no `mkfs.ext4`, or doesn't permit mounting.
    pub(super) fn mount(inside: &Path) -> Outcome<Self> {
        let this = Self { image: inside.join("ext4.img"), folder: inside.join("ext4") };
        fs::create_dir_all(&this.folder)?;
        fs::File::create(&this.image)?.set_len(IMAGE_BYTES)?;
        run(Command::new("mkfs.ext4")
            .args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"])
            .arg(&this.image))?;
        run(Command::new("mount").args(["-o", "loop"]).arg(&this.image).arg(&this.folder))?;
        Ok(this)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for LoopImage {
    fn drop(&mut self) {
        // The kernel frees a ring after its process has ended. Until then its files keep the mount
        // busy.
        for _ in 0..UNMOUNT_TRIES {
            if run(Command::new("umount").arg(&self.folder)).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let _ = fs::remove_file(&self.image);
    }
}

fn run(command: &mut Command) -> Outcome {
    let ran = command.output()?;
    if ran.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&ran.stderr);
    Err(why.lines().next().unwrap_or("no reason was given").to_owned().into())
}
