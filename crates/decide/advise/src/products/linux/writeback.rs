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
    collector.part("# The page cache of the whole machine, every device of it.");
    collector.add("vm.dirty_background_bytes", background(figures));
    collector.add("vm.dirty_bytes", most(figures));
}

/// Bytes that the device surely writes back at random within a second, rounded to a power of two.
fn background_bytes(bytes_per_s: f64) -> u64 {
    power_of_two_within(bytes_per_s / 2.0, BACKGROUND_BYTES.0, BACKGROUND_BYTES.1)
}

fn background(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_bandwidth()?;
    let value = background_bytes(steady.value.low);
    let rule = format!(
        "what the device surely writes at random in half a second to a second, 16 MiB to 1 GiB: a database's fsync waits for what \
         its files have in the page cache, and no flush is to find minutes of it. What is set takes {}",
        write_back_time(value, &steady)
    );
    Ok(Setting::new("/proc/sys/vm/dirty_background_bytes", value, vec![steady], RuleSource::Ours, rule)
        .default("0: 10 % of the available memory")
        .remark("It holds for all devices of the machine: set it by the one that the database is on."))
}

fn most(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_bandwidth()?;
    let value = ROOM * background_bytes(steady.value.low);
    let rule = format!(
        "four times vm.dirty_background_bytes: from there on a writer waits for the device, so that no more than that is ever owed to \
         it, which takes {}",
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
        "a time of random writing that isn't clear".to_owned()
    }
}
