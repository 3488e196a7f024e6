//! Devices and worlds for the tests.
#![allow(
    dead_code,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "each test uses a part of it"
)]

pub(crate) mod child;
pub(crate) mod fuse;

use std::path::Path;
use std::sync::Arc;

use nandle_io::{Device, DeviceFile, FileOptions, Io, Threads, Uring};

pub(crate) const SLOTS: u32 = 64;
pub(crate) const FILE_BYTES: u64 = 8 << 20;
pub(crate) const MEMORY_DIRECTORY: &str = "/dev/shm";

/// Unnamed file of zeros; `direct` states if direct I/O is expected.
pub(crate) fn file_in(directory: &Path, bytes: u64, direct: bool) -> Arc<DeviceFile> {
    let file = tempfile::tempfile_in(directory).unwrap();
    file.set_len(bytes).unwrap();
    let options = FileOptions { direct, punch_holes: true, ..FileOptions::default() };
    Arc::new(DeviceFile::new(file, options).unwrap())
}

/// Folder on the real disk: that of the build's output.
pub(crate) fn disk_directory() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

pub(crate) fn disk_file() -> Arc<DeviceFile> {
    file_in(disk_directory(), FILE_BYTES, true)
}

pub(crate) fn memory_file() -> Arc<DeviceFile> {
    file_in(Path::new(MEMORY_DIRECTORY), FILE_BYTES, true)
}

/// World that accepts real files.
pub(crate) trait RealWorld: Io {
    fn add_file(&mut self, file: Arc<DeviceFile>) -> Device;
}

impl RealWorld for Uring {
    fn add_file(&mut self, file: Arc<DeviceFile>) -> Device {
        self.add(file)
    }
}

impl RealWorld for Threads {
    fn add_file(&mut self, file: Arc<DeviceFile>) -> Device {
        self.add(file)
    }
}

/// Real worlds; prints a note if the system refuses the ring.
pub(crate) fn real_worlds() -> Vec<Box<dyn RealWorld>> {
    let mut worlds: Vec<Box<dyn RealWorld>> =
        vec![Box::new(Threads::new(SLOTS)), Box::new(Threads::blocking(SLOTS))];
    match Uring::new(SLOTS) {
        Ok(ring) => worlds.push(Box::new(ring)),
        Err(error) => skipped("everything on io_uring", &error),
    }
    worlds
}

/// Prints a note about a skipped test.
#[allow(clippy::print_stderr, reason = "a test that is skipped must be seen to be")]
pub(crate) fn skipped(what: &str, why: &dyn std::fmt::Display) {
    eprintln!("SKIPPED: {what}: {why}");
}
