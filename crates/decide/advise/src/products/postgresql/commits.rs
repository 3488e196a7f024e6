//! Settings of commits.

use nandle_profile::experiments::CommitMethod;

use super::{PAGE_BYTES, memory};
use crate::figures::words::whole;
use crate::figures::{Figures, PROBE_FILES};
use crate::rules::{best_commit_method, commit_delay_us};
use crate::settings::{Collector, MissingFigure, Question, RuleSource, Setting};

/// `commit_siblings`: with fewer concurrent transactions commits don't wait.
const COMMIT_SIBLINGS: u32 = 5;

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    collector.add("commit_delay", commit_delay(figures, question));
    collector.add("wal_sync_method", wal_sync_method(figures));
    collector.add("wal_skip_threshold", wal_skip_threshold(figures));
    collector.add("wal_buffers", wal_buffers(figures));
}

fn commit_delay(figures: &Figures<'_>, question: &Question) -> Result<Setting, MissingFigure> {
    let flush = figures.flush_mean(PAGE_BYTES)?;
    let waits = question.workload.commits_often() && question.sessions > COMMIT_SIBLINGS;
    let mut seen = vec![flush];
    let value = if waits { seen.first().map_or(0, |flush| commit_delay_us(flush.value.value)) } else { 0 };
    let rule = if waits {
        "half the time of a flush after one 8 kB write, in microseconds".to_owned()
    } else {
        format!(
            "none: with {COMMIT_SIBLINGS} concurrent transactions or fewer, or with rare commits, \
            no commit waits"
        )
    };
    seen.extend(figures.group_commit().ok());
    Ok(Setting::new("commit_delay", value, seen, RuleSource::Documentation, rule).default("0").shown_only(
        "the documentation advises to try it: each commit waits this long while 5 other \
            transactions are open, which pays off if many commit at once",
    ))
}

/// Values of `wal_sync_method`. Flushes of the device are left out, because the server writes to
/// files.
const SYNC_METHODS: [(CommitMethod, &str); 4] = [
    (CommitMethod::DurableWrite, "open_datasync"),
    (CommitMethod::Fdatasync, "fdatasync"),
    (CommitMethod::Fsync, "fsync"),
    (CommitMethod::OpenSync, "open_sync"),
];

fn wal_sync_method(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let name =
        |method: CommitMethod| SYNC_METHODS.iter().find(|(known, _)| *known == method).map(|(_, name)| *name);
    let mut methods = figures.commit_methods(PAGE_BYTES);
    methods.retain(|(method, ..)| name(*method).is_some());
    let best = best_commit_method(&methods, CommitMethod::Fdatasync);
    let value = best.and_then(|(method, ..)| name(*method)).ok_or(MissingFigure {
        needs: "the time of fdatasync and other commit methods on files",
        how: PROBE_FILES,
    })?;
    let seen: Vec<_> = methods.iter().map(|(_, figure, _)| figure.clone()).collect();
    let rule = if seen.len() > 1 {
        "the fastest measured method, if it is surely faster than the default and its 99th \
        percentile is no worse"
    } else {
        "the default: no other method was measured (this needs a probe with --budget 5m)"
    };
    Ok(Setting::new("wal_sync_method", value, seen, RuleSource::Documentation, rule).default("fdatasync"))
}

fn wal_skip_threshold(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let volume = figures.bytes_per_flush()?;
    let kilobytes = whole((volume.value.value / 1024.0).clamp(64.0, 1024.0 * 1024.0));
    let rule = "the bytes that can be logged during one flush: a smaller new file is cheaper to \
        log than to flush (64 kB to 1 GB)";
    let value = memory(kilobytes << 10);
    Ok(Setting::new("wal_skip_threshold", value, vec![volume], RuleSource::Ours, rule)
        .default("2MB")
        .shown_only("it matters only with wal_level = minimal"))
}

/// Memory for the log that is written during a flush.
fn wal_buffers(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    /// Largest value that the server chooses itself: one segment.
    const CHOSEN_BYTES_MAX: f64 = 16.0 * 1_048_576.0;
    const BYTES_MAX: u64 = 256 << 20;
    let volume = figures.bytes_per_flush()?;
    let rule = "the log written during one flush, if that exceeds the 16 MB that the server \
        chooses itself (a 32nd of shared_buffers, at most one segment)";
    let is_enough = volume.value.value <= CHOSEN_BYTES_MAX;
    let value = if is_enough {
        "-1".to_owned()
    } else {
        memory(whole(volume.value.value).next_power_of_two().min(BYTES_MAX))
    };
    let setting = Setting::new("wal_buffers", value, vec![volume], RuleSource::Ours, rule).default("-1");
    let setting = setting.remark("It takes effect when the server starts.");
    Ok(if is_enough { setting.shown_only("the default suffices") } else { setting })
}
