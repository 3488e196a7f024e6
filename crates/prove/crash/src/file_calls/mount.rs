//! The mounted file system.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::folder::Folder;
use super::kind::Calls;
use super::server::{Server, lock};

/// This process can't mount a FUSE file system.
#[derive(Debug, thiserror::Error)]
#[error("mounting a FUSE file system, which takes /dev/fuse, mount(8) and the right to mount: {why}")]
pub struct MountError {
    why: String,
}

pub(super) const STORE: &str = "pages.db";

/// In-memory folder served through FUSE, mounted until dropped.
pub struct FileSystem {
    mounted_at: PathBuf,
    folder: Arc<Mutex<Folder>>,
    server: Option<JoinHandle<()>>,
    _place: tempfile::TempDir,
}

impl FileSystem {
    /// Mounts the file system.
    ///
    /// # Errors
    /// This process may not mount it.
    pub fn mount() -> Result<Self, MountError> {
        let failed = |error: std::io::Error| MountError { why: error.to_string() };
        let place = tempfile::tempdir().map_err(failed)?;
        let mounted_at = place.path().join("mounted");
        std::fs::create_dir(&mounted_at).map_err(failed)?;
        let device = File::options().read(true).write(true).open("/dev/fuse").map_err(failed)?;
        mount(&device, &mounted_at)?;
        let folder = Arc::<Mutex<Folder>>::default();
        let server = Server { device, folder: Arc::clone(&folder) };
        let server = std::thread::Builder::new().name("file-calls".into()).spawn(move || server.serve());
        let server = server.map_err(failed)?;
        Ok(Self { mounted_at, folder, server: Some(server), _place: place })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.mounted_at.join(STORE)
    }

    /// Accesses the file system's state.
    pub(super) fn folder<T>(&self, change: impl FnOnce(&mut Folder) -> T) -> T {
        change(&mut lock(&self.folder))
    }

    /// Calls since the folder was last emptied.
    pub(super) fn calls(&self) -> Calls {
        self.folder(|folder| folder.calls)
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.mounted_at).status();
        if unmounted.is_ok_and(|status| status.success())
            && let Some(server) = self.server.take()
        {
            let served = server.join();
            debug_assert!(served.is_ok() || std::thread::panicking(), "the file system's server panicked");
        }
    }
}

/// Runs `mount`, which receives the device as its standard input and passes on the descriptor's
/// number.
fn mount(device: &File, at: &Path) -> Result<(), MountError> {
    let failed = |error: std::io::Error| MountError { why: error.to_string() };
    let mut command = Command::new("mount");
    let options = "fd=0,rootmode=40755,user_id=0,group_id=0";
    command.args(["--internal-only", "-t", "fuse", "-o", options, "nandle-crash"]).arg(at);
    command.stdin(Stdio::from(device.try_clone().map_err(failed)?));
    let output = command.output().map_err(failed)?;
    if output.status.success() {
        return Ok(());
    }
    Err(MountError { why: String::from_utf8_lossy(&output.stderr).trim().into() })
}
