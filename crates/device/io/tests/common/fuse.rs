//! FUSE file system with one file, its root, that counts its requests. It uses `/dev/fuse`
//! directly: the messages are those of `linux/fuse.h`, protocol 7.31, of which one file needs ten.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use super::skipped;

const HEADER_BYTES: usize = 40;
const LARGEST_WRITE_BYTES: u32 = 128 << 10;
const ENOSYS: i32 = 38;
/// `FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_ASYNC_DIO`: direct requests of a ring complete
/// asynchronously.
const FLAGS: u32 = 1 | 1 << 5 | 1 << 15;

/// Requests to the file system so far.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) writes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    /// Writes since the last sync, which a power cut would lose.
    pub(crate) unsynced: AtomicU64,
}

/// Mounted file system; unmounted when dropped.
pub(crate) struct Fuse {
    mounted_at: PathBuf,
    pub(crate) asked: Arc<Asked>,
    server: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Fuse {
    /// Mounts the file system; prints a note and returns `None` if this process may not.
    pub(crate) fn mount(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir_in(super::disk_directory()).unwrap();
        let mounted_at = folder.path().join("mounted");
        File::create(&mounted_at).unwrap();
        let backing = tempfile::tempfile_in(super::disk_directory()).unwrap();
        backing.set_len(bytes).unwrap();
        let device = match File::options().read(true).write(true).open("/dev/fuse") {
            Ok(device) => device,
            Err(error) => {
                skipped("FUSE; /dev/fuse", &error);
                return None;
            }
        };
        if let Err(why) = mount(&device, &mounted_at) {
            skipped("FUSE; it takes mount(8) and its right", &why);
            return None;
        }
        let asked = Arc::<Asked>::default();
        let server = Server { device, backing, bytes, asked: Arc::clone(&asked) };
        let server = std::thread::spawn(move || server.serve());
        Some(Self { mounted_at, asked, server: Some(server), _folder: folder })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.mounted_at
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.mounted_at).status();
        if unmounted.is_ok_and(|status| status.success())
            && let Some(server) = self.server.take()
        {
            let served = server.join();
            assert!(served.is_ok() || std::thread::panicking(), "the file system's server panicked");
        }
    }
}

/// Mounts with the device as `mount`'s standard input; the option `fd=0` passes it to the kernel.
fn mount(device: &File, at: &Path) -> Result<(), String> {
    let options = "fd=0,rootmode=100644,user_id=0,group_id=0";
    let mut command = Command::new("mount");
    command.args(["--internal-only", "-t", "fuse", "-o", options, "nandle-test"]).arg(at);
    let output = command.stdin(Stdio::from(device.try_clone().unwrap())).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().into())
}

struct Server {
    device: File,
    backing: File,
    bytes: u64,
    asked: Arc<Asked>,
}

impl Server {
    /// Serves until the file system is unmounted and reads from the device fail.
    fn serve(mut self) {
        let mut message = vec![0; HEADER_BYTES + 4096 + LARGEST_WRITE_BYTES as usize];
        while let Ok(length) = self.device.read(&mut message) {
            let number = |at: usize| u64::from_le_bytes(message[at..at + 8].try_into().unwrap());
            let (opcode, unique) = (number(0) >> 32, number(8));
            // FORGET, INTERRUPT and BATCH_FORGET have no reply.
            if matches!(opcode, 2 | 36 | 42) {
                continue;
            }
            let (error, body) = match self.answer(opcode, &message[HEADER_BYTES..length]) {
                Ok(body) => (0, body),
                Err(errno) => (-errno, Vec::new()),
            };
            let mut reply = Vec::with_capacity(16 + body.len());
            reply.extend(u32::try_from(16 + body.len()).unwrap().to_le_bytes());
            reply.extend(error.to_le_bytes());
            reply.extend(unique.to_le_bytes());
            reply.extend(body);
            // The caller may be gone.
            let _ = self.device.write(&reply);
        }
    }

    fn answer(&self, opcode: u64, body: &[u8]) -> Result<Vec<u8>, i32> {
        let long = |at: usize| u64::from_le_bytes(body[at..at + 8].try_into().unwrap());
        let short = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
        match opcode {
            // GETATTR, SETATTR.
            3 | 4 => Ok(self.attributes()),
            // OPEN, RELEASE, STATFS, FLUSH, DESTROY.
            14 => Ok(vec![0; 16]),
            18 | 25 | 38 => Ok(Vec::new()),
            17 => Ok(vec![0; 80]),
            // READ.
            15 => {
                let mut contents = vec![0; short(16) as usize];
                self.backing.read_exact_at(&mut contents, long(8)).map_err(|_| 5)?;
                Ok(contents)
            }
            // WRITE.
            16 => {
                let length = short(16);
                let contents = &body[40..40 + length as usize];
                self.backing.write_all_at(contents, long(8)).map_err(|_| 5)?;
                self.asked.writes.fetch_add(1, Ordering::SeqCst);
                self.asked.unsynced.fetch_add(1, Ordering::SeqCst);
                Ok(u64::from(length).to_le_bytes().into())
            }
            // FSYNC.
            20 => {
                self.asked.syncs.fetch_add(1, Ordering::SeqCst);
                self.asked.unsynced.store(0, Ordering::SeqCst);
                Ok(Vec::new())
            }
            26 => Ok(initialised()),
            _ => Err(ENOSYS),
        }
    }

    /// Attributes of a regular file.
    fn attributes(&self) -> Vec<u8> {
        let mut reply = vec![0; 104];
        reply[16..24].copy_from_slice(&1_u64.to_le_bytes());
        reply[24..32].copy_from_slice(&self.bytes.to_le_bytes());
        reply[32..40].copy_from_slice(&(self.bytes / 512).to_le_bytes());
        reply[76..80].copy_from_slice(&0o100_644_u32.to_le_bytes());
        reply[80..84].copy_from_slice(&1_u32.to_le_bytes());
        reply[96..100].copy_from_slice(&4096_u32.to_le_bytes());
        reply
    }
}

/// Reply to INIT: version, read-ahead, flags, background requests, limit of a write.
fn initialised() -> Vec<u8> {
    let mut reply = Vec::with_capacity(64);
    for word in [7, 31, 0, FLAGS, 64 << 16 | 64, LARGEST_WRITE_BYTES, 1] {
        reply.extend(u32::to_le_bytes(word));
    }
    reply.resize(64, 0);
    reply
}
