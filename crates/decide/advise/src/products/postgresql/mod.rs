//! `PostgreSQL`: "Resource Consumption", "Write Ahead Log" and "Query Planning" of its
//! documentation.

mod caches;
mod checkpoints;
mod commits;
mod concurrency;
mod planning;
mod requests;

use crate::figures::Figures;
use crate::settings::{Collector, Question, Version};

/// Page size.
const PAGE_BYTES: u64 = 8 << 10;
/// First version that combines reads (`io_combine_limit`).
const COMBINED_READS_VERSION: Version = Version::new(17, 0);
/// First version with asynchronous reads: `io_method`, `io_workers`, `io_max_combine_limit`,
/// `io_max_concurrency`.
const ASYNC_READS_VERSION: Version = Version::new(18, 0);

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    concurrency::collect(figures, question, collector);
    requests::collect(figures, question, collector);
    planning::collect(figures, question, collector);
    commits::collect(figures, question, collector);
    checkpoints::collect(figures, question, collector);
    caches::collect(question, collector);
}

/// Formats a size in the configuration's units.
fn memory(bytes: u64) -> String {
    let kilobytes = bytes >> 10;
    if kilobytes.is_multiple_of(1024) { format!("{}MB", kilobytes / 1024) } else { format!("{kilobytes}kB") }
}
