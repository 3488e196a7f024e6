//! `RocksDB`: an options file for `LoadOptionsFromFile` and `db_bench --options_file`.

use nandle_units::format_bytes;

use crate::figures::Figures;
use crate::figures::words::{time, whole};
use crate::rules::{background_write_rate, power_of_two_within};
use crate::settings::{Collector, Figure, MissingFigure, Question, RuleSource, Setting, Version};

const MIB: u64 = 1 << 20;
const DIRECT_WRITES: &str = "use_direct_io_for_flush_and_compaction";
/// First version with a default of 2 MB instead of 0 for `compaction_readahead_size`.
const READAHEAD_VERSION: Version = Version::new(8, 7);

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.part("[DBOptions]");
    collector.add("compaction_readahead_size", compaction_readahead_size(figures, question.version));
    collector.add("use_direct_reads", Ok(use_direct_reads(figures)));
    collector.add("use_direct_io_for_flush_and_compaction", Ok(use_direct_writes(figures)));
    collector.add("max_background_jobs", max_background_jobs(figures));
    collector.add("max_subcompactions", max_subcompactions(figures));
    collector.add("bytes_per_sync", bytes_per_sync(figures, "bytes_per_sync"));
    let of_log = bytes_per_sync(figures, "wal_bytes_per_sync");
    let remark = "It has no effect if each write syncs the log (WriteOptions::sync).";
    collector.add("wal_bytes_per_sync", of_log.map(|setting| setting.remark(remark)));
    collector.add("rate_bytes_per_sec", rate_bytes_per_sec(figures));
    collector.part("[CFOptions \"default\"]");
    collector.add("write_buffer_size", write_buffer_size(figures, question));
    collector.part("[TableOptions/BlockBasedTable \"default\"]");
    collector.add("block_size", block_size(figures));
    collector.add("max_auto_readahead_size", max_auto_readahead_size(figures));
    if let Some(memory) = question.memory_bytes {
        collector.add("block_cache", Ok(block_cache(memory)));
    }
    complete(question.version, collector);
}

/// An options file needs the version first, and a column family before its table options.
fn complete(version: Version, collector: &mut Collector) {
    let has_family =
        collector.parts.iter().any(|part| part.heading.starts_with("[CF") && !part.settings.is_empty());
    for part in &mut collector.parts {
        if part.heading == "[DBOptions]" {
            part.heading = format!(
                "[Version]\n  rocksdb_version={}.{}.0\n  options_file_version=1.1\n\n[DBOptions]",
                version.major, version.minor
            );
        } else if part.heading.starts_with("[Table") && !has_family {
            part.heading = format!("[CFOptions \"default\"]\n\n{}", part.heading);
        }
    }
}

/// A compaction reads ahead with one request at a time.
fn compaction_readahead_size(figures: &Figures<'_>, version: Version) -> Result<Setting, MissingFigure> {
    let request = figures.sequential_request_bytes(1)?;
    let value = power_of_two_within(request.value.value, 2 * MIB, 16 * MIB);
    let rule = "the smallest request that reaches 95 % of the sequential bandwidth at depth 1, \
        from 2 MiB (the default of newer versions) to 16 MiB: a compaction alternates between \
        many files";
    let default = if version >= READAHEAD_VERSION { "2097152" } else { "0" };
    Ok(Setting::new("compaction_readahead_size", value, vec![request], RuleSource::Ours, rule)
        .default(default))
}

/// Iterators double their read-ahead each time, up to this size.
fn max_auto_readahead_size(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let request = figures.sequential_request_bytes(1)?;
    let value = power_of_two_within(request.value.value, 256 << 10, 4 * MIB);
    let rule = "the smallest request that reaches 95 % of the sequential bandwidth at depth 1, \
        from 256 KiB (the default) to 4 MiB: read-ahead shares the device with other reads";
    Ok(Setting::new("max_auto_readahead_size", value, vec![request], RuleSource::Ours, rule)
        .default("262144"))
}

fn block_size(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let block = figures.smallest_block()?;
    let value = power_of_two_within(block.value.value, 4 << 10, 64 << 10);
    let rule = "the device's smallest real block, 4 KiB to 64 KiB: smaller blocks are read no \
        faster";
    Ok(Setting::new("block_size", value, vec![block], RuleSource::Ours, rule).default("4096").remark(
        "Blocks are compressed before they are written, so reads are smaller. RocksDB's \
            tuning guide suggests 16384: a quarter of the index in memory, but more bytes per \
            read.",
    ))
}

/// Writing back this size at once delays a read by at most ten milliseconds.
fn bytes_per_sync(figures: &Figures<'_>, name: &'static str) -> Result<Setting, MissingFigure> {
    let sequential = figures.sequential_write_bandwidth()?;
    let value = power_of_two_within(sequential.value.low / 100.0 / 2.0, 256 << 10, 8 * MIB);
    let rule = format!(
        "the bytes that the device surely writes in sequence in about 5 to 10 ms, so that flushes \
        stay short; 256 KiB to 8 MiB. Writing this value takes {}",
        time(1e9 * value as f64 / sequential.value.low)
    );
    Ok(Setting::new(name, value, vec![sequential], RuleSource::Ours, rule).default("0"))
}

/// Write bandwidth of flushes and compactions. They write long sequences, so the share of random
/// writing that doesn't disturb reads is applied to the sequential bandwidth.
fn rate_of_sequences(figures: &Figures<'_>) -> Result<(f64, Vec<Figure>, String), MissingFigure> {
    let (rate, mut seen, rule) = background_write_rate(figures)?;
    let steady = figures.steady_write_bandwidth()?.value.low;
    let part = if steady > 0.0 { (rate / steady).min(1.0) } else { 0.0 };
    let sequential = figures.sequential_write_bandwidth()?;
    let rate_of_sequences = part * sequential.value.low;
    seen.push(sequential);
    Ok((
        rate_of_sequences,
        seen,
        format!("{rule}; as a share of the sequential bandwidth, because a tree writes in sequence"),
    ))
}

fn rate_bytes_per_sec(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let (rate, seen, rule) = rate_of_sequences(figures)?;
    let remark = "The effect of writes on reads was measured with random writes. Long sequences \
        may disturb reads less: start with this value and raise it while reads stay fast.";
    Ok(Setting::new("rate_bytes_per_sec", whole(rate), seen, RuleSource::Ours, rule)
        .remark(remark)
        .shown_only(
            "options files have no rate limiter: pass the number to NewGenericRateLimiter, or to \
        db_bench as --rate_limiter_bytes_per_sec",
        ))
}

/// A compaction job writes what a single reader reads.
fn max_background_jobs(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    const LEAST: f64 = 2.0;
    let (rate, mut seen, _) = rate_of_sequences(figures)?;
    let one = figures.sequential_write_bandwidth()?;
    let fed = jobs_fed(rate, &one).max(LEAST);
    let rule = "as many jobs as the write rate keeps busy, at a fifth of the sequential bandwidth \
        each; at least 2, the default";
    let Some(processors) = figures.processors() else {
        let setting = Setting::new("max_background_jobs", whole(fed), seen, RuleSource::Ours, rule);
        let remark = "A model has no processors: more jobs than your machine has processors gain \
            nothing.";
        return Ok(setting.default("2").remark(remark));
    };
    let value = whole(fed.min(processors.value.value.max(LEAST)));
    seen.push(processors);
    let rule = format!("{rule}, and at most the processors of the probed machine");
    Ok(Setting::new("max_background_jobs", value, seen, RuleSource::Ours, rule).default("2"))
}

/// Jobs that a write rate keeps busy. Compression and merging leave about a fifth of the bandwidth
/// that a job could write alone.
fn jobs_fed(bytes_per_s: f64, sequential: &Figure) -> f64 {
    let of_one_job = sequential.value.low / 5.0;
    if of_one_job > 0.0 { (bytes_per_s / of_one_job).ceil() } else { 1.0 }
}

/// The compaction of the first level is a single job that others wait for.
fn max_subcompactions(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let (rate, seen, _) = rate_of_sequences(figures)?;
    let one = figures.sequential_write_bandwidth()?;
    let value = whole(jobs_fed(rate, &one)).clamp(1, 4);
    let rule = "parts of the first level's compaction (a single job) that the write rate keeps \
        busy; from 1, the default, to 4";
    Ok(Setting::new("max_subcompactions", value, seen, RuleSource::Ours, rule).default("1"))
}

/// The block cache takes a third of the memory, so buffered reads use the page cache for the rest.
fn use_direct_reads(figures: &Figures<'_>) -> Setting {
    let rule = "false: the block cache takes a third of the memory, and the page cache holds \
        compressed blocks in the rest; true if the block cache takes nearly all";
    Setting::new("use_direct_reads", "false", vec![figures.direct()], RuleSource::Documentation, rule)
        .device_independent()
        .default("false")
}

fn use_direct_writes(figures: &Figures<'_>) -> Setting {
    let direct = figures.direct();
    if direct.value.value == 0.0 {
        let rule = "false: direct I/O is unavailable here";
        return Setting::new(DIRECT_WRITES, "false", vec![direct], RuleSource::Documentation, rule)
            .default("false");
    }
    let rule = "true: data that compactions read and write once doesn't evict hot data from the \
        page cache";
    Setting::new(DIRECT_WRITES, "true", vec![direct], RuleSource::Contested, rule)
        .default("false")
        .remark(
            "Contested: the output of a compaction isn't in the page cache either, so its first \
            readers wait for the device. It suits a block cache of nearly all the memory, with \
            use_direct_reads.",
        )
        .remark(
            "Compactions then read ahead only by compaction_readahead_size, which must not be \
            0.",
        )
}

/// Large enough to amortise a flush, and small enough for several buffers in memory.
fn write_buffer_size(figures: &Figures<'_>, question: &Question) -> Result<Setting, MissingFigure> {
    /// Default, and the most that a few buffers may take in memory.
    const BYTES: (u64, u64) = (64 * MIB, 256 * MIB);
    /// Several buffers are full or being flushed at a time.
    const PART_OF_MEMORY: u64 = 16;
    let sequential = figures.sequential_write_bandwidth()?;
    let most =
        question.memory_bytes.map_or(BYTES.1, |memory| (memory / PART_OF_MEMORY).clamp(BYTES.0, BYTES.1));
    let most = 1 << most.ilog2();
    let value = power_of_two_within(sequential.value.low / 10.0, BYTES.0, most);
    let rule = "the bytes that the device surely writes in sequence in a tenth of a second, so \
        that flushes are few and short; from 64 MiB (the default) to 256 MiB and to a sixteenth \
        of the memory";
    Ok(Setting::new("write_buffer_size", value, vec![sequential], RuleSource::Ours, rule)
        .default("67108864")
        .remark("It depends more on memory and write volume than on the device."))
}

/// "Usually about a third of the total memory" (`RocksDB`'s wiki, Setup Options and Basic Tuning).
fn block_cache(memory_bytes: u64) -> Setting {
    let rule = format!("a third of the memory available to the server ({})", format_bytes(memory_bytes));
    Setting::new("block_cache", memory_bytes / 3, Vec::new(), RuleSource::Documentation, rule)
        .device_independent()
        .shown_only("options files have no cache: pass the number to NewLRUCache")
}
