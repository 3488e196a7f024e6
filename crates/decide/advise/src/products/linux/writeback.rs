use crate::figures::Figures;
use crate::figures::words::time;
use crate::rules::power_of_two_within;
use crate::settings::{Collector, Figure, MissingFigure, RuleSource, Setting};

/// Bounds of `vm.dirty_background_bytes`. Below, too few requests are written back at once to be
/// ordered; the upper bound is the default of machines with a few gigabytes.
const BACKGROUND_BYTES: (u64, u64) = (16 << 20, 1 << 30);
/// Ratio of `vm.dirty_bytes` to `vm.dirty_background_bytes`.
const ROOM: u64 = 4;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    collector.part("# Page cache of the whole machine, for all devices.");
    collector.add("vm.dirty_background_bytes", dirty_background_bytes(figures));
    collector.add("vm.dirty_bytes", dirty_bytes(figures));
}

/// Bytes that the device surely writes back at random within a second, rounded to a power of two.
fn background_bytes(bytes_per_s: f64) -> u64 {
    power_of_two_within(bytes_per_s / 2.0, BACKGROUND_BYTES.0, BACKGROUND_BYTES.1)
}

fn dirty_background_bytes(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_bandwidth()?;
    let value = background_bytes(steady.value.low);
    let rule = format!(
        "the random writes that the device surely completes in half a second to a second, 16 MiB \
        to 1 GiB: a database's fsync waits for its files' dirty pages, which shouldn't take \
        minutes. Writing back this value takes {}",
        write_back_time(value, &steady)
    );
    Ok(Setting::new("/proc/sys/vm/dirty_background_bytes", value, vec![steady], RuleSource::Ours, rule)
        .default("0: 10 % of the available memory")
        .remark(
            "It applies to all devices of the machine: choose the value for the database's \
            device.",
        ))
}

fn dirty_bytes(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_bandwidth()?;
    let value = ROOM * background_bytes(steady.value.low);
    let rule = format!(
        "four times vm.dirty_background_bytes: above it writers wait for the device, so no more \
        dirty data accumulates. Writing it back takes {}",
        write_back_time(value, &steady)
    );
    Ok(Setting::new("/proc/sys/vm/dirty_bytes", value, vec![steady], RuleSource::Ours, rule)
        .default("0: 20 % of the available memory"))
}

/// Longest time to write `bytes` at random, in words.
fn write_back_time(bytes: u64, steady: &Figure) -> String {
    if steady.value.low > 0.0 {
        format!("up to {} of random writing", time(1e9 * bytes as f64 / steady.value.low))
    } else {
        "an unclear time of random writing".to_owned()
    }
}
