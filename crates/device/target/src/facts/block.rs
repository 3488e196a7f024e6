//! Block devices in sysfs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::roots::{Roots, names, read_number, read_text};

/// Major and minor number.
pub(crate) type Number = (u32, u32);

/// Splits a device number.
pub(super) fn number(device: u64) -> Number {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// Parses `8:1`.
pub(super) fn parse_number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Block device: a disk, a partition, or a device built on others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    /// Directory in sysfs, without symbolic links.
    pub(super) directory: PathBuf,
    /// Directory of the disk, which for a partition is its parent.
    pub(super) disk: PathBuf,
}

impl BlockDevice {
    /// Finds the device of a number.
    pub(crate) fn find(roots: &Roots, (major, minor): Number) -> Option<Self> {
        Self::at(&roots.sys.join(format!("dev/block/{major}:{minor}")))
    }

    /// Finds the device of a kernel name (`sda1`).
    pub(super) fn by_name(roots: &Roots, name: &str) -> Option<Self> {
        Self::at(&roots.sys.join("class/block").join(name))
    }

    /// Finds the device of a node in `/dev` by its last component: a kernel name, or a mapped
    /// device's name.
    pub(super) fn by_node(roots: &Roots, node: &str) -> Option<Self> {
        let name = node.strip_prefix("/dev/")?.rsplit('/').next()?;
        let mapped = || {
            let devices = names(&roots.sys.join("class/block")).into_iter();
            let mut devices = devices.filter_map(|device| Self::by_name(roots, &device));
            devices.find(|device| device.text("dm/name").as_deref() == Some(name))
        };
        Self::by_name(roots, name).or_else(mapped)
    }

    fn at(link: &Path) -> Option<Self> {
        let directory = fs::canonicalize(link).ok()?;
        let is_partition = directory.join("partition").exists();
        let disk = if is_partition { directory.parent()?.to_owned() } else { directory.clone() };
        Some(Self { directory, disk })
    }

    /// Kernel name.
    pub(crate) fn name(&self) -> String {
        last_component(&self.directory)
    }

    /// Device number.
    pub(super) fn number(&self) -> Option<Number> {
        parse_number(&self.text("dev")?)
    }

    pub(super) fn is_partition(&self) -> bool {
        self.directory != self.disk
    }

    /// The whole disk; the device itself if it isn't a partition.
    pub(super) fn whole_disk(&self) -> Self {
        Self { directory: self.disk.clone(), disk: self.disk.clone() }
    }

    /// Partitions of a disk; empty for a partition.
    pub(super) fn partitions(&self) -> Vec<Self> {
        let children = names(&self.directory).into_iter().map(|name| self.directory.join(name));
        let partitions = children.filter(|child| child.join("partition").exists());
        partitions.map(|directory| Self { directory, disk: self.disk.clone() }).collect()
    }

    /// Devices built on this one.
    pub(super) fn holders(&self, roots: &Roots) -> Vec<Self> {
        self.related(roots, "holders")
    }

    /// Devices that this one is built on.
    pub(super) fn slaves(&self, roots: &Roots) -> Vec<Self> {
        self.related(roots, "slaves")
    }

    fn related(&self, roots: &Roots, kind: &str) -> Vec<Self> {
        names(&self.directory.join(kind)).iter().filter_map(|name| Self::by_name(roots, name)).collect()
    }

    /// Size; sysfs counts in units of 512 bytes for any logical block.
    pub(super) fn capacity_bytes(&self) -> Option<u64> {
        read_number(&self.directory.join("size"))?.checked_mul(512)
    }

    /// Attribute of the device.
    pub(super) fn text(&self, attribute: &str) -> Option<String> {
        read_text(&self.directory.join(attribute))
    }

    /// Attribute of its disk.
    pub(super) fn disk_text(&self, attribute: &str) -> Option<String> {
        read_text(&self.disk.join(attribute))
    }

    /// Numeric attribute of its disk.
    pub(super) fn disk_number(&self, attribute: &str) -> Option<u64> {
        read_number(&self.disk.join(attribute))
    }
}

fn last_component(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
