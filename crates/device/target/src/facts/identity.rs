//! Identity of a device.

use nandle_profile::Identity;

use super::BlockDevice;
use super::stack;
use crate::roots::Roots;

/// PCI vendor of virtio devices (virtio specification 1.2, §4.1.2).
const VIRTIO_VENDOR: &str = "0x1af4";

/// Identity of a device. A device built on others has its own name and identifier. If it is built
/// on a single disk, other fields come from that disk.
pub(super) fn identity(roots: &Roots, device: &BlockDevice) -> Identity {
    let own = own_identity(device);
    match stack::disks(roots, device).as_slice() {
        [disk] if disk.directory != device.disk => fill_in(own, own_identity(disk)),
        _ => own,
    }
}

fn own_identity(device: &BlockDevice) -> Identity {
    let first = |names: &[&str]| names.iter().find_map(|name| device.disk_text(name));
    Identity {
        kernel_name: Some(device.whole_disk().name()),
        model: first(&["device/model", "device/name"])
            .or_else(|| is_virtio(device).then(|| "virtio disk".into())),
        // For a virtio disk this is the bus vendor's number, which doesn't identify the device.
        vendor: first(&["device/vendor"]).filter(|_| !is_virtio(device)),
        // For virtio it is an attribute of the disk, for NVMe and MMC below it; SCSI only has a
        // page that contains it.
        serial: first(&["serial", "device/serial"]).or_else(|| scsi_serial(device)),
        world_wide_name: first(&["wwid", "device/wwid", "dm/uuid", "md/uuid"]),
        firmware: first(&["device/firmware_rev", "device/rev", "device/fwrev"]),
        capacity_bytes: device.whole_disk().capacity_bytes(),
    }
}

/// Returns true for a virtio device of a hypervisor, which has neither model nor vendor.
fn is_virtio(device: &BlockDevice) -> bool {
    device.disk_text("device/vendor").as_deref() == Some(VIRTIO_VENDOR)
}

/// Serial number of a SCSI disk, from its unit serial number page: four bytes of header, then the
/// number.
fn scsi_serial(device: &BlockDevice) -> Option<String> {
    let page = std::fs::read(device.disk.join("device/vpd_pg80")).ok()?;
    let serial = String::from_utf8_lossy(page.get(4..)?).trim_matches([' ', '\0', '\n']).to_owned();
    (!serial.is_empty()).then_some(serial)
}

fn fill_in(own: Identity, below: Identity) -> Identity {
    Identity {
        kernel_name: own.kernel_name,
        model: own.model.or(below.model),
        vendor: own.vendor.or(below.vendor),
        serial: own.serial.or(below.serial),
        world_wide_name: own.world_wide_name.or(below.world_wide_name),
        firmware: own.firmware.or(below.firmware),
        capacity_bytes: own.capacity_bytes,
    }
}
