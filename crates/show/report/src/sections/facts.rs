use maud::{Markup, html};
use nandle_profile::{BlockQueue, DeviceProfile, FileSystem, Identity, MachineFacts, SystemFacts};

use super::Level;
use super::fold::{anchor_of, fold};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Row of the table; `None` if the system doesn't report the fact.
type Fact = (&'static str, Option<String>);

/// Facts that the system reports about the device; none of them is measured.
pub(crate) fn facts(device: &Device, level: Level) -> Markup {
    let profile = device.profile;
    let body = html! {
        div.facts {
            p.aside { "Reported by the system, or by the drive's model; none of it is measured." }
            div.fact-groups {
                @for (title, facts) in groups(profile) {
                    div.scroll tabindex="0" role="region" aria-label=(title) {
                        table.fact-table {
                            caption { (title) }
                            tbody { @for (name, value) in facts { (row(name, value)) } }
                        }
                    }
                }
            }
        }
    };
    fold(&anchor_of("facts", device, level), "What the system reports", level, &body)
}

fn row(name: &str, value: Option<String>) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            @match value {
                Some(value) => td { bdi { (text::clean(&value)) } },
                None => td.none { "not stated" },
            }
        }
    }
}

fn groups(profile: &DeviceProfile) -> Vec<(&'static str, Vec<Fact>)> {
    let system = &profile.system;
    let absent = |what| vec![(what, None)];
    vec![
        ("Device", identity(&profile.identity)),
        ("Block queue", system.queue.as_ref().map_or_else(|| absent("Queue"), queue)),
        ("Limits", limits(system)),
        ("File system", system.file_system.as_ref().map_or_else(|| absent("File system"), file_system)),
        ("Machine", machine(&system.machine)),
    ]
}

fn size(bytes: Option<u64>) -> Option<String> {
    bytes.map(|bytes| Quantity::size(bytes).to_string())
}

fn number(number: Option<u64>) -> Option<String> {
    number.map(|number| text::plain(number).to_string())
}

fn yes_no(fact: Option<bool>) -> Option<String> {
    fact.map(|fact| if fact { "yes" } else { "no" }.to_owned())
}

fn list(list: &[String]) -> Option<String> {
    (!list.is_empty()).then(|| list.join(", "))
}

fn identity(identity: &Identity) -> Vec<Fact> {
    vec![
        ("Model", identity.model.clone()),
        ("Vendor", identity.vendor.clone()),
        ("Serial number", identity.serial.clone()),
        ("World-wide name", identity.world_wide_name.clone()),
        ("Firmware", identity.firmware.clone()),
        ("Capacity", size(identity.capacity_bytes)),
        ("Kernel name at the time", identity.kernel_name.clone()),
    ]
}

fn queue(queue: &BlockQueue) -> Vec<Fact> {
    vec![
        ("Rotational", yes_no(queue.rotational)),
        ("Scheduler", queue.scheduler.clone()),
        ("Schedulers available", list(&queue.schedulers_available)),
        ("Logical block", size(queue.logical_block_bytes)),
        ("Physical block", size(queue.physical_block_bytes)),
        ("Smallest efficient request", size(queue.minimum_io_bytes)),
        ("Preferred request", size(queue.optimal_io_bytes)),
        ("Largest request (kernel)", size(queue.split_bytes)),
        ("Largest request (hardware)", size(queue.hardware_split_bytes)),
        ("Segments of a request", number(queue.segments_max)),
        ("Requests queued", number(queue.requests_max)),
        ("Read-ahead", size(queue.read_ahead_bytes)),
        ("Write cache", queue.write_cache.clone()),
        ("Forced unit access", yes_no(queue.forced_unit_access)),
        ("Discard granularity", size(queue.discard_granularity_bytes)),
        ("Largest discard", size(queue.discard_bytes_max)),
        ("Writeback throttle target", queue.writeback_throttle_latency_us.map(|us| format!("{us} µs"))),
        ("Merges requests", yes_no(queue.merges)),
    ]
}

fn limits(system: &SystemFacts) -> Vec<Fact> {
    let atomic = system.atomic_write.map(|unit| {
        format!("{} to {}", Quantity::size(unit.unit_bytes_min), Quantity::size(unit.unit_bytes_max))
    });
    vec![
        ("Atomic write unit", atomic),
        ("Direct I/O memory alignment", size(system.direct_memory_alignment_bytes)),
        ("Direct I/O offset alignment", size(system.direct_offset_alignment_bytes)),
        ("DMA alignment mask", number(system.queue.as_ref().and_then(|queue| queue.dma_alignment_mask))),
    ]
}

fn file_system(file_system: &FileSystem) -> Vec<Fact> {
    vec![
        ("Type", Some(file_system.kind.clone())),
        ("Mounted from", Some(file_system.source.clone())),
        ("Mounted at", Some(file_system.mount_point.clone())),
        ("Options", list(&file_system.options)),
        ("Size", size(file_system.capacity_bytes)),
        ("Available", size(file_system.available_bytes)),
    ]
}

fn machine(machine: &MachineFacts) -> Vec<Fact> {
    let kernel = machine.kernel.trim();
    vec![
        ("Processor", machine.processor.clone()),
        ("Processors usable", number(Some(u64::from(machine.processors)).filter(|number| *number > 0))),
        ("Memory", size(machine.memory_bytes)),
        ("Kernel", (!kernel.is_empty()).then(|| kernel.to_owned())),
        ("Hypervisor", machine.hypervisor.clone()),
    ]
}
