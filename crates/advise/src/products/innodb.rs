//! `InnoDB`, as `MySQL` and `MariaDB` share it.

use nandle_io::units::format_bytes;

use crate::figures::Figures;
use crate::figures::words::whole;
use crate::rules::{background_write_rate, power_of_two_within, random_is_dear};
use crate::settings::{Figure, Lack, RuleSource, Setting};

/// The page that instances have unless they were initialised otherwise.
pub(super) const PAGE_BYTES: u64 = 16 << 10;
/// The least `innodb_io_capacity`.
const IO_CAPACITY_MIN: f64 = 100.0;

/// `innodb_io_capacity` and `innodb_io_capacity_max`.
pub(super) fn io_capacity(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let (rate, mut seen, rule) = background_write_rate(figures)?;
    let pages = figures.steady_write_iops(PAGE_BYTES)?;
    let steady = figures.steady_write_bandwidth()?;
    let pages_per_s = pages.value.value * rate / steady.value.value;
    // The pages' figure says the steady state itself.
    seen.retain(|figure| figure.key != steady.key);
    seen.push(pages);
    let rule = format!(
        "{rule}, in pages of {}; the documentation wants it as low as is practical",
        format_bytes(PAGE_BYTES)
    );
    Ok(capacity("innodb_io_capacity", pages_per_s, seen, rule))
}

pub(super) fn io_capacity_max(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let steady = figures.steady_write_iops(PAGE_BYTES)?;
    let pages_per_s = steady.value.value;
    let rule = "the steady state: a greater burst can't be kept up, and reads wait for it";
    Ok(capacity("innodb_io_capacity_max", pages_per_s, vec![steady], rule.into()))
}

/// A number of pages a second, or the least that the server takes, and then with what that means.
fn capacity(name: &'static str, pages_per_s: f64, seen: Vec<Figure>, rule: String) -> Setting {
    let value = whole(pages_per_s.max(IO_CAPACITY_MIN));
    let setting = Setting::new(name, value, seen, RuleSource::Ours, rule);
    if pages_per_s >= IO_CAPACITY_MIN {
        return setting;
    }
    setting.remark(format!(
        "The rule gives {pages_per_s:.0} here, and the server takes no less than {IO_CAPACITY_MIN:.0}: flushing in the \
         background will ask more of this device than leaves its reads alone."
    ))
}

/// `innodb_flush_neighbors`.
pub(super) fn flush_neighbors(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let random = figures.random_by_sequential_write()?;
    let dear = random_is_dear(&random);
    let (value, rule) = if dear {
        (
            1,
            "1: random writes are much dearer than sequential ones here, so a page takes its dirty neighbours along",
        )
    } else {
        (
            0,
            "0: random writes are not surely dearer than 4 times sequential ones, so each page is written alone",
        )
    };
    Ok(Setting::new("innodb_flush_neighbors", value, vec![random], RuleSource::Documentation, rule))
}

/// `innodb_page_size`, which only a new instance takes.
pub(super) fn page_size(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let block = figures.smallest_block()?;
    let value = power_of_two_within(block.value.value, 4 << 10, PAGE_BYTES);
    let rule = "near the device's smallest real block, 4096 to 16384: less is read and written for each row";
    Ok(Setting::new("innodb_page_size", value, vec![block], RuleSource::Documentation, rule)
        .default("16384")
        .remark(
            "Small pages suit small rows that are sought one by one; scans and long rows want large ones.",
        )
        .shown_only("an instance keeps the page size with which it was initialised"))
}

/// `innodb_log_write_ahead_size`.
pub(super) fn log_write_ahead_size(figures: &Figures<'_>, greatest: u64) -> Result<Setting, Lack> {
    let block = figures.smallest_write()?;
    let value = power_of_two_within(block.value.value, 512, greatest);
    let rule = "the device's smallest block, so that appending to the log reads nothing first";
    Ok(Setting::new("innodb_log_write_ahead_size", value, vec![block], RuleSource::Documentation, rule))
}

/// `innodb_flush_method`.
pub(super) fn flush_method(figures: &Figures<'_>) -> Option<Setting> {
    let direct = figures.direct();
    let rule = "around the page cache, where that works: pages are cached once, in the buffer pool";
    (direct.value.value > 0.0).then(|| {
        Setting::new("innodb_flush_method", "O_DIRECT", vec![direct], RuleSource::Documentation, rule)
    })
}

/// `innodb_doublewrite`: never off for speed.
pub(super) fn doublewrite(figures: &Figures<'_>) -> Setting {
    let rule = format!(
        "on: off only where writes of a page ({}) are proven never to tear, on the whole way to the medium; never for \
         speed",
        format_bytes(PAGE_BYTES)
    );
    Setting::new(
        "innodb_doublewrite",
        "ON",
        vec![figures.atomic_write_unit()],
        RuleSource::Documentation,
        rule,
    )
    .default("ON")
}

/// `innodb_buffer_pool_size`: documentation of both, 50 to 75 per cent of a dedicated server's memory.
pub(super) fn buffer_pool_size(memory_bytes: u64) -> Setting {
    let megabytes = ((memory_bytes / 8 * 5) >> 20).max(5);
    let rule = format!(
        "five eighths of the memory that it may use ({}): the middle of the documentation's 50 to 75 %",
        format_bytes(memory_bytes)
    );
    Setting::new(
        "innodb_buffer_pool_size",
        format!("{megabytes}M"),
        Vec::<Figure>::new(),
        RuleSource::Documentation,
        rule,
    )
    .default("128M")
}
