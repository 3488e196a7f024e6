//! What the system says of a device, as found: from sysfs, procfs, `statx` and `statvfs`. Nothing here is measured,
//! and what the system doesn't say is `None`, never an error.
//!
//! Everything below this file reads from given [`Roots`], so that it can be tried on recorded systems.

mod block;
mod drive_log;
mod file_users;
mod identity;
mod in_use;
mod machine;
mod members;
mod memory;
mod modelled;
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

/// `STATX_WRITE_ATOMIC`, of Linux 6.11.
const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x1_0000);

/// What the system says of a target; of an array, what it says of all its members alike. Of a model, what its
/// parameters say, as a system would.
pub fn system_facts(target: &Target) -> SystemFacts {
    let roots = Roots::default();
    let mut facts = of_members(&roots, target).0;
    if !target.is_modelled() {
        facts.machine = machine::machine(&roots);
    }
    facts
}

/// What an array's members differ in, a sentence.
pub(crate) fn differences(target: &Target) -> Option<String> {
    let (_, differing) = of_members(&Roots::default(), target);
    (!differing.is_empty()).then(|| {
        format!("the members differ in {}, which the facts leave out for that reason", differing.join(", "))
    })
}

fn of_members(roots: &Roots, target: &Target) -> (SystemFacts, Vec<String>) {
    let of_leaf = |leaf: &Leaf| match &leaf.backing {
        Backing::File(file) => leaf_facts(roots, leaf.kind, file),
        Backing::Model(model) => modelled::system_facts(model),
    };
    members::common(target.leaves.iter().map(of_leaf))
}

/// Which device a target is on; of an array, what its members' devices have in common.
pub fn identity(target: &Target) -> Identity {
    let roots = Roots::default();
    let of_leaf = |leaf: &Leaf| match &leaf.backing {
        Backing::File(file) => {
            let device = device_of(&roots, file.file());
            device.map_or_else(Identity::default, |device| identity::identity(&roots, &device))
        }
        Backing::Model(model) => modelled::identity(model),
    };
    members::common(target.leaves.iter().map(of_leaf)).0
}

/// Which device a file, a directory or a block device is on; empty where the system names none.
///
/// # Errors
/// It isn't there, or can't be looked at.
pub fn identity_of_path(path: &Path) -> std::io::Result<Identity> {
    let roots = Roots::default();
    let device = device_of(&roots, &File::open(path)?);
    Ok(device.map_or_else(Identity::default, |device| identity::identity(&roots, &device)))
}

/// How the device that holds a file makes a write durable, as far as the system says.
pub(crate) fn durable_writes(file: &File) -> DurableWrites {
    let device = device_of(&Roots::default(), file);
    device.map_or(DurableWrites::Unknown, |device| queue::durable_writes(&queue::queue(&device)))
}

/// What lies below the device that holds a file, each a sentence: the parts of an encrypted, mapped or joined
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

/// The block device that is, or holds, an open file.
fn device_of(roots: &Roots, file: &File) -> Option<BlockDevice> {
    let metadata = file.metadata().ok()?;
    if metadata.file_type().is_block_device() {
        return BlockDevice::find(roots, block::number(metadata.rdev()));
    }
    let number = block::number(metadata.dev());
    // Some file systems, btrfs for one, have device numbers of their own; then the mount knows.
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

/// Of memory and of offsets; `None` where there is no direct I/O.
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
