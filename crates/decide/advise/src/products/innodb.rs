//! `InnoDB`, as `MySQL` and `MariaDB` share it.

use nandle_units::format_bytes;

use crate::figures::Figures;
use crate::figures::words::{number, whole};
use crate::rules::{background_write_rate, power_of_two_within, random_is_expensive, written_back_bytes};
use crate::settings::{Figure, MissingFigure, RuleSource, Setting};

/// The page that instances have unless they were initialised otherwise.
pub(super) const PAGE_BYTES: u64 = 16 << 10;
/// The least `innodb_io_capacity`.
const IO_CAPACITY_MIN: f64 = 100.0;

/// `innodb_io_capacity` and `innodb_io_capacity_max`.
pub(super) fn io_capacity(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let (rate, mut seen, rule) = background_write_rate(figures)?;
    let pages = figures.steady_write_iops(PAGE_BYTES)?;
    let steady = figures.steady_write_bandwidth()?;
    // Both are lower bounds; where even those may be nothing there is nothing to be sure of.
    let part = if steady.value.low > 0.0 { rate / steady.value.low } else { 0.0 };
    let pages_per_s = pages.value.low * part;
    // The pages' figure says the steady state itself.
    seen.retain(|figure| figure.key != steady.key);
    seen.push(pages);
    let rule = format!(
        "{rule}; in pages of {}, and the documentation wants it as low as is practical",
        format_bytes(PAGE_BYTES)
    );
    let then = "flushing in the background will ask more of this device than leaves its reads alone";
    Ok(capacity("innodb_io_capacity", pages_per_s, seen, rule, then))
}

pub(super) fn io_capacity_max(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let steady = figures.steady_write_iops(PAGE_BYTES)?;
    let pages_per_s = steady.value.low;
    let rule =
        "the steady state, as far as it is sure: a greater burst can't be kept up, and reads wait for it";
    let then = "InnoDB takes this device for faster than it is when it hurries";
    Ok(capacity("innodb_io_capacity_max", pages_per_s, vec![steady], rule.into(), then))
}

/// A number of pages a second, or the least that the server takes, and `then` with what that means.
fn capacity(name: &'static str, pages_per_s: f64, seen: Vec<Figure>, rule: String, then: &str) -> Setting {
    let value = whole(pages_per_s.max(IO_CAPACITY_MIN));
    let setting = Setting::new(name, value, seen, RuleSource::Ours, rule);
    if pages_per_s >= IO_CAPACITY_MIN {
        return setting;
    }
    setting.remark(format!(
        "The rule gives {} here, and the server takes no less than {IO_CAPACITY_MIN:.0}: {then}.",
        number(pages_per_s)
    ))
}

/// `innodb_lru_scan_depth`, pages that each instance of the buffer pool seeks for free ones in a second.
pub(super) fn lru_scan_depth(
    figures: &Figures<'_>,
    default: &'static str,
    most: u64,
) -> Result<Setting, MissingFigure> {
    let (rate, seen, _) = background_write_rate(figures)?;
    let pages_per_s = rate / PAGE_BYTES as f64;
    let value = whole(pages_per_s).clamp(100, most);
    let rule = "pages of 16 KiB that the device writes in a second beside reads, from 100 to the default: what is found dirty is \
                written, so a deeper search asks for more than the device has left, for each instance of the buffer pool";
    Ok(Setting::new("innodb_lru_scan_depth", value, seen, RuleSource::Documentation, rule).default(default))
}

/// `innodb_read_io_threads` and `innodb_write_io_threads`.
pub(super) fn io_threads(
    name: &'static str,
    figures: &Figures<'_>,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    /// "Each background thread can handle up to 256 pending I/O requests" (`MySQL` 8.4 Reference Manual, 17.8.5).
    const OUTSTANDING: f64 = 256.0;
    /// The default, and the greatest value that is taken (the same page).
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

/// The redo log's size under the name that a server has for it.
pub(super) fn redo_size(
    name: &'static str,
    figures: &Figures<'_>,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    /// The default, and what recovery still goes through in minutes.
    const BYTES: (u64, u64) = (128 << 20, 64 << 30);
    let (rate, seen, background) = background_write_rate(figures)?;
    let megabytes = written_back_bytes(rate).clamp(BYTES.0, BYTES.1) >> 20;
    let rule = format!(
        "at least what is logged in an hour of the busiest kind; at most what the device writes back in five minutes, 128 MiB to 64 \
         GiB: pages whose changes are in the log have to be home before it comes round. It is taken to write back at {background}"
    );
    Ok(Setting::new(name, format!("{megabytes}M"), seen, RuleSource::Ours, rule)
        .default(default)
        .remark("How much is logged: the growth of Innodb_os_log_written (SHOW GLOBAL STATUS) in an hour.")
        .shown_only("the workload decides it: this is the most that the device has any use for"))
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
    // The documentation says disk or not; from which ratio on a device counts as one is ours.
    let setting = Setting::new("innodb_flush_neighbors", value, vec![random], RuleSource::Ours, rule);
    Ok(if expensive { setting.remark(NEIGHBORS_CONTESTED) } else { setting })
}

/// Pages that an instance may be initialised with, from the default down.
const PAGES_BYTES: [u64; 3] = [PAGE_BYTES, 8 << 10, 4 << 10];
/// A smaller page is worth it from this gain on: everything but its own bytes costs the same, so that some gain there is
/// wherever transfers take time.
const SMALLER_PAGE_GAIN: f64 = 1.25;

/// `innodb_page_size`, which only a new instance takes.
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

/// `innodb_log_write_ahead_size`, from the least that makes sense to the greatest that the server takes.
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
    .whatever_the_device()
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
    .whatever_the_device()
    .default("128M")
}
