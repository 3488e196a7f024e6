//! `InnoDB` settings shared by `MySQL` and `MariaDB`.

use nandle_profile::Interval;
use nandle_profile::arithmetic::map;
use nandle_units::format_bytes;

use crate::figures::Figures;
use crate::figures::words::{number, whole};
use crate::rules::{background_write_rate, power_of_two_within, random_is_expensive, written_back_bytes};
use crate::settings::{Figure, MissingFigure, RuleSource, Setting};

/// Default page size of an instance.
pub(super) const PAGE_BYTES: u64 = 16 << 10;
/// Least `innodb_io_capacity` that the server accepts.
const IO_CAPACITY_MIN: f64 = 100.0;

/// `innodb_io_capacity`.
pub(super) fn io_capacity(figures: &Figures<'_>, default: &'static str) -> Result<Setting, MissingFigure> {
    let (rate, mut seen, rule) = background_write_rate(figures)?;
    let pages = figures.steady_write_iops(PAGE_BYTES)?;
    let steady = figures.steady_write_bandwidth()?;
    // Both figures are lower bounds. If the lower bound is 0, so is the share.
    let part = if steady.value.low > 0.0 { rate / steady.value.low } else { 0.0 };
    let of_part = map(&pages.value, |rate| rate * part);
    // The upper bound is that of the steady state, because interference isn't known from above.
    let pages_per_s = Interval { high: pages.value.high, ..of_part };
    // The figure of pages includes the steady state.
    seen.retain(|figure| figure.key != steady.key);
    seen.push(pages);
    let rule = format!(
        "{rule}; in pages of {}. The documentation advises a value as low as practical",
        format_bytes(PAGE_BYTES)
    );
    let then = "background flushing will exceed the rate that leaves reads undisturbed";
    Ok(capacity("innodb_io_capacity", &pages_per_s, (seen, rule, then), default))
}

pub(super) fn io_capacity_max(
    figures: &Figures<'_>,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_iops(PAGE_BYTES)?;
    let pages_per_s = steady.value;
    let rule = "the lower bound of the steady state: a faster burst can't be sustained and delays reads";
    let then = "InnoDB assumes a faster device than this one when it flushes aggressively";
    Ok(capacity("innodb_io_capacity_max", &pages_per_s, (vec![steady], rule.into(), then), default))
}

/// Sets the lower bound of the page rate, or the server's minimum with a remark on its consequence.
fn capacity(
    name: &'static str,
    pages_per_s: &Interval<f64>,
    (seen, rule, then): (Vec<Figure>, String, &str),
    default: &'static str,
) -> Setting {
    let value = whole(pages_per_s.low.max(IO_CAPACITY_MIN));
    let setting = Setting::new(name, value, seen, RuleSource::Ours, rule).default(default);
    let setting = if default.parse().is_ok_and(|default: f64| pages_per_s.high < default) {
        setting.surely_below_default()
    } else {
        setting
    };
    if pages_per_s.low >= IO_CAPACITY_MIN {
        return setting;
    }
    setting.remark(format!(
        "The rule gives {} here, but the server's minimum is {IO_CAPACITY_MIN:.0}: {then}.",
        number(pages_per_s.low)
    ))
}

/// `innodb_lru_scan_depth`: pages per second that each buffer pool instance scans for free ones.
pub(super) fn lru_scan_depth(
    figures: &Figures<'_>,
    default: &'static str,
    most: u64,
    has_instances: bool,
) -> Result<Setting, MissingFigure> {
    let (rate, seen, _) = background_write_rate(figures)?;
    let pages_per_s = rate / PAGE_BYTES as f64;
    let value = whole(pages_per_s).clamp(100, most);
    let rule = format!(
        "pages of 16 KiB that the device writes per second without disturbing reads, from 100 \
        (the server's minimum) to the default. The scan for free pages flushes the dirty pages it \
        finds, so a deeper scan exceeds what the device can write{}",
        if has_instances { "; each buffer pool instance scans to this depth" } else { "" }
    );
    // The documentation advises a low value for a device that is busy writing; the number is ours.
    Ok(Setting::new("innodb_lru_scan_depth", value, seen, RuleSource::Ours, rule).default(default))
}

/// `innodb_read_io_threads` and `innodb_write_io_threads`.
pub(super) fn io_threads(
    name: &'static str,
    figures: &Figures<'_>,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    /// "Each background thread can handle up to 256 pending I/O requests" (`MySQL` 8.4 Reference
    /// Manual, 17.8.5).
    const OUTSTANDING: f64 = 256.0;
    /// Default and maximum (the same page).
    const THREADS: (u64, u64) = (4, 64);
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let threads = figures.submitting_threads();
    let needed = threads.as_ref().map_or(1.0, |threads| threads.value.value);
    let value = whole((knee.value.value / OUTSTANDING).ceil().max(needed)).clamp(THREADS.0, THREADS.1);
    let rule = "enough threads for the knee, 4 to 64: with innodb_use_native_aio each thread \
        keeps up to 256 requests outstanding, so threads don't limit the depth. If it was \
        measured, enough threads for the device's peak rate";
    let source = if threads.is_some() { RuleSource::Ours } else { RuleSource::Documentation };
    let seen = std::iter::once(knee).chain(threads).collect();
    let setting = Setting::new(name, value, seen, source, rule).default(default);
    Ok(if value > THREADS.0 { setting } else { setting.shown_only("the default suffices") })
}

/// Redo log size, under the server's name for it.
pub(super) fn redo_size(
    name: &'static str,
    figures: &Figures<'_>,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    /// Least and greatest size: the hourly log of a busy server, and a log that recovers within
    /// minutes.
    const BYTES: (u64, u64) = (1 << 30, 64 << 30);
    let (rate, seen, background) = background_write_rate(figures)?;
    let megabytes = written_back_bytes(rate).clamp(BYTES.0, BYTES.1) >> 20;
    let rule = format!(
        "the log volume of the busiest hour: pages that change often are then written back less \
        often, which saves more the more expensive random writes are. The value shown is what the \
        device writes back in five minutes, 1 GiB to 64 GiB. A longer log leaves more to write \
        back at once when it is full, and takes longer to recover. Write-back is assumed at \
        {background}"
    );
    Ok(Setting::new(name, format!("{megabytes}M"), seen, RuleSource::Ours, rule)
        .default(default)
        .remark(
            "To measure the log volume: the growth of Innodb_os_log_written (SHOW GLOBAL \
            STATUS) in an hour.",
        )
        .shown_only("it depends on the workload"))
}

const NEIGHBORS_CONTESTED: &str = "Contested: 0 is customary for solid-state drives. 1 writes \
    more pages; try both if the drive wears out.";

/// `innodb_flush_neighbors`.
pub(super) fn flush_neighbors(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let random = figures.random_by_sequential_write()?;
    let expensive = random_is_expensive(&random);
    let (value, rule) = if expensive {
        (
            1,
            "1: random writes are much more expensive than sequential ones here, so dirty \
            neighbours are flushed along with a page",
        )
    } else {
        (
            0,
            "0: random writes are not surely more than 4 times as expensive as sequential ones, \
            so each page is flushed alone",
        )
    };
    // The documentation distinguishes disks from other devices; the ratio is ours.
    let setting = Setting::new("innodb_flush_neighbors", value, vec![random], RuleSource::Ours, rule);
    Ok(if expensive { setting.remark(NEIGHBORS_CONTESTED) } else { setting })
}

/// Page sizes of an instance, from the default down.
const PAGES_BYTES: [u64; 3] = [PAGE_BYTES, 8 << 10, 4 << 10];
/// Least gain that justifies a smaller page. Some gain exists on any device, because the transfer
/// takes time.
const SMALLER_PAGE_GAIN: f64 = 1.25;

/// `innodb_page_size`, which can be set for new instances only.
pub(super) fn page_size(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let costs: Vec<Figure> =
        PAGES_BYTES.iter().map(|bytes| figures.random_write_of(*bytes)).collect::<Result<_, _>>()?;
    let mut chosen = PAGE_BYTES;
    let mut least = costs.first().map_or(f64::INFINITY, |cost| cost.value.low);
    for (bytes, cost) in PAGES_BYTES.iter().zip(&costs).skip(1) {
        if cost.value.high * SMALLER_PAGE_GAIN <= least {
            (chosen, least) = (*bytes, cost.value.low);
        }
    }
    let rule = if chosen == PAGE_BYTES {
        "the default: no smaller page is surely a quarter cheaper to write here, and a larger \
        page holds more rows"
    } else {
        "the largest page that no smaller one beats by a quarter of the write cost for sure: less \
        is written per row"
    };
    Ok(Setting::new("innodb_page_size", chosen, costs, RuleSource::Ours, rule)
        .default("16384")
        .remark("Small pages suit small rows in point lookups; large pages suit scans and long rows.")
        .shown_only("an instance keeps the page size that it was initialised with"))
}

/// `innodb_log_write_ahead_size`, between `least` and the server's maximum.
pub(super) fn log_write_ahead_size(
    figures: &Figures<'_>,
    least: u64,
    greatest: u64,
) -> Result<Setting, MissingFigure> {
    let block = figures.smallest_write()?;
    let value = power_of_two_within(block.value.value, least, greatest);
    let rule = format!(
        "the device's smallest block, at least {}, so that appending to the log needs no read",
        format_bytes(least)
    );
    Ok(Setting::new("innodb_log_write_ahead_size", value, vec![block], RuleSource::Documentation, rule))
}

/// `innodb_flush_method`.
pub(super) fn flush_method(figures: &Figures<'_>) -> Option<Setting> {
    let direct = figures.direct();
    let rule = "bypass the page cache if direct I/O works: pages are cached once, in the buffer \
        pool";
    (direct.value.value > 0.0).then(|| {
        Setting::new("innodb_flush_method", "O_DIRECT", vec![direct], RuleSource::Documentation, rule)
    })
}

/// `innodb_doublewrite`, never off for speed.
pub(super) fn doublewrite(figures: &Figures<'_>) -> Setting {
    let rule = format!(
        "on: turn it off only if writes of a page ({}) are proven never to tear on the whole path \
        to the medium; never for speed",
        format_bytes(PAGE_BYTES)
    );
    Setting::new(
        "innodb_doublewrite",
        "ON",
        vec![figures.atomic_write_unit()],
        RuleSource::Documentation,
        rule,
    )
    .device_independent()
    .default("ON")
    .protecting_data()
}

/// `innodb_buffer_pool_size`, with the share of memory that the server's documentation advises.
pub(super) fn buffer_pool_size(memory_bytes: u64, documented: &str) -> Setting {
    let megabytes = ((memory_bytes / 8 * 5) >> 20).max(5);
    let rule = format!(
        "five eighths of the memory available to the server ({}): {documented}",
        format_bytes(memory_bytes)
    );
    Setting::new(
        "innodb_buffer_pool_size",
        format!("{megabytes}M"),
        Vec::<Figure>::new(),
        RuleSource::Documentation,
        rule,
    )
    .device_independent()
    .default("128M")
}
