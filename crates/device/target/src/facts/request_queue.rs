//! Where the kernel can be watched sending a path's requests to a disk.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{BlockDevice, device_of, mount_of};
use crate::roots::{Roots, read_number};

/// Deeper than any stack built on purpose.
const DEPTH_MAX: u32 = 8;
const SECTOR_BYTES: u64 = 512;

/// The queue in which a disk's requests are merged and handed out. Devices made of others have none: what they are asked for
/// arrives in those of the disks below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestQueue {
    /// Kernel name of the disk (`nvme0n1`).
    pub disk: String,
    /// Major and minor number of the disk.
    pub number: (u32, u32),
    /// What of the disk is meant; its own name and whole length, or a partition's.
    pub part: DiskPart,
    /// Whether the disk has a cache that a power cut empties; it is sent no flushes where it has none. `None` where that isn't known.
    pub has_volatile_cache: Option<bool>,
    /// Whether it takes writes that are durable when they complete (forced unit access); else the kernel sends a write and a flush. `None` where that isn't known.
    pub takes_durable_writes: Option<bool>,
    /// Names of the devices above, the first one that of the path's own; none where that has the queue.
    pub above: Vec<String>,
}

/// A disk, or a partition of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskPart {
    /// Its kernel name (`nvme0n1p2`).
    pub name: String,
    /// Where on the disk it begins.
    pub start_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
}

/// A path leads to no single queue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestQueueError {
    /// It can't be opened.
    #[error("{}: {source}", path.display())]
    Path {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file system has no block device of its own.
    #[error(
        "{}: the system names no block device behind this {kind}file system; name the disk with --device, such as --device /dev/sda",
        path.display()
    )]
    NoDevice {
        /// What was looked at.
        path: PathBuf,
        /// Which kind of file system it is on, with a blank behind; empty where that isn't known.
        kind: String,
    },
    /// It is made of several disks.
    #[error("{device} is made of {}, each with requests of its own; name one of them with --device", parts.join(", "))]
    Several {
        /// Kernel name.
        device: String,
        /// Those of its parts, as paths.
        parts: Vec<String>,
    },
    /// It has no queue of requests, and is made of nothing that has one.
    #[error(
        "{device} has no queue of requests in which they could be seen; name the disk below it with --device (lsblk shows disks)"
    )]
    NoQueue {
        /// Kernel name.
        device: String,
    },
}

/// The queue that has the requests of a file, a directory's file system or a block device.
///
/// # Errors
/// The path can't be opened, or there isn't exactly one queue.
pub fn request_queue(path: &Path) -> Result<RequestQueue, RequestQueueError> {
    let roots = Roots::default();
    let file = File::open(path).map_err(|source| RequestQueueError::Path { path: path.into(), source })?;
    let device = device_of(&roots, &file).ok_or_else(|| {
        let kind = mount_of(&roots, &file).map_or_else(String::new, |mount| format!("{} ", mount.kind));
        RequestQueueError::NoDevice { path: path.into(), kind }
    })?;
    find(&roots, device)
}

/// The queue of a device, or of the only one that it is made of.
pub(super) fn find(roots: &Roots, device: BlockDevice) -> Result<RequestQueue, RequestQueueError> {
    let mut above = Vec::new();
    let mut device = device;
    for _ in 0..DEPTH_MAX {
        let disk = device.whole_disk();
        // What is made of others, and passes on whatever it is handed, has no queues of the kernel's multi-queue layer.
        if let Some(number) = disk.number().filter(|_| disk.directory.join("mq").is_dir()) {
            let part = part(&device);
            let has_volatile_cache = match disk.text("queue/write_cache").as_deref() {
                Some("write back") => Some(true),
                Some("write through") => Some(false),
                _ => None,
            };
            let takes_durable_writes = match disk.text("queue/fua").as_deref() {
                Some("1") => Some(true),
                Some("0") => Some(false),
                _ => None,
            };
            return Ok(RequestQueue {
                disk: disk.name(),
                number,
                part,
                has_volatile_cache,
                takes_durable_writes,
                above,
            });
        }
        let name = device.name();
        let mut parts = disk.slaves(roots);
        match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => device = only,
            (Some(last), false) => {
                let parts = parts.into_iter().chain([last]).map(|part| format!("/dev/{}", part.name()));
                return Err(RequestQueueError::Several { device: name, parts: parts.collect() });
            }
            (None, _) => return Err(RequestQueueError::NoQueue { device: name }),
        }
        above.push(name);
    }
    Err(RequestQueueError::NoQueue { device: device.name() })
}

fn part(device: &BlockDevice) -> DiskPart {
    let start = if device.is_partition() { read_number(&device.directory.join("start")) } else { None };
    DiskPart {
        name: device.name(),
        start_bytes: start.unwrap_or(0).saturating_mul(SECTOR_BYTES),
        length_bytes: device.capacity_bytes().unwrap_or(0),
    }
}
