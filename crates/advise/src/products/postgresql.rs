//! `PostgreSQL`: "Resource Consumption", "Write Ahead Log" and "Query Planning" of its documentation.

use nandle_io::units::format_bytes;
use nandle_profile::experiments::CommitMethod;

use crate::economics::index_share;
use crate::figures::Figures;
use crate::figures::words::{number, whole};
use crate::rules::{
    CACHED_SHARE, best_commit_method, commit_delay_us, depth_per_session, page_cost, power_of_two_within,
    random_is_dear,
};
use crate::settings::{Collector, Figure, Lack, Question, RuleSource, Setting, Version};

/// The page.
const PAGE_BYTES: u64 = 8 << 10;
/// The greatest `effective_io_concurrency`.
const CONCURRENCY_MAX: u32 = 1000;
/// The greatest `io_workers`.
const WORKERS_MAX: u32 = 32;
/// Autovacuum's workers by default, who share `maintenance_io_concurrency`.
const MAINTENANCE_WORKERS: u32 = 3;
/// The first version that combines reads and knows `io_combine_limit`.
const COMBINES_READS: Version = Version::new(17, 0);
/// The first version with asynchronous reads: `io_method`, `io_workers`, `io_max_combine_limit`.
const ASYNCHRONOUS: Version = Version::new(18, 0);
/// `commit_siblings`: with fewer transactions at once nobody waits.
const COMMIT_SIBLINGS: u32 = 5;

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    let version = question.version;
    collector.add("effective_io_concurrency", effective_io_concurrency(figures, question));
    collector.add("maintenance_io_concurrency", maintenance_io_concurrency(figures, version));
    if version >= ASYNCHRONOUS {
        collector.add("io_max_combine_limit", combine_limit("io_max_combine_limit", figures, question));
    }
    if version >= COMBINES_READS {
        collector.add("io_combine_limit", combine_limit("io_combine_limit", figures, question));
    }
    if version >= ASYNCHRONOUS {
        collector.add("io_method", io_method(figures));
        collector.add("io_workers", io_workers(figures));
    }
    collector.add("random_page_cost", random_page_cost(figures));
    collector.add("commit_delay", commit_delay(figures, question));
    collector.add("wal_sync_method", wal_sync_method(figures));
    collector.add("full_page_writes", Ok(full_page_writes(figures)));
    collector.add("checkpoint_flush_after", flush_after(figures, "checkpoint_flush_after", "256kB"));
    collector.add("bgwriter_flush_after", flush_after(figures, "bgwriter_flush_after", "512kB"));
    collector.add("wal_skip_threshold", wal_skip_threshold(figures));
    if let Some(memory) = question.memory_bytes {
        collector.add("shared_buffers", Ok(shared_buffers(memory)));
    }
}

fn effective_io_concurrency(figures: &Figures<'_>, question: &Question) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let value = depth_per_session(knee.value.value, question.sessions, CONCURRENCY_MAX);
    let rule = format!(
        "that depth divided among the {} sessions that read at once; more only makes everyone wait",
        question.sessions
    );
    let setting = Setting::new("effective_io_concurrency", value, vec![knee], RuleSource::Ours, rule)
        .default(if question.version >= ASYNCHRONOUS { "16" } else { "1" });
    Ok(if question.version < COMBINES_READS {
        setting.remark("Before PostgreSQL 17 only bitmap heap scans make use of it.")
    } else {
        setting
    })
}

fn maintenance_io_concurrency(figures: &Figures<'_>, version: Version) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let value = depth_per_session(knee.value.value, MAINTENANCE_WORKERS, CONCURRENCY_MAX);
    let rule = format!("that depth divided among autovacuum's {MAINTENANCE_WORKERS} workers");
    Ok(Setting::new("maintenance_io_concurrency", value, vec![knee], RuleSource::Ours, rule)
        .default(if version >= ASYNCHRONOUS { "16" } else { "10" }))
}

/// In version 17 a request has up to 32 pages, from 18 on up to 128.
fn combine_limit(name: &'static str, figures: &Figures<'_>, question: &Question) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let depth = depth_per_session(knee.value.value, question.sessions, CONCURRENCY_MAX);
    let request = figures.sequential_request_bytes(depth)?;
    let most = if question.version >= ASYNCHRONOUS { 1 << 20 } else { 256 << 10 };
    let value = power_of_two_within(request.value.value, PAGE_BYTES, most);
    let rule =
        "the smallest request that reaches 95 % of sequential bandwidth at the depth that a session has";
    let setting = Setting::new(name, memory(value), vec![request], RuleSource::Ours, rule).default("128kB");
    Ok(if name == "io_max_combine_limit" {
        setting.remark("It bounds io_combine_limit, and takes effect when the server starts.")
    } else {
        setting
    })
}

/// Not to be told from a device.
fn io_method(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let rule =
        "worker, the default: which method is faster depends on the server's work, so try io_uring beside it";
    Ok(Setting::new("io_method", "worker", vec![knee], RuleSource::Documentation, rule)
        .whatever_the_device()
        .default("worker")
        .shown_only("it is to be tried, not to be inferred"))
}

fn io_workers(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let value = depth_per_session(knee.value.value, 1, WORKERS_MAX).max(3);
    let rule = "a worker has one read outstanding, so it takes as many as the depth, from 3 to 32";
    Ok(Setting::new("io_workers", value, vec![knee], RuleSource::Ours, rule).default("3").remark(
        "It counts with io_method = worker. Whether io_uring does better can't be told from the \
             device: try both.",
    ))
}

fn random_page_cost(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let (alone, together) = figures.page_cost_ratios(PAGE_BYTES)?;
    let cost = |ratio: &Figure| page_cost(ratio.value.value, CACHED_SHARE);
    let value = cost(&alone);
    let share = |ratio: &Figure| number(index_share(ratio.value.value) * 100.0);
    let scans = together.as_ref().map_or_else(
        || "Scans that keep many reads outstanding gain nothing here: one read at a time is all that it takes.".into(),
        |together| {
            format!(
                "A scan that keeps many reads outstanding, such as a bitmap heap scan, pays the other ratio: by that the \
                 value would be {:.1}, and the break-even {} %.",
                cost(together),
                share(together)
            )
        },
    );
    let rule = format!(
        "the ratio of one page at a time, as an index scan reads, by the {:.0} % of random reads that the documentation \
         assumes to miss the caches; at least seq_page_cost (1.0)",
        (1.0 - CACHED_SHARE) * 100.0
    );
    let break_even = format!(
        "With nothing cached the same ratio lets an index scan beat reading the whole table up to {} % of its pages (1 / \
         ratio), which is what nandle compare prints. {scans}",
        share(&alone)
    );
    let seen = std::iter::once(alone).chain(together).collect();
    Ok(Setting::new("random_page_cost", format!("{value:.1}"), seen, RuleSource::Contested, rule)
        .default("4.0")
        .remark(break_even)
        .remark(
            "Contested: 1.1 is the custom for solid-state drives, and measurements on local ones found ratios of 25 to \
             35.",
        )
        .remark(
            "It is a ratio: a drive whose random reads are quick gets a high one where its sequential reads are quicker \
             still. A server that can't take rows as fast as the drive reads in sequence pays less than that.",
        ))
}

fn commit_delay(figures: &Figures<'_>, question: &Question) -> Result<Setting, Lack> {
    let flush = figures.flush_mean(PAGE_BYTES)?;
    let waits = question.workload.commits_often() && question.sessions > COMMIT_SIBLINGS;
    let mut seen = vec![flush];
    let value = if waits { seen.first().map_or(0, |flush| commit_delay_us(flush.value.value)) } else { 0 };
    let rule = if waits {
        "half of what a flush takes after one 8 kB write, in microseconds".to_owned()
    } else {
        format!(
            "none: nobody waits with {COMMIT_SIBLINGS} transactions at once or fewer, or where commits are rare"
        )
    };
    seen.extend(figures.group_commit().ok());
    Ok(Setting::new("commit_delay", value, seen, RuleSource::Documentation, rule)
        .default("0")
        .remark("The documentation asks to try it: it helps where many sessions commit at once."))
}

/// Ways to commit, as `wal_sync_method` calls them; a flush of the device isn't one of a file.
const SYNC_METHODS: [(CommitMethod, &str); 4] = [
    (CommitMethod::DurableWrite, "open_datasync"),
    (CommitMethod::Fdatasync, "fdatasync"),
    (CommitMethod::Fsync, "fsync"),
    (CommitMethod::OpenSync, "open_sync"),
];

fn wal_sync_method(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let name =
        |method: CommitMethod| SYNC_METHODS.iter().find(|(known, _)| *known == method).map(|(_, name)| *name);
    let mut methods = figures.commit_methods(PAGE_BYTES);
    methods.retain(|(method, ..)| name(*method).is_some());
    let best = best_commit_method(&methods, CommitMethod::Fdatasync);
    let value = best.and_then(|(method, ..)| name(*method)).ok_or(Lack {
        needs: "what fdatasync and other ways to commit take on files",
        how: "let the probe write to a directory of this machine (a modelled drive has no files): nandle probe DIRECTORY --budget 10m --write-limit 20GiB",
    })?;
    let rule = "the fastest of those measured, if it is surely faster than the default and its 99th percentile is no \
                worse";
    let seen = methods.iter().map(|(_, figure, _)| figure.clone()).collect();
    Ok(Setting::new("wal_sync_method", value, seen, RuleSource::Documentation, rule).default("fdatasync"))
}

fn full_page_writes(figures: &Figures<'_>) -> Setting {
    let rule = "on: off only where the whole way to the medium provably never tears a write of 8 kB; never for speed";
    Setting::new("full_page_writes", "on", vec![figures.atomic_write_unit()], RuleSource::Documentation, rule)
        .whatever_the_device()
        .default("on")
}

fn flush_after(figures: &Figures<'_>, name: &'static str, default: &'static str) -> Result<Setting, Lack> {
    let random = figures.random_by_sequential_write()?;
    let dear = random_is_dear(&random);
    let value = if dear { "2MB" } else { default };
    let rule = if dear {
        "the greatest value: random writes are dear here, and a longer batch lets the kernel put neighbours together"
    } else {
        "the default: random writes are not surely dearer than 4 times sequential ones, so that batches need not grow, and \
         short ones keep flushes short"
    };
    Ok(Setting::new(name, value, vec![random], RuleSource::Ours, rule).default(default))
}

fn wal_skip_threshold(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let volume = figures.bytes_per_flush()?;
    let kilobytes = whole((volume.value.value / 1024.0).clamp(64.0, 1024.0 * 1024.0));
    let rule = "what can be written to the log in the time of one flush: a smaller new file is cheaper to log than to \
                flush (64 kB to 1 GB)";
    let value = memory(kilobytes << 10);
    Ok(Setting::new("wal_skip_threshold", value, vec![volume], RuleSource::Ours, rule)
        .default("2MB")
        .remark("It counts with wal_level = minimal alone."))
}

/// "A reasonable starting value for `shared_buffers` is 25 % of the memory" (documentation, Resource Consumption).
fn shared_buffers(memory_bytes: u64) -> Setting {
    let megabytes = ((memory_bytes / 4) >> 20).max(1);
    let rule = format!("a quarter of the memory that it may use ({})", format_bytes(memory_bytes));
    Setting::new("shared_buffers", format!("{megabytes}MB"), Vec::new(), RuleSource::Documentation, rule)
        .whatever_the_device()
        .default("128MB")
}

/// A size in the configuration's units.
fn memory(bytes: u64) -> String {
    let kilobytes = bytes >> 10;
    if kilobytes.is_multiple_of(1024) { format!("{}MB", kilobytes / 1024) } else { format!("{kilobytes}kB") }
}
