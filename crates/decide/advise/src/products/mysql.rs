//! `MySQL` 8.0 and later: "`InnoDB` Startup Options and System Variables" of its reference manual.

use nandle_profile::experiments::CommitMethod;

use super::innodb;
use crate::figures::{Figures, PROBE_FILES};
use crate::settings::{Collector, MissingFigure, Question, RuleSource, Setting, Version};

/// First series with `InnoDB` defaults for solid-state drives.
const SSD_DEFAULTS_VERSION: Version = Version::new(8, 4);

/// Default `innodb_log_write_ahead_size`: two pages of the kernel's page cache. A smaller one saves
/// nothing.
const WRITE_AHEAD_BYTES: u64 = 8 << 10;

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    let new = question.version >= SSD_DEFAULTS_VERSION;
    collector.part("[mysqld]");
    collector.add("innodb_io_capacity", innodb::io_capacity(figures, if new { "10000" } else { "200" }));
    collector.add("innodb_io_capacity_max", innodb::io_capacity_max(figures, "twice innodb_io_capacity"));
    collector.add("innodb_flush_neighbors", innodb::flush_neighbors(figures).map(|set| set.default("0")));
    collector.add("innodb_lru_scan_depth", innodb::lru_scan_depth(figures, "1024", 1024, true));
    let readers = if new { "half of the processors, 4 at least" } else { "4" };
    for (threads, default) in [("innodb_read_io_threads", readers), ("innodb_write_io_threads", "4")] {
        collector.add(threads, innodb::io_threads(threads, figures, default));
    }
    let redo = innodb::redo_size("innodb_redo_log_capacity", figures, "100M");
    collector.add(
        "innodb_redo_log_capacity",
        redo.map(|set| {
            set.remark(
                "Before 8.0.30 the setting is innodb_log_file_size, for each of \
            two files.",
            )
        }),
    );
    collector.add("innodb_page_size", innodb::page_size(figures));
    let write_ahead = innodb::log_write_ahead_size(figures, WRITE_AHEAD_BYTES, innodb::PAGE_BYTES);
    let write_ahead = write_ahead.map(|set| {
        set.default("8192").remark(
            "The log is written through the page cache, which reads a page before a part of it is \
            written.",
        )
    });
    collector.add("innodb_log_write_ahead_size", write_ahead);
    if let Some(method) = innodb::flush_method(figures) {
        let method = method.default(if new { "O_DIRECT" } else { "fsync" });
        let method = if new {
            method.remark("If the file system doesn't support it, the server falls back to fsync.")
        } else {
            method
        };
        collector.add("innodb_flush_method", Ok(method));
    }
    collector.add("innodb_use_fdatasync", use_fdatasync(figures, new));
    collector.add("innodb_doublewrite", Ok(innodb::doublewrite(figures)));
    if let Some(memory) = question.memory_bytes {
        collector.add(
            "innodb_buffer_pool_size",
            Ok(innodb::buffer_pool_size(
                memory,
                "the middle of the 50 to 75 % that the \
                documentation advises",
            )),
        );
    }
}

/// Both calls make the same data durable; `fdatasync` skips timestamps.
fn use_fdatasync(figures: &Figures<'_>, new: bool) -> Result<Setting, MissingFigure> {
    let methods = figures.commit_methods(innodb::PAGE_BYTES);
    let figure_of = |wanted: CommitMethod| {
        methods.iter().find(|(method, ..)| *method == wanted).map(|(_, figure, _)| figure.clone())
    };
    let (fdatasync, fsync) = figure_of(CommitMethod::Fdatasync)
        .zip(figure_of(CommitMethod::Fsync))
        .ok_or(MissingFigure { needs: "the time of fdatasync and fsync on files", how: PROBE_FILES })?;
    let slower = fdatasync.value.low > fsync.value.high;
    let value = if slower { "OFF" } else { "ON" };
    let rule = "on, unless fdatasync was surely slower than fsync";
    Ok(Setting::new("innodb_use_fdatasync", value, vec![fdatasync, fsync], RuleSource::Documentation, rule)
        .default(if new { "ON" } else { "OFF" })
        .remark("Versions before 8.0.26 don't support it."))
}
