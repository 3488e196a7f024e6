//! Facts from `/sys/block/…/queue`.

use nandle_io::DurableWrites;
use nandle_profile::{AtomicWrite, BlockQueue};

use super::BlockDevice;

/// Reads the queue parameters of a device.
pub(super) fn queue(device: &BlockDevice) -> BlockQueue {
    let text = |name: &str| device.disk_text(&format!("queue/{name}"));
    let number = |name: &str| device.disk_number(&format!("queue/{name}"));
    let flag = |name: &str| number(name).map(|value| value != 0);
    let kib = |name: &str| number(name)?.checked_mul(1024);
    let (scheduler, schedulers_available) =
        text("scheduler").map_or((None, Vec::new()), |line| schedulers(&line));
    BlockQueue {
        rotational: flag("rotational"),
        scheduler,
        schedulers_available,
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        minimum_io_bytes: number("minimum_io_size"),
        optimal_io_bytes: number("optimal_io_size"),
        split_bytes: kib("max_sectors_kb"),
        hardware_split_bytes: kib("max_hw_sectors_kb"),
        segments_max: number("max_segments"),
        requests_max: number("nr_requests"),
        read_ahead_bytes: kib("read_ahead_kb"),
        write_cache: text("write_cache"),
        forced_unit_access: flag("fua"),
        dma_alignment_mask: number("dma_alignment"),
        discard_granularity_bytes: number("discard_granularity"),
        discard_bytes_max: number("discard_max_bytes"),
        writeback_throttle_latency_us: number("wbt_lat_usec"),
        merges: number("nomerges").map(|value| value == 0),
    }
}

/// Parses the active scheduler and all available ones: `none [mq-deadline] kyber`. A device without
/// a choice only lists `none`.
fn schedulers(line: &str) -> (Option<String>, Vec<String>) {
    let names: Vec<&str> = line.split_whitespace().collect();
    let chosen = names.iter().find_map(|name| name.strip_prefix('[')?.strip_suffix(']'));
    let chosen = chosen.or(match names.as_slice() {
        [only] => Some(*only),
        _ => None,
    });
    let available = names.iter().map(|name| name.trim_matches(['[', ']']).to_owned()).collect();
    (chosen.map(Into::into), available)
}

/// Way to make a write durable. One command suffices without a volatile cache or with forced unit
/// access.
pub(super) fn durable_writes(queue: &BlockQueue) -> DurableWrites {
    match (queue.write_cache.as_deref(), queue.forced_unit_access) {
        (Some("write through"), _) | (_, Some(true)) => DurableWrites::OneCommand,
        (None, None) => DurableWrites::Unknown,
        _ => DurableWrites::WriteThenFlush,
    }
}

/// Atomic write units of the device itself, if any.
pub(super) fn atomic_write(device: &BlockDevice) -> Option<AtomicWrite> {
    let unit_bytes_min = device.disk_number("queue/atomic_write_unit_min_bytes")?;
    let unit_bytes_max = device.disk_number("queue/atomic_write_unit_max_bytes")?;
    (unit_bytes_max > 0).then_some(AtomicWrite { unit_bytes_min, unit_bytes_max })
}
