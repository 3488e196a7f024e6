//! Users of a block device. Writing is refused while there are any.

use super::block::{BlockDevice, Number};
use super::mounts::{self, Mount};
use crate::roots::{Roots, read_text};

/// Depth limit beyond any real stack.
const DEPTH_MAX: u32 = 8;

/// Users of a device, of its partitions and of devices built on them, each as the end of a
/// sentence: `nvme0n1p2 is mounted at /`. Empty if this process sees none.
pub(crate) fn uses(roots: &Roots, device: &BlockDevice) -> Vec<String> {
    let system = SystemUses::read(roots);
    let mut uses = Vec::new();
    system.add_uses(roots, device, DEPTH_MAX, &mut uses);
    if device.is_partition() {
        // A file system on the whole disk covers every partition.
        system.add_own_uses(roots, &device.whole_disk(), &mut uses);
    }
    uses
}

struct SystemUses {
    mounts: Vec<Mount>,
    /// Nodes of devices used as swap space.
    swaps: Vec<String>,
}

impl SystemUses {
    fn read(roots: &Roots) -> Self {
        let mounts = read_text(&roots.proc.join("self/mountinfo")).unwrap_or_default();
        let swaps = read_text(&roots.proc.join("swaps")).unwrap_or_default();
        let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
        Self { mounts: mounts::parse(&mounts), swaps: names.map(Into::into).collect() }
    }

    fn add_uses(&self, roots: &Roots, device: &BlockDevice, depth: u32, uses: &mut Vec<String>) {
        self.add_own_uses(roots, device, uses);
        if depth == 0 {
            return;
        }
        for holder in device.holders(roots) {
            uses.push(format!("{} is part of {}", device.name(), holder.name()));
            self.add_uses(roots, &holder, depth - 1, uses);
        }
        for partition in device.partitions() {
            self.add_uses(roots, &partition, depth - 1, uses);
        }
    }

    fn add_own_uses(&self, roots: &Roots, device: &BlockDevice, uses: &mut Vec<String>) {
        let is_device = |node: &str| BlockDevice::by_node(roots, node).as_ref() == Some(device);
        let number = device.number();
        let mounted = |mount: &&Mount| is_mounted_from(mount, number) || is_device(&mount.source);
        if let Some(mount) = self.mounts.iter().find(mounted) {
            uses.push(format!("{} is mounted at {}", device.name(), mount.at));
        }
        if self.swaps.iter().any(|node| is_device(node)) {
            uses.push(format!("{} is swap space", device.name()));
        }
    }
}

fn is_mounted_from(mount: &Mount, number: Option<Number>) -> bool {
    number.is_some_and(|number| mount.number == number)
}
