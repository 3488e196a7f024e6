//! Expressions for the kernel's event filters.

use nandle_target::facts::RequestQueue;

const SECTOR_BYTES: u64 = 512;
/// Bits of the minor number within a device number, as trace events encode it.
const MINOR_BITS: u32 = 20;

/// Selects a disk's requests; for a partition, those within it and the whole disk's flushes.
pub(super) fn of_queue(queue: &RequestQueue) -> String {
    let (major, minor) = queue.number;
    let disk = format!("dev == {}", major << MINOR_BITS | minor);
    if queue.part.name == queue.disk {
        return disk;
    }
    let start = queue.part.start_bytes / SECTOR_BYTES;
    let end = start + queue.part.length_bytes / SECTOR_BYTES;
    format!("{disk} && (nr_sector == 0 || (sector >= {start} && sector < {end}))")
}

#[cfg(test)]
mod tests {
    use nandle_target::facts::DiskPart;

    use super::*;

    #[test]
    fn a_partition_is_a_range_of_its_disk() {
        let part = DiskPart { name: "vda".into(), start_bytes: 0, length_bytes: 1 << 30 };
        let disk = RequestQueue {
            disk: "vda".into(),
            number: (254, 0),
            part,
            has_volatile_cache: None,
            takes_durable_writes: None,
            above: Vec::new(),
        };
        assert_eq!(of_queue(&disk), "dev == 266338304");
        let part = DiskPart { name: "vda2".into(), start_bytes: 1 << 20, length_bytes: 4 << 20 };
        let partition = RequestQueue { number: (254, 16), part, ..disk };
        assert_eq!(
            of_queue(&partition),
            "dev == 266338320 && (nr_sector == 0 || (sector >= 2048 && sector < 10240))"
        );
    }
}
