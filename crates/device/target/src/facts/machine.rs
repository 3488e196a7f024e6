//! Facts about the machine.

use nandle_profile::MachineFacts;
use rustix::thread::sched_getaffinity;

use crate::roots::{Roots, read_text};

/// Reads the facts about the machine.
pub(super) fn machine(roots: &Roots) -> MachineFacts {
    let proc = |name: &str| read_text(&roots.proc.join(name));
    let cpuinfo = proc("cpuinfo").unwrap_or_default();
    let kernel = [proc("sys/kernel/ostype"), proc("sys/kernel/osrelease")];
    MachineFacts {
        processor: field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model")),
        processors: sched_getaffinity(None).map_or(1, |set| set.count()),
        memory_bytes: proc("meminfo").and_then(|text| memory_bytes(&text)),
        kernel: kernel.into_iter().flatten().collect::<Vec<_>>().join(" "),
        hypervisor: hypervisor(roots, &cpuinfo),
    }
}

/// Value of `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Hypervisor of a virtual machine: the firmware's names, or an unnamed one if only the processor
/// reports it.
fn hypervisor(roots: &Roots, cpuinfo: &str) -> Option<String> {
    let xen = read_text(&roots.sys.join("hypervisor/type"));
    let dmi = |name: &str| read_text(&roots.sys.join("class/dmi/id").join(name));
    let is_virtual =
        field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let names: Vec<String> = [dmi("sys_vendor"), dmi("product_name")].into_iter().flatten().collect();
    match (xen, is_virtual, names.join(" ")) {
        (None, false, _) => None,
        (Some(xen), _, names) if names.is_empty() => Some(xen),
        (None, true, names) if names.is_empty() => Some("unnamed hypervisor".into()),
        (_, _, names) => Some(names),
    }
}
