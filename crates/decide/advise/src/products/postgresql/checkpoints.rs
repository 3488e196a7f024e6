//! Size and frequency of checkpoints.

use crate::figures::Figures;
use crate::rules::random_is_expensive;
use crate::settings::{Collector, MissingFigure, Question, RuleSource, Setting, Version};

/// First version that spreads checkpoints over nine tenths of the interval by default.
const SPREAD_CHECKPOINTS_VERSION: Version = Version::new(14, 0);
/// First version that compresses the log with LZ4 and zstd.
const LZ4_VERSION: Version = Version::new(15, 0);

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.add("max_wal_size", Ok(max_wal_size(figures)));
    collector.add("checkpoint_timeout", Ok(checkpoint_timeout()));
    collector.add("checkpoint_completion_target", Ok(completion_target(question)));
    collector.add("checkpoint_flush_after", flush_after(figures, "checkpoint_flush_after", "256kB"));
    collector.add("bgwriter_flush_after", flush_after(figures, "bgwriter_flush_after", "512kB"));
    collector.add("wal_compression", wal_compression(figures, question));
    collector.add("full_page_writes", Ok(full_page_writes(figures)));
}

/// The workload determines the log volume between checkpoints; the device determines the savings.
fn max_wal_size(figures: &Figures<'_>) -> Setting {
    let random = figures.random_by_sequential_write().ok();
    let rule = "at least the log volume of checkpoint_timeout, so that the time, not the log, \
        triggers checkpoints. Pages that change often are then written back once, which saves \
        more the more expensive random writes are; recovery reads this much log";
    Setting::new("max_wal_size", "1GB", random.into_iter().collect(), RuleSource::Documentation, rule)
        .device_independent()
        .default("1GB")
        .remark(
            "To measure the log volume: pg_stat_wal, or two calls of pg_current_wal_lsn() a \
            checkpoint_timeout apart.",
        )
        .shown_only("it depends on the workload; the default shown is small for a busy server")
}

fn checkpoint_timeout() -> Setting {
    let rule = "the default: it depends on the acceptable recovery time and on how often full \
        pages may be logged. The device limits the log volume between two checkpoints, not the \
        time";
    Setting::new("checkpoint_timeout", "5min", Vec::new(), RuleSource::Documentation, rule)
        .device_independent()
        .default("5min")
        .shown_only("it doesn't depend on the device")
}

fn completion_target(question: &Question) -> Setting {
    let rule = "0.9: the writes of a checkpoint are spread over most of the time to the next one, \
        which keeps their rate low";
    Setting::new("checkpoint_completion_target", "0.9", Vec::new(), RuleSource::Documentation, rule)
        .device_independent()
        .default(if question.version >= SPREAD_CHECKPOINTS_VERSION { "0.9" } else { "0.5" })
}

fn flush_after(
    figures: &Figures<'_>,
    name: &'static str,
    default: &'static str,
) -> Result<Setting, MissingFigure> {
    let random = figures.random_by_sequential_write()?;
    let expensive = random_is_expensive(&random);
    let value = if expensive { "2MB" } else { default };
    let rule = if expensive {
        "the maximum: random writes are expensive here, and a longer batch lets the kernel merge \
        neighbouring pages"
    } else {
        "the default: random writes are not surely more than 4 times as expensive as sequential \
        ones, so batches need not grow, and short batches keep flushes short"
    };
    Ok(Setting::new(name, value, vec![random], RuleSource::Ours, rule).default(default))
}

/// A processor compresses some hundred megabytes a second, so compression slows down a log on a
/// faster device.
fn wal_compression(figures: &Figures<'_>, question: &Question) -> Result<Setting, MissingFigure> {
    const COMPRESSES_BYTES_PER_S: f64 = 500e6;
    let sequential = figures.sequential_write_bandwidth()?;
    let by = if question.version >= LZ4_VERSION { "lz4" } else { "on" };
    let (value, rule) = if sequential.value.value < COMPRESSES_BYTES_PER_S {
        (
            by,
            "a processor compresses full pages faster (about 500 MB/s with LZ4) than this device \
            writes them",
        )
    } else {
        (
            "off",
            "this device writes full pages faster than a processor compresses them (about 500 \
            MB/s with LZ4)",
        )
    };
    Ok(Setting::new("wal_compression", value, vec![sequential], RuleSource::Ours, rule)
        .default("off")
        .remark(
            "To measure the possible gain: the share of full pages in the log (wal_fpi in \
            pg_stat_wal).",
        )
        .shown_only("it depends on the processors as well as the device: try it"))
}

fn full_page_writes(figures: &Figures<'_>) -> Setting {
    let rule = "on: turn it off only if writes of 8 kB are proven never to tear on the whole path \
        to the medium; never for speed";
    Setting::new("full_page_writes", "on", vec![figures.atomic_write_unit()], RuleSource::Documentation, rule)
        .device_independent()
        .default("on")
        .protecting_data()
}
