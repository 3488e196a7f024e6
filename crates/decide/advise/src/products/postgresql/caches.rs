//! Use of memory.

use nandle_units::format_bytes;

use crate::settings::{Collector, Question, RuleSource, Setting};

pub(super) fn collect(question: &Question, collector: &mut Collector) {
    if let Some(memory) = question.memory_bytes {
        collector.add("shared_buffers", Ok(shared_buffers(memory)));
        collector.add("effective_cache_size", Ok(effective_cache_size(memory)));
    }
}

/// "A reasonable starting value for `shared_buffers` is 25 % of the memory" (documentation,
/// Resource Consumption).
fn shared_buffers(memory_bytes: u64) -> Setting {
    let megabytes = ((memory_bytes / 4) >> 20).max(1);
    let rule = format!("a quarter of the memory available to the server ({})", format_bytes(memory_bytes));
    Setting::new("shared_buffers", format!("{megabytes}MB"), Vec::new(), RuleSource::Documentation, rule)
        .device_independent()
        .default("128MB")
}

/// The planner's estimate of cached data, in the server and the kernel. It reserves no memory.
fn effective_cache_size(memory_bytes: u64) -> Setting {
    let megabytes = ((memory_bytes / 4 * 3) >> 20).max(1);
    let rule = format!(
        "three quarters of the memory available to the server ({}): shared_buffers and the \
        kernel's cache of its files",
        format_bytes(memory_bytes)
    );
    Setting::new("effective_cache_size", format!("{megabytes}MB"), Vec::new(), RuleSource::Ours, rule)
        .device_independent()
        .default("4GB")
}
