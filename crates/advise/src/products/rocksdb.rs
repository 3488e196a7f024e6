//! `RocksDB`: an options file, as `LoadOptionsFromFile` and `db_bench --options_file` take it.

use nandle_io::units::format_bytes;

use crate::figures::Figures;
use crate::figures::words::{time, whole};
use crate::rules::{background_write_rate, power_of_two_within};
use crate::settings::{Collector, Figure, Lack, Question, RuleSource, Setting, Version};

const MIB: u64 = 1 << 20;
/// From here on the default of `compaction_readahead_size` is 2 MB instead of none.
const READS_AHEAD: Version = Version::new(8, 7);

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.part("[DBOptions]");
    collector.add("compaction_readahead_size", compaction_readahead_size(figures, question.version));
    collector.add("max_background_jobs", max_background_jobs(figures));
    collector.add("bytes_per_sync", bytes_per_sync(figures, "bytes_per_sync"));
    collector.add("wal_bytes_per_sync", bytes_per_sync(figures, "wal_bytes_per_sync"));
    collector.add("rate_bytes_per_sec", rate_bytes_per_sec(figures));
    collector.part("[TableOptions/BlockBasedTable \"default\"]");
    collector.add("block_size", block_size(figures));
    collector.add("max_auto_readahead_size", max_auto_readahead_size(figures));
    if let Some(memory) = question.memory_bytes {
        collector.add("block_cache", Ok(block_cache(memory)));
    }
    // The reader of options files wants the version first and a column family before its table's options.
    let version = format!(
        "[Version]\n  rocksdb_version={}.{}.0\n  options_file_version=1.1\n",
        question.version.major, question.version.minor
    );
    for part in &mut collector.parts {
        if part.heading.starts_with("[DBOptions]") {
            part.heading = format!("{version}\n[DBOptions]");
        } else {
            part.heading = format!("[CFOptions \"default\"]\n\n{}", part.heading);
        }
    }
}

/// A compaction reads ahead one request at a time.
fn compaction_readahead_size(figures: &Figures<'_>, version: Version) -> Result<Setting, Lack> {
    let request = figures.sequential_request_bytes(1)?;
    let value = power_of_two_within(request.value.value, 64 << 10, 16 * MIB);
    let rule = "the smallest request that reaches 95 % of sequential bandwidth when one is outstanding, 64 KiB to 16 MiB";
    let default = if version >= READS_AHEAD { "2097152" } else { "0" };
    Ok(Setting::new("compaction_readahead_size", value, vec![request], RuleSource::Ours, rule)
        .default(default))
}

/// Iterators read ahead twice as much each time, up to this.
fn max_auto_readahead_size(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let request = figures.sequential_request_bytes(1)?;
    let value = power_of_two_within(request.value.value, 64 << 10, 4 * MIB);
    let rule = "the smallest request that reaches 95 % of sequential bandwidth when one is outstanding, 64 KiB to 4 MiB";
    Ok(Setting::new("max_auto_readahead_size", value, vec![request], RuleSource::Ours, rule)
        .default("262144"))
}

fn block_size(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let block = figures.smallest_block()?;
    let value = power_of_two_within(block.value.value, 4 << 10, 64 << 10);
    let rule = "the device's smallest real block, 4 KiB to 64 KiB: a smaller one is read no faster";
    Ok(Setting::new("block_size", value, vec![block], RuleSource::Ours, rule)
        .default("4096")
        .remark("A block is compressed before it is written, so what is read is smaller."))
}

/// Written back in one go, this much delays a read by at most ten milliseconds.
fn bytes_per_sync(figures: &Figures<'_>, name: &'static str) -> Result<Setting, Lack> {
    let sequential = figures.sequential_write_bandwidth()?;
    let value = power_of_two_within(sequential.value.value / 100.0 / 2.0, 256 << 10, 8 * MIB);
    let rule = format!(
        "what the device writes in sequence in about 5 to 10 ms, so that no flush grows much longer; 256 KiB to 8 MiB. \
         What is set takes {}",
        time(1e9 * value as f64 / sequential.value.value)
    );
    Ok(Setting::new(name, value, vec![sequential], RuleSource::Ours, rule).default("0"))
}

/// Bytes per second that flushes and compactions may write. They write in long sequences, so it is the part of random
/// writing that leaves reads alone, taken of the sequential bandwidth.
fn rate_of_sequences(figures: &Figures<'_>) -> Result<(f64, Vec<Figure>, String), Lack> {
    let (rate, mut seen, rule) = background_write_rate(figures)?;
    let part = (rate / figures.steady_write_bandwidth()?.value.value).min(1.0);
    let sequential = figures.sequential_write_bandwidth()?;
    let rate_of_sequences = part * sequential.value.value;
    seen.push(sequential);
    Ok((
        rate_of_sequences,
        seen,
        format!("{rule}; as a part of the sequential bandwidth, for a tree writes in sequence"),
    ))
}

fn rate_bytes_per_sec(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let (rate, seen, rule) = rate_of_sequences(figures)?;
    let remark = "What writes do to reads was measured with random ones: long sequences may disturb them less, so begin with \
                  this and raise it while reads bear it.";
    Ok(Setting::new("rate_bytes_per_sec", whole(rate), seen, RuleSource::Ours, rule).remark(remark).shown_only(
        "no options file holds a rate limiter: give the number to NewGenericRateLimiter, or to db_bench as \
         --rate_limiter_bytes_per_sec",
    ))
}

/// A compaction job writes what one reader reads.
fn max_background_jobs(figures: &Figures<'_>) -> Result<Setting, Lack> {
    const LEAST: f64 = 2.0;
    let (rate, mut seen, _) = rate_of_sequences(figures)?;
    let one = figures.sequential_write_bandwidth()?;
    // Of what a job could write alone, compression and merging leave about a fifth.
    let of_one_job = one.value.value / 5.0;
    let fed = (rate / of_one_job).ceil().max(LEAST);
    let rule = "as many jobs as the rate that writes may have feeds, when each writes at a fifth of the sequential \
                bandwidth; at least 2, the default";
    let Some(processors) = figures.processors() else {
        let setting = Setting::new("max_background_jobs", whole(fed), seen, RuleSource::Ours, rule);
        let remark = "A model has no processors: more jobs than your machine has processors gain nothing.";
        return Ok(setting.default("2").remark(remark));
    };
    let value = whole(fed.min(processors.value.value.max(LEAST)));
    seen.push(processors);
    let rule = format!("{rule}, and at most the number of processors of the machine that measured");
    Ok(Setting::new("max_background_jobs", value, seen, RuleSource::Ours, rule).default("2"))
}

/// "Usually about a third of the total memory" (`RocksDB`'s wiki, Setup Options and Basic Tuning).
fn block_cache(memory_bytes: u64) -> Setting {
    let rule = format!("a third of the memory that it may use ({})", format_bytes(memory_bytes));
    Setting::new("block_cache", memory_bytes / 3, Vec::new(), RuleSource::Documentation, rule)
        .whatever_the_device()
        .shown_only("no options file holds a cache: give the number to NewLRUCache")
}
