//! Request queue in which the kernel's requests for a path can be observed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{BlockDevice, device_of, mount_of};
use crate::roots::{Roots, read_number};

/// Depth limit beyond any real stack.
const DEPTH_MAX: u32 = 8;
const SECTOR_BYTES: u64 = 512;

/// Queue in which a disk's requests are merged and dispatched. Devices built on others have none:
/// their requests arrive in the queues of the disks below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestQueue {
    /// Kernel name of the disk (`nvme0n1`).
    pub disk: String,
    /// Major and minor number of the disk.
    pub number: (u32, u32),
    /// The part of the disk: a partition, or the whole disk.
    pub part: DiskPart,
    /// True if the disk has a volatile cache. Without one the kernel sends no flushes. `None` if
    /// unknown.
    pub has_volatile_cache: Option<bool>,
    /// True if the disk supports durable writes (forced unit access). Otherwise the kernel sends a
    /// write and a flush. `None` if unknown.
    pub takes_durable_writes: Option<bool>,
    /// Names of the devices above, starting with the path's own; empty if that has the queue.
    pub above: Vec<String>,
}

/// Disk or partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskPart {
    /// Kernel name (`nvme0n1p2`).
    pub name: String,
    /// Start on the disk.
    pub start_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u64,
}

/// Error of finding a path's queue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestQueueError {
    /// The path can't be opened.
    #[error("{}: {source}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file system has no block device.
    #[error(
        "{}: the system names no block device behind this {kind}file system; name the disk with --device, such as --device /dev/sda",
        path.display()
    )]
    NoDevice {
        /// The path.
        path: PathBuf,
        /// Type of its file system with a trailing space; empty if unknown.
        kind: String,
    },
    /// The device is built on several disks.
    #[error("{device} is made of {}, each with requests of its own; name one of them with --device", parts.join(", "))]
    Several {
        /// Kernel name of the device.
        device: String,
        /// Paths of its parts.
        parts: Vec<String>,
    },
    /// Neither the device nor anything below has a request queue.
    #[error(
        "{device} has no queue of requests in which they could be seen; name the disk below it with --device (lsblk shows disks)"
    )]
    NoQueue {
        /// Kernel name of the device.
        device: String,
    },
}

/// Finds the queue for the requests of a file, a directory's file system or a block device.
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

/// Finds the queue of a device, or of the only device that it is built on.
pub(super) fn find(roots: &Roots, device: BlockDevice) -> Result<RequestQueue, RequestQueueError> {
    let mut above = Vec::new();
    let mut device = device;
    for _ in 0..DEPTH_MAX {
        let disk = device.whole_disk();
        // Devices that only pass requests on have no queues of the kernel's multi-queue layer.
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
