//! Which device it is.

use nandle_profile::Identity;

use super::BlockDevice;
use super::stack;
use crate::roots::Roots;

/// The PCI vendor that virtio devices name (virtio specification 1.2, §4.1.2).
const VIRTIO_VENDOR: &str = "0x1af4";

/// The identity of a device. One made of others has a name and an identifier of its own; when it is made of a
/// single disk, the rest is that disk's.
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
        // A virtio disk's is the number of its bus's maker, which says nothing about the device.
        vendor: first(&["device/vendor"]).filter(|_| !is_virtio(device)),
        // virtio has it at the disk, NVMe and MMC below; SCSI has only the page that holds it.
        serial: first(&["serial", "device/serial"]).or_else(|| scsi_serial(device)),
        world_wide_name: first(&["wwid", "device/wwid", "dm/uuid", "md/uuid"]),
        firmware: first(&["device/firmware_rev", "device/rev", "device/fwrev"]),
        capacity_bytes: device.whole_disk().capacity_bytes(),
    }
}

/// Whether the device is one that a hypervisor presents by virtio, which has neither model nor vendor.
fn is_virtio(device: &BlockDevice) -> bool {
    device.disk_text("device/vendor").as_deref() == Some(VIRTIO_VENDOR)
}

/// The unit serial number page of a SCSI disk: four bytes of header, then the number.
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
