//! `SQLite`: pragmas from its documentation.

use nandle_units::format_bytes;

use crate::figures::Figures;
use crate::figures::words::{number, time, whole};
use crate::settings::{Collector, Figure, MissingFigure, Question, RuleSource, Setting};

/// Default page size.
const PAGE_BYTES: u64 = 4096;
/// Default number of log pages at which a commit starts a checkpoint.
const CHECKPOINT_PAGES: u64 = 1000;

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.add("page_size", page_size(figures));
    collector.add("journal_mode", journal_mode(figures));
    collector.add("synchronous", synchronous(figures));
    collector.add("wal_autocheckpoint", wal_autocheckpoint(figures));
    collector.add("mmap_size", mmap_size(figures));
    if let Some(memory) = question.memory_bytes {
        collector.add("cache_size", Ok(cache_size(memory, question.sessions)));
    }
}

/// A larger page is worthwhile if it costs hardly more: the tree is lower and scans need fewer
/// requests. Beyond 16 KiB the cache holds too few pages, and each change of a row logs a whole
/// page.
fn page_size(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    const LARGER: [u64; 2] = [8 << 10, 16 << 10];
    let mut seen = page_costs(figures, PAGE_BYTES)?.to_vec();
    let least = seen.clone();
    let mut chosen = PAGE_BYTES;
    for page_bytes in LARGER {
        let costs = page_costs(figures, page_bytes)?;
        let is_worth_it = costs.iter().zip(&least).all(|(cost, least)| costs_hardly_more(cost, least));
        seen.extend(costs);
        if !is_worth_it {
            break;
        }
        chosen = page_bytes;
    }
    let rule = "the largest page from 4096 (the default) to 16384 that takes at most a tenth \
        longer than one of 4096 to read and write at random, and to commit; only measurements \
        with bounds at most 4 times apart count";
    Ok(Setting::new("page_size", chosen, seen, RuleSource::Ours, rule)
        .default("4096")
        .remark(
            "It takes effect in a new database, or with VACUUM outside of WAL mode. All lines \
            below assume pages of 4096.",
        )
        .remark(
            "Each change of a row logs a whole page, so a page of 16384 writes four times as \
            many bytes.",
        )
        .shown_only(
            "a database keeps the page size that it was created with, and the best size \
            depends on the rows, too",
        ))
}

/// Cost of a page in the database and in the log.
fn page_costs(figures: &Figures<'_>, page_bytes: u64) -> Result<[Figure; 2], MissingFigure> {
    Ok([figures.random_read_and_write(page_bytes)?, figures.flush_mean_of(page_bytes)?])
}

fn costs_hardly_more(cost: &Figure, than: &Figure) -> bool {
    const HARDLY_MORE: f64 = 1.1;
    cost.is_clear() && cost.value.value <= HARDLY_MORE * than.value.value
}

/// WAL commits with one flush, the rollback journal with several.
fn journal_mode(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    /// Flushes of the journal, of the database, and of the journal's deletion.
    const FLUSHES_OF_A_JOURNAL: f64 = 3.0;
    let flush = figures.flush_mean(PAGE_BYTES)?;
    let mean = flush.value.value;
    let rule = format!(
        "WAL: a commit needs one flush of the log; a rollback journal flushes itself, the \
        database and its deletion. Here that is {} instead of at least {}",
        time(mean),
        time(mean * FLUSHES_OF_A_JOURNAL)
    );
    Ok(Setting::new("journal_mode", "WAL", vec![flush], RuleSource::Documentation, rule)
        .device_independent()
        .default("delete")
        .remark(
            "Don't use it if the database is on a network file system or shared by several \
            machines: WAL needs shared memory.",
        ))
}

/// `synchronous`, never lowered for speed.
fn synchronous(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    /// Cost of a commit that each of its rows may bear.
    const SHARE_OF_A_ROW_NS: f64 = 10e3;
    let flush = figures.flush_mean(PAGE_BYTES)?;
    let mean = flush.value.value;
    let rule = format!(
        "FULL: every commit is durable, and costs one flush in WAL mode. So one connection \
        commits at most {} times a second here, however small its transactions",
        number(1e9 / mean)
    );
    let rows = (mean / SHARE_OF_A_ROW_NS).ceil();
    let setting = Setting::new("synchronous", "FULL", vec![flush], RuleSource::Documentation, rule)
        .device_independent()
        .default("FULL")
        .protecting_data();
    let batch = format!(
        "Group rows into transactions: with {} rows a commit adds no more than {} to each.",
        number(rows),
        time(SHARE_OF_A_ROW_NS)
    );
    let setting = if rows > 1.0 { setting.remark(batch) } else { setting };
    Ok(setting.remark(
        "NORMAL flushes only at checkpoints and loses the last commits in a power failure: the \
        owner of the data must decide on that.",
    ))
}

/// The commit that fills the log to this number of pages writes them back and waits.
fn wal_autocheckpoint(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    const MOST_PAGES: u64 = 10_000;
    let writes = figures.steady_write_iops(PAGE_BYTES)?;
    // A lower bound, so that the checkpoint isn't longer than promised.
    let per_s = writes.value.low;
    let value = whole(per_s).clamp(CHECKPOINT_PAGES, MOST_PAGES);
    let took = if per_s > 0.0 {
        format!("here a checkpoint takes up to {}", time(1e9 * value as f64 / per_s))
    } else {
        "the time of a checkpoint here is unclear".to_owned()
    };
    let rule = format!(
        "the pages that are surely written back at random within a second, 1000 (the default) to \
        10000: the commit that fills the log waits for its checkpoint, and a longer log writes \
        hot pages back less often; {took}"
    );
    let setting =
        Setting::new("wal_autocheckpoint", value, vec![writes], RuleSource::Ours, rule).default("1000");
    Ok(if whole(per_s) < CHECKPOINT_PAGES {
        setting.remark(
            "If commits must not wait that long, run PRAGMA wal_checkpoint at quiet \
            times.",
        )
    } else {
        setting
    })
}

fn mmap_size(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let latency = figures.random_read_latency()?;
    let rule = "0: reads through a mapping save only the copying, which is little compared with a \
        read of the device, and a read error ends the process instead of returning an error";
    Ok(Setting::new("mmap_size", 0, vec![latency], RuleSource::Contested, rule)
        .device_independent()
        .default("0")
        .remark(
            "Contested: a database that fits into memory gains from it, because it doesn't read the \
        device.",
        ))
}

/// Each connection has its own cache. Negative numbers are KiB.
fn cache_size(memory_bytes: u64, sessions: u32) -> Setting {
    /// Default, in KiB.
    const LEAST_KIB: u64 = 2000;
    let rule = format!(
        "the available memory ({}) divided by {sessions} connections, each with its own cache; in \
        KiB as a negative number, at least the default",
        format_bytes(memory_bytes)
    );
    let kibibytes = ((memory_bytes / u64::from(sessions.max(1))) >> 10).clamp(LEAST_KIB, i32::MAX as u64);
    Setting::new("cache_size", format!("-{kibibytes}"), Vec::<Figure>::new(), RuleSource::Documentation, rule)
        .device_independent()
        .default("-2000")
}
