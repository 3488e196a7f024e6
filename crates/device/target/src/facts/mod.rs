//! Facts from the system about a device: from sysfs, procfs, `statx` and `statvfs`. Nothing is
//! measured. Unknown facts are `None`, never errors.
//!
//! Submodules read from given [`Roots`], so that tests can use recorded systems.

mod block;
mod drive_log;
mod file_users;
mod identity;
mod in_use;
mod machine;
mod members;
mod memory;
mod model_facts;
mod mounts;
mod queue;
mod request_queue;
mod stack;

use std::fs::File;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use nandle_io::{Access, DeviceFile, DurableWrites};
use nandle_profile::{AtomicWrite, FileSystem, Identity, SystemFacts};
use rustix::fs::{AtFlags, StatxFlags, fstatvfs, statx};

pub(crate) use block::BlockDevice;
pub use drive_log::drive_counters;
pub(crate) use file_users::FileUsers;
pub(crate) use in_use::uses;
pub use memory::available_memory_bytes;
pub use request_queue::{DiskPart, RequestQueue, RequestQueueError, request_queue};

use crate::roots::{Roots, read_text};
use crate::target::{Backing, Leaf};
use crate::{Target, TargetKind};
use mounts::Mount;

/// `STATX_WRITE_ATOMIC` of Linux 6.11.
const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x1_0000);

/// Facts about a target. For an array, the common facts of its members. For a model, its parameters
/// in the form of system facts.
pub fn system_facts(target: &Target) -> SystemFacts {
    let roots = Roots::default();
    let mut facts = of_members(&roots, target).0;
    if !target.is_modelled() {
        facts.machine = machine::machine(&roots);
    }
    facts
}

/// Sentence that names the differences between an array's members.
pub(crate) fn differences(target: &Target) -> Option<String> {
    let (_, differing) = of_members(&Roots::default(), target);
    (!differing.is_empty()).then(|| {
        format!("the members differ in {}, which the facts leave out for that reason", differing.join(", "))
    })
}

fn of_members(roots: &Roots, target: &Target) -> (SystemFacts, Vec<String>) {
    let of_leaf = |leaf: &Leaf| match &leaf.backing {
        Backing::File(file) => leaf_facts(roots, leaf.kind, file),
        Backing::Model(model) => model_facts::system_facts(model),
    };
    members::common(target.leaves.iter().map(of_leaf))
}

/// Identity of the target's device. For an array, the common values of its members' devices.
pub fn identity(target: &Target) -> Identity {
    let roots = Roots::default();
    let of_leaf = |leaf: &Leaf| match &leaf.backing {
        Backing::File(file) => {
            let device = device_of(&roots, file.file());
            device.map_or_else(Identity::default, |device| identity::identity(&roots, &device))
        }
        Backing::Model(model) => model_facts::identity(model),
    };
    members::common(target.leaves.iter().map(of_leaf)).0
}

/// Identity of the device below a file, a directory or a block device; empty if unknown.
///
/// # Errors
/// The path doesn't exist or can't be read.
pub fn identity_of_path(path: &Path) -> std::io::Result<Identity> {
    let roots = Roots::default();
    let device = device_of(&roots, &File::open(path)?);
    Ok(device.map_or_else(Identity::default, |device| identity::identity(&roots, &device)))
}

/// Way to make a write durable on the file's device, as far as known.
pub(crate) fn durable_writes(file: &File) -> DurableWrites {
    let device = device_of(&Roots::default(), file);
    device.map_or(DurableWrites::Unknown, |device| queue::durable_writes(&queue::queue(&device)))
}

/// Devices below the file's device, one sentence each: the parts of an encrypted, mapped or joined
/// device, or that nothing is known.
pub(crate) fn stack_remarks(file: &File) -> Vec<String> {
    let roots = Roots::default();
    let nothing = || {
        let kind = mount_of(&roots, file).map_or_else(String::new, |mount| format!("{} ", mount.kind));
        vec![format!("the system names no block device behind this {kind}file system")]
    };
    device_of(&roots, file).map_or_else(nothing, |device| stack::remarks(&roots, &device))
}

fn leaf_facts(roots: &Roots, kind: TargetKind, opened: &DeviceFile) -> SystemFacts {
    let file = opened.file();
    let device = device_of(roots, file);
    let queue = device.as_ref().map(queue::queue);
    let alignment = alignment(opened);
    SystemFacts {
        atomic_write: atomic_write(file).or_else(|| device.as_ref().and_then(queue::atomic_write)),
        file_system: (kind != TargetKind::BlockDevice).then(|| file_system(roots, file)).flatten(),
        direct_memory_alignment_bytes: alignment.map(|(memory, _)| memory),
        direct_offset_alignment_bytes: alignment.map(|(_, offset)| offset),
        queue,
        ..SystemFacts::default()
    }
}

/// Block device that is, or contains, an open file.
fn device_of(roots: &Roots, file: &File) -> Option<BlockDevice> {
    let metadata = file.metadata().ok()?;
    if metadata.file_type().is_block_device() {
        return BlockDevice::find(roots, block::number(metadata.rdev()));
    }
    let number = block::number(metadata.dev());
    // Some file systems, such as btrfs, have their own device numbers; then the mount gives the
    // device.
    BlockDevice::find(roots, number).or_else(|| BlockDevice::by_node(roots, &mount_of(roots, file)?.source))
}

fn mount_of(roots: &Roots, file: &File) -> Option<Mount> {
    let number = block::number(file.metadata().ok()?.dev());
    let stat = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok();
    let id = stat.filter(|stat| stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|stat| stat.stx_mnt_id);
    mounts::find(&mounts::parse(&read_text(&roots.proc.join("self/mountinfo"))?), id, number).cloned()
}

fn file_system(roots: &Roots, file: &File) -> Option<FileSystem> {
    let mount = mount_of(roots, file)?;
    let stat = fstatvfs(file).ok();
    let bytes = |blocks: u64, size: u64| blocks.saturating_mul(size);
    Some(FileSystem {
        kind: mount.kind,
        source: mount.source,
        mount_point: mount.at,
        options: mount.options,
        capacity_bytes: stat
            .as_ref()
            .map(|stat| bytes(stat.f_blocks, stat.f_frsize))
            .filter(|bytes| *bytes > 0),
        available_bytes: stat
            .as_ref()
            .filter(|stat| stat.f_blocks > 0)
            .map(|stat| bytes(stat.f_bavail, stat.f_frsize)),
    })
}

fn atomic_write(file: &File) -> Option<AtomicWrite> {
    let stat = statx(file, c"", AtFlags::EMPTY_PATH, WRITE_ATOMIC).ok()?;
    let known = stat.stx_mask & WRITE_ATOMIC.bits() != 0 && stat.stx_atomic_write_unit_max > 0;
    known.then(|| AtomicWrite {
        unit_bytes_min: stat.stx_atomic_write_unit_min.into(),
        unit_bytes_max: stat.stx_atomic_write_unit_max.into(),
    })
}

/// Alignment of memory and of offsets; `None` without direct I/O.
fn alignment(file: &DeviceFile) -> Option<(u64, u64)> {
    let stat = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok();
    let stated = stat.filter(|stat| stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0);
    match (stated, &file.shape().access) {
        (Some(stat), _) if stat.stx_dio_mem_align > 0 => {
            Some((stat.stx_dio_mem_align.into(), stat.stx_dio_offset_align.into()))
        }
        (None, Access::Direct) => {
            Some((file.shape().memory_alignment_bytes, file.shape().logical_block_bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
