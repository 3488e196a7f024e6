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
        "{rule}; in pages of {}, and the documentation wants it as low as is practical",
        format_bytes(PAGE_BYTES)
    );
    let then = "flushing in the background will ask more of this device than leaves its reads alone";
    Ok(capacity("innodb_io_capacity", &pages_per_s, (seen, rule, then), default))
}

pub(super) fn io_capacity_max(
    figures: &Figures<'_>,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_iops(PAGE_BYTES)?;
    let pages_per_s = steady.value;
    let rule =
        "the steady state, as far as it is sure: a greater burst can't be kept up, and reads wait for it";
    let then = "InnoDB takes this device for faster than it is when it hurries";
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
        "The rule gives {} here, and the server takes no less than {IO_CAPACITY_MIN:.0}: {then}.",
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
        "pages of 16 KiB that the device writes in a second beside reads, from 100, the least that the server takes, to the default: \
         dirty pages that the search for free ones finds are written, so a deeper search asks for more than the device has left{}",
        if has_instances { "; each instance of the buffer pool searches so deep" } else { "" }
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
    let rule = "as many as the knee needs, 4 to 64: with innodb_use_native_aio each has up to 256 requests outstanding, so \
                they don't bound the depth; and, where that was measured, as many threads as the device's rate takes";
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
        "as much as is logged in an hour of the busiest kind: a page that is changed again and again is then written home less often, \
         which saves the more, the more random writes cost. What is shown is what the device writes back in five minutes, 1 GiB to 64 \
         GiB: a longer log leaves more to be written at once when it is full, and more for recovery. The device is taken to write \
         back at {background}"
    );
    Ok(Setting::new(name, format!("{megabytes}M"), seen, RuleSource::Ours, rule)
        .default(default)
        .remark("How much is logged: the growth of Innodb_os_log_written (SHOW GLOBAL STATUS) in an hour.")
        .shown_only("the workload decides it"))
}

const NEIGHBORS_CONTESTED: &str = "Contested: 0 is the custom for solid-state drives. It writes more pages; try both \
     where the drive wears.";

/// `innodb_flush_neighbors`.
pub(super) fn flush_neighbors(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let random = figures.random_by_sequential_write()?;
    let expensive = random_is_expensive(&random);
    let (value, rule) = if expensive {
        (
            1,
            "1: random writes are much more expensive than sequential ones here, so a page takes its dirty neighbours along",
        )
    } else {
        (
            0,
            "0: random writes are not surely more expensive than 4 times sequential ones, so each page is written alone",
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
        "the default: no smaller page is surely a quarter cheaper to write here, and a larger one holds more rows"
    } else {
        "the page from which on no smaller one is surely a quarter cheaper to write: less is written for each row"
    };
    Ok(Setting::new("innodb_page_size", chosen, costs, RuleSource::Ours, rule)
        .default("16384")
        .remark(
            "Small pages suit small rows that are sought one by one; scans and long rows want large ones.",
        )
        .shown_only("an instance keeps the page size with which it was initialised"))
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
        "the device's smallest block, {} at least, so that appending to the log reads nothing first",
        format_bytes(least)
    );
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

/// `innodb_doublewrite`, never off for speed.
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
    .device_independent()
    .default("ON")
    .protecting_data()
}

/// `innodb_buffer_pool_size`, with the share of memory that the server's documentation advises.
pub(super) fn buffer_pool_size(memory_bytes: u64, documented: &str) -> Setting {
    let megabytes = ((memory_bytes / 8 * 5) >> 20).max(5);
    let rule =
        format!("five eighths of the memory that it may use ({}): {documented}", format_bytes(memory_bytes));
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
