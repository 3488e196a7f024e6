//! Devices made of others: encrypted, mapped, joined, or backed by a file.

use super::BlockDevice;
use crate::roots::Roots;

/// Deeper than any stack built on purpose.
const DEPTH_MAX: u32 = 8;

/// The disks at the bottom of a device, each once; the device's own disk when it is made of nothing else.
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

/// What a device is made of, each a sentence.
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
