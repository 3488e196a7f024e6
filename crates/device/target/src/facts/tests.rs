//! Facts from three recorded systems. Each is a text file that describes a small sysfs and procfs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use nandle_io::DurableWrites;
use nandle_profile::{AtomicWrite, Identity};

use super::{
    BlockDevice, DiskPart, RequestQueue, RequestQueueError, identity, machine, mounts, queue, request_queue,
    stack, uses,
};
use crate::Roots;
use crate::roots::read_text;

const NVME_LAPTOP: &str = include_str!("../../tests/fixtures/nvme-laptop.txt");
const SATA_CRYPT: &str = include_str!("../../tests/fixtures/sata-crypt.txt");
const VIRTIO_VM: &str = include_str!("../../tests/fixtures/virtio-vm.txt");

/// Creates a recorded system in a temporary directory.
fn recorded(text: &str) -> (tempfile::TempDir, Roots) {
    let directory = tempfile::tempdir().unwrap();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((path, to)) = line.split_once(" -> ") {
            symlink(to, place(directory.path(), path)).unwrap();
        } else {
            let (path, contents) = line.split_once(" = ").unwrap();
            let contents = contents.replace("\\n", "\n").replace("\\t", "\t") + "\n";
            fs::write(place(directory.path(), path), contents).unwrap();
        }
    }
    let roots = Roots::recorded(directory.path());
    (directory, roots)
}

fn place(directory: &Path, path: &str) -> std::path::PathBuf {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

#[test]
fn an_nvme_drive_is_identified_through_its_partition() {
    let (_directory, roots) = recorded(NVME_LAPTOP);
    let device = BlockDevice::find(&roots, (259, 2)).unwrap();
    assert_eq!(
        identity::identity(&roots, &device),
        Identity {
            kernel_name: Some("nvme0n1".into()),
            model: Some("Samsung SSD 980 PRO 1TB".into()),
            vendor: None,
            serial: Some("S5GXNX0T000001".into()),
            world_wide_name: Some("eui.002538b000000001".into()),
            firmware: Some("5B2QGXA7".into()),
            capacity_bytes: Some(1_000_204_886_016),
        }
    );
    assert_eq!(stack::remarks(&roots, &device), [""; 0]);
}

#[test]
fn the_queue_of_an_nvme_drive_is_read() {
    let (_directory, roots) = recorded(NVME_LAPTOP);
    let device = BlockDevice::find(&roots, (259, 2)).unwrap();
    let queue = queue::queue(&device);
    assert_eq!(queue.rotational, Some(false));
    assert_eq!(queue.scheduler, Some("none".into()));
    assert_eq!(queue.schedulers_available, ["none", "mq-deadline", "kyber"]);
    assert_eq!((queue.split_bytes, queue.requests_max), (Some(131_072), Some(1023)));
    assert_eq!((queue.merges, queue.forced_unit_access), (Some(true), Some(true)));
    assert_eq!(queue::durable_writes(&queue), DurableWrites::OneCommand);
    assert_eq!(queue::atomic_write(&device), Some(AtomicWrite { unit_bytes_min: 512, unit_bytes_max: 4096 }));
}

#[test]
fn mounts_and_swap_on_partitions_are_uses_of_the_disk() {
    let (_directory, roots) = recorded(NVME_LAPTOP);
    let all = |number| uses(&roots, &BlockDevice::find(&roots, number).unwrap());
    let boot = "nvme0n1p1 is mounted at /boot/efi";
    assert_eq!(all((259, 0)), [boot, "nvme0n1p2 is mounted at /", "nvme0n1p3 is swap space"]);
    assert_eq!(all((259, 1)), [boot], "neighbouring partitions don't count");
}

#[test]
fn an_encrypted_disk_is_reported_with_its_lower_device() {
    let (_directory, roots) = recorded(SATA_CRYPT);
    let device = BlockDevice::find(&roots, (253, 0)).unwrap();
    assert_eq!(
        identity::identity(&roots, &device),
        Identity {
            kernel_name: Some("dm-0".into()),
            model: Some("WDC WD40EFRX-68N".into()),
            vendor: Some("ATA".into()),
            serial: Some("WD-WCC7K0000001".into()),
            world_wide_name: Some("CRYPT-LUKS2-0123456789abcdef0123456789abcdef-data_crypt".into()),
            firmware: Some("0A82".into()),
            capacity_bytes: Some(7_814_004_400 * 512),
        }
    );
    assert_eq!(
        stack::remarks(&roots, &device),
        ["dm-0 (data_crypt) lies on sda1; its queue is reported, not theirs"]
    );
    let queue = queue::queue(&device);
    assert_eq!((queue.scheduler.as_deref(), queue.logical_block_bytes), (Some("none"), Some(4096)));
    assert_eq!(queue::durable_writes(&queue), DurableWrites::WriteThenFlush);
    assert_eq!(queue::atomic_write(&device), None);
}

#[test]
fn a_disk_is_used_by_devices_on_its_partitions() {
    let (_directory, roots) = recorded(SATA_CRYPT);
    let disk = BlockDevice::find(&roots, (8, 0)).unwrap();
    assert_eq!(uses(&roots, &disk), ["sda1 is part of dm-0", "dm-0 is mounted at /srv/my data"]);
}

#[test]
fn a_file_system_with_its_own_device_number_is_resolved() {
    let (_directory, roots) = recorded(VIRTIO_VM);
    assert_eq!(BlockDevice::find(&roots, (0, 27)), None);
    let mounts = mounts::parse(&read_text(&roots.proc.join("self/mountinfo")).unwrap());
    let mount = mounts::find(&mounts, Some(30), (0, 27)).unwrap();
    let device = BlockDevice::by_node(&roots, &mount.source).unwrap();
    assert_eq!(device, BlockDevice::find(&roots, (254, 0)).unwrap());
    assert_eq!(uses(&roots, &device), ["vda is mounted at /"]);
    let identity = identity::identity(&roots, &device);
    assert_eq!((identity.serial, identity.vendor), (Some("rootvol-0001".into()), None));
    assert_eq!(identity.model, Some("virtio disk".into()));
    assert_eq!(queue::durable_writes(&queue::queue(&device)), DurableWrites::OneCommand);
    assert_eq!(queue::atomic_write(&device), None, "units of 0 bytes don't count");
}

#[test]
fn a_mapped_device_is_found_by_its_name() {
    let (_directory, roots) = recorded(SATA_CRYPT);
    let device = BlockDevice::by_node(&roots, "/dev/mapper/data_crypt").unwrap();
    assert_eq!(device.name(), "dm-0");
    assert_eq!(BlockDevice::by_node(&roots, "/dev/mapper/other"), None);
    assert_eq!(BlockDevice::by_node(&roots, "tmpfs"), None);
}

/// Two SATA disks with a partition each, and devices built on them.
const DISKS: &str = "\
    sys/dev/block/8:1 -> ../../d/sda/sda1\nsys/class/block/sda1 -> ../../d/sda/sda1\n\
    sys/dev/block/8:17 -> ../../d/sdb/sdb1\nsys/class/block/sdb1 -> ../../d/sdb/sdb1\n\
    sys/d/sda/dev = 8:0\nsys/d/sda/size = 9000\nsys/d/sda/mq/0/nr_tags = 32\nsys/d/sda/queue/write_cache = write through\n\
    sys/d/sda/sda1/dev = 8:1\nsys/d/sda/sda1/partition = 1\nsys/d/sda/sda1/start = 2048\nsys/d/sda/sda1/size = 4096\n\
    sys/d/sdb/dev = 8:16\nsys/d/sdb/mq/0/nr_tags = 32\nsys/d/sdb/sdb1/dev = 8:17\nsys/d/sdb/sdb1/partition = 1\n\
    sys/dev/block/253:0 -> ../../d/dm-0\nsys/class/block/dm-0 -> ../../d/dm-0\nsys/d/dm-0/slaves/sda1/dev = 8:1\n\
    sys/dev/block/253:1 -> ../../d/dm-1\nsys/d/dm-1/slaves/dm-0/dev = 253:0\n\
    sys/dev/block/9:0 -> ../../d/md0\nsys/d/md0/slaves/sda1/dev = 8:1\nsys/d/md0/slaves/sdb1/dev = 8:17\n\
    sys/dev/block/251:0 -> ../../d/zram0\nsys/d/zram0/dev = 251:0\n";

#[test]
fn a_device_on_a_single_disk_has_that_disks_queue() {
    let (_directory, roots) = recorded(DISKS);
    let find = |number| request_queue::find(&roots, BlockDevice::find(&roots, number).unwrap());
    let part = DiskPart { name: "sda1".into(), start_bytes: 2048 * 512, length_bytes: 4096 * 512 };
    let of_sda = RequestQueue {
        disk: "sda".into(),
        number: (8, 0),
        part,
        has_volatile_cache: Some(false),
        takes_durable_writes: None,
        above: Vec::new(),
    };
    assert_eq!(find((8, 1)).unwrap(), of_sda);
    let above = ["dm-1", "dm-0"].map(str::to_owned).to_vec();
    assert_eq!(find((253, 1)).unwrap(), RequestQueue { above, ..of_sda });
    let several = find((9, 0)).unwrap_err();
    assert!(matches!(several, RequestQueueError::Several { .. }), "{several}");
    assert!(several.to_string().contains("md0 is made of /dev/sda1, /dev/sdb1"), "{several}");
    let none = find((251, 0)).unwrap_err();
    assert!(matches!(none, RequestQueueError::NoQueue { .. }), "{none}");
}

#[test]
fn virtual_machines_are_detected() {
    let machine = |text| {
        let (_directory, roots) = recorded(text);
        machine::machine(&roots)
    };
    let laptop = machine(NVME_LAPTOP);
    assert_eq!(laptop.processor, Some("11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz".into()));
    assert_eq!(laptop.memory_bytes, Some(16_096_044 * 1024));
    assert_eq!(laptop.kernel, "Linux 6.12.9-amd64");
    assert_eq!(laptop.hypervisor, None);
    assert_eq!(machine(VIRTIO_VM).hypervisor, Some("QEMU Standard PC (Q35 + ICH9, 2009)".into()));
}

#[test]
fn missing_facts_are_not_errors() {
    let (_directory, roots) = recorded("sys/dev/block/8:0 -> ../../sda\nsys/sda/dev = 8:0");
    let device = BlockDevice::find(&roots, (8, 0)).unwrap();
    assert_eq!(queue::queue(&device), nandle_profile::BlockQueue::default());
    assert_eq!(queue::durable_writes(&queue::queue(&device)), DurableWrites::Unknown);
    assert_eq!(identity::identity(&roots, &device).model, None);
    assert_eq!(uses(&roots, &device), [""; 0]);
    assert_eq!(machine::machine(&roots).memory_bytes, None);
}
