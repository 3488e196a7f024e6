//! Conformance on a raw block device: a loop device over a file, with direct I/O.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod common;

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use common::{real_worlds, skipped};
use nandle_io::conformance::{abandoned_requests_keep_their_memory, check};
use nandle_io::{Access, Arrays, DeviceFile, DeviceId, FileOptions};

/// A loop device, detached when dropped.
struct Loop {
    path: PathBuf,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    /// Attaches a loop device; prints a note and returns `None` if this process may not.
    fn attach(bytes: u64, sector_bytes: u32) -> Option<Self> {
        let file = tempfile::NamedTempFile::new_in(common::disk_directory()).unwrap();
        file.as_file().set_len(bytes).unwrap();
        let output = Command::new("losetup")
            .args(["--direct-io=on", "--show", "--find", "--sector-size", &sector_bytes.to_string()])
            .arg(file.path())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                let path = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
                Some(Self { path, _file: file })
            }
            Ok(output) => {
                skipped("block devices", &String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                skipped("block devices; losetup", &error);
                None
            }
        }
    }

    fn open(&self) -> Arc<DeviceFile> {
        let file = File::options().read(true).write(true).open(&self.path).unwrap();
        Arc::new(DeviceFile::new(file, FileOptions::default()).unwrap())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

#[test]
fn loop_devices() {
    for sector_bytes in [512, 4096] {
        let Some(device) = Loop::attach(8 << 20, sector_bytes) else { return };
        for mut world in real_worlds() {
            let device = world.add_file(device.open());
            assert_eq!(device.shape.access, Access::Direct);
            assert_eq!(device.shape.capacity_bytes, 8 << 20);
            assert_eq!(device.shape.logical_block_bytes, u64::from(sector_bytes));
            check(&mut *world, &device, 21);
        }
    }
}

#[test]
fn arrays_of_loop_devices() {
    let loops: Vec<Loop> = [512, 4096].iter().filter_map(|sector| Loop::attach(4 << 20, *sector)).collect();
    let [_, _] = loops.as_slice() else { return };
    for mut world in real_worlds() {
        let children: Vec<DeviceId> = loops.iter().map(|device| world.add_file(device.open()).id).collect();
        let mut arrays = Arrays::new(world);
        let striped = arrays.raid0(&children, 64 << 10).unwrap();
        assert_eq!((striped.shape.capacity_bytes, striped.shape.logical_block_bytes), (8 << 20, 4096));
        check(&mut arrays, &striped, 22);
        let mirrored = arrays.raid10(&children, 8 << 10).unwrap();
        check(&mut arrays, &mirrored, 23);
    }
}

#[test]
fn abandoned_requests() {
    let Some(device) = Loop::attach(8 << 20, 512) else { return };
    for world in 0..real_worlds().len() {
        abandoned_requests_keep_their_memory(|| {
            let mut world = real_worlds().swap_remove(world);
            let device = world.add_file(device.open());
            (world, device)
        });
    }
}
