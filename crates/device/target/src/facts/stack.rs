//! Devices built on others: encrypted, mapped, joined, or backed by a file.

use super::BlockDevice;
use crate::roots::Roots;

/// Depth limit beyond any real stack.
const DEPTH_MAX: u32 = 8;

/// Disks at the bottom of a device, without duplicates; the device's own disk if it isn't built on
/// others.
pub(super) fn disks(roots: &Roots, device: &BlockDevice) -> Vec<BlockDevice> {
    let mut disks = Vec::new();
    collect_disks(roots, &device.whole_disk(), DEPTH_MAX, &mut disks);
    disks
}

fn collect_disks(roots: &Roots, device: &BlockDevice, depth: u32, disks: &mut Vec<BlockDevice>) {
    let slaves = if depth > 0 { device.slaves(roots) } else { Vec::new() };
    if slaves.is_empty() && !disks.contains(device) {
        disks.push(device.clone());
    }
    for slave in slaves {
        collect_disks(roots, &slave.whole_disk(), depth - 1, disks);
    }
}

/// Layers of a device, one sentence each.
pub(super) fn remarks(roots: &Roots, device: &BlockDevice) -> Vec<String> {
    let disk = device.whole_disk();
    let mut remarks = Vec::new();
    let slaves: Vec<String> = disk.slaves(roots).iter().map(BlockDevice::name).collect();
    if !slaves.is_empty() {
        let name =
            disk.text("dm/name").map_or_else(|| disk.name(), |name| format!("{} ({name})", disk.name()));
        remarks.push(format!("{name} lies on {}; its queue is reported, not theirs", slaves.join(", ")));
    }
    if let Some(file) = disk.text("loop/backing_file") {
        remarks.push(format!("{} is backed by the file {file}", disk.name()));
    }
    remarks
}
