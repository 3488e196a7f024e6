//! `SQLite`: pragmas, as its documentation describes them.

use nandle_io::units::format_bytes;

use crate::figures::Figures;
use crate::rules::power_of_two_within;
use crate::settings::{Collector, Lack, Question, RuleSource, Setting};

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.add("page_size", page_size(figures));
    collector.add("journal_mode", journal_mode(figures));
    collector.add("synchronous", synchronous(figures));
    collector.add("mmap_size", mmap_size(figures));
    if let Some(memory) = question.memory_bytes {
        collector.add("cache_size", Ok(cache_size(memory)));
    }
}

fn page_size(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let block = figures.smallest_block()?;
    let value = power_of_two_within(block.value.value, 4096, 65_536);
    let rule = "the smallest block that is efficient to read at random, 4096 to 65536";
    Ok(Setting::new("page_size", value, vec![block], RuleSource::Ours, rule)
        .default("4096")
        .remark("It takes effect in a new database, or by VACUUM outside of WAL mode."))
}

/// WAL commits with one flush where the rollback journal takes several.
fn journal_mode(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let commit = figures.fastest_commit()?;
    let rule = "WAL: a commit is one flush of the log; a rollback journal flushes itself, the database and its \
                deletion";
    Ok(Setting::new("journal_mode", "WAL", vec![commit], RuleSource::Documentation, rule).default("delete"))
}

/// Never lowered for speed.
fn synchronous(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let commit = figures.fastest_commit()?;
    let rule = "FULL: every commit is durable. In WAL mode it costs one flush for each commit";
    Ok(Setting::new("synchronous", "FULL", vec![commit], RuleSource::Documentation, rule).default("FULL").remark(
        "NORMAL flushes at checkpoints alone, and loses the last commits with the power: that is for who owns the \
         data to decide, not for a measurement.",
    ))
}

fn mmap_size(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let latency = figures.random_read_latency()?;
    let rule = "0: reads through a mapping gain the copying only, which is small beside a read of the device, and a \
                read error there ends the process instead of returning an error";
    Ok(Setting::new("mmap_size", 0, vec![latency], RuleSource::Contested, rule).default("0").remark(
        "Contested: a database that fits into memory gains by it, as there are no reads of the device then.",
    ))
}

/// Negative numbers are KiB.
fn cache_size(memory_bytes: u64) -> Setting {
    let rule =
        format!("the memory that it may use ({}), in KiB as a negative number", format_bytes(memory_bytes));
    let kibibytes = (memory_bytes >> 10).min(i32::MAX as u64);
    Setting::new("cache_size", format!("-{kibibytes}"), Vec::new(), RuleSource::Documentation, rule)
        .default("-2000")
}
