use nandle_profile::{Conducted, Experiments};

use crate::device::Device;
use crate::sections::Missing;
use crate::text;

/// Which of these experiments have no result on a device, each with the reason.
pub(super) fn missing(device: &Device, names: &[&str]) -> Vec<Missing> {
    let found = &device.profile.experiments;
    let absent = absent(found);
    let why = |name: &str| {
        let skipped = found.skipped.iter().find(|skipped| skipped.name == name);
        skipped.map_or_else(
            || "this profile does not have it; a probe with a larger --budget, on a target that may be written to, does.".to_owned(),
            |skipped| format!("{}.", text::clean(&skipped.reason).trim_end_matches('.')),
        )
    };
    let absent = names.iter().filter(|name| absent.contains(name));
    absent.map(|name| Missing { what: (*name).to_owned(), why: why(name) }).collect()
}

fn absent(found: &Experiments) -> Vec<&'static str> {
    fn is_there<T>(conducted: Option<&Conducted<T>>) -> bool {
        conducted.is_some()
    }
    let all = [
        ("write-patterns", is_there(found.write_patterns.as_ref())),
        ("large-writes", is_there(found.large_writes.as_ref())),
        ("flush", is_there(found.flush.as_ref())),
        ("write-cache", is_there(found.write_cache.as_ref())),
        ("steady-state", is_there(found.steady_state.as_ref())),
        ("fill-level", is_there(found.fill_level.as_ref())),
        ("interference", is_there(found.interference.as_ref())),
        ("smallest-block", is_there(found.smallest_block.as_ref())),
        ("atomic-write", is_there(found.atomic_write.as_ref())),
        ("discard", is_there(found.discard.as_ref())),
        ("read-ahead", is_there(found.read_ahead.as_ref())),
        ("scaling", is_there(found.scaling.as_ref())),
        ("array-layout", is_there(found.array_layout.as_ref())),
        ("sync-reads", is_there(found.sync_reads.as_ref())),
    ];
    all.into_iter().filter(|(_, there)| !there).map(|(name, _)| name).collect()
}
