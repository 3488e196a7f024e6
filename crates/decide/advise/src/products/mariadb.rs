//! `MariaDB` 10.6 and later: "`InnoDB` System Variables" of its documentation.

use super::innodb;
use crate::figures::Figures;
use crate::settings::{Collector, Question, RuleSource, Setting, Version};

/// First series with `innodb_log_write_ahead_size` again (10.11.9, 11.4.3).
const WRITE_AHEAD_VERSION: Version = Version::new(10, 11);
/// First series that replaces `innodb_flush_method` by a variable per kind of file.
const BUFFERING_VERSION: Version = Version::new(11, 0);

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.part("[mariadb]");
    collector.add("innodb_io_capacity", innodb::io_capacity(figures, "200"));
    let default = "2000 or twice innodb_io_capacity";
    collector.add("innodb_io_capacity_max", innodb::io_capacity_max(figures, default));
    let neighbors = innodb::flush_neighbors(figures);
    collector.add(
        "innodb_flush_neighbors",
        neighbors.map(|set| {
            set.default("1").remark(
                "The server ignores it if the kernel reports that the device isn't \
                    rotational.",
            )
        }),
    );
    collector.add("innodb_lru_scan_depth", innodb::lru_scan_depth(figures, "1536", 1536, false));
    for threads in ["innodb_read_io_threads", "innodb_write_io_threads"] {
        collector.add(threads, innodb::io_threads(threads, figures, "4"));
    }
    collector.add("innodb_log_file_size", innodb::redo_size("innodb_log_file_size", figures, "96M"));
    collector.add("innodb_page_size", innodb::page_size(figures));
    if question.version >= WRITE_AHEAD_VERSION {
        let write_ahead = innodb::log_write_ahead_size(figures, 512, 4096);
        let remark = "Versions before 10.11.9 and 11.4.3 refuse it.";
        collector
            .add("innodb_log_write_ahead_size", write_ahead.map(|set| set.default("512").remark(remark)));
    }
    if let Some(method) = innodb::flush_method(figures) {
        collector.add(
            "innodb_flush_method",
            Ok(if question.version >= BUFFERING_VERSION {
                without_buffering(method)
            } else {
                method.default("O_DIRECT")
            }),
        );
    }
    collector.add("innodb_doublewrite", Ok(innodb::doublewrite(figures)));
    if let Some(memory) = question.memory_bytes {
        collector.add(
            "innodb_buffer_pool_size",
            Ok(innodb::buffer_pool_size(memory, "the documentation allows up to 80 % on a dedicated server")),
        );
    }
}

/// Renames the setting to `innodb_data_file_buffering`.
fn without_buffering(method: Setting) -> Setting {
    Setting::new("innodb_data_file_buffering", "OFF", method.figures, RuleSource::Documentation, method.rule)
        .default("OFF")
}
