//! I/O concurrency of a backend and of the server.

use super::{ASYNC_READS_VERSION, COMBINED_READS_VERSION, PAGE_BYTES};
use crate::figures::Figures;
use crate::figures::words::number;
use crate::rules::{depth_with_default, per_session};
use crate::settings::{Collector, Figure, MissingFigure, Question, RuleSource, Setting};

/// Greatest `effective_io_concurrency`.
const CONCURRENCY_MAX: u32 = 1000;
/// Default of `effective_io_concurrency` and `maintenance_io_concurrency` from version 18 on, found
/// to be good on most devices.
const NEW_DEFAULT: u32 = 16;
/// Default of `maintenance_io_concurrency` before version 18.
const OLD_MAINTENANCE_DEFAULT: u32 = 10;
/// Greatest value that the server chooses for `io_max_concurrency = -1`: "but not more than 64"
/// (PostgreSQL 18's documentation, *Resource Consumption*).
const CHOSEN_CONCURRENCY_MAX: u32 = 64;
/// Least (the default) and greatest `io_workers`.
const WORKERS: (u32, u32) = (3, 32);
/// Users of `maintenance_io_concurrency` before version 18 ran alone: recovery, `ANALYZE` and index
/// builds.
const OLD_MAINTENANCE_PROCESSES: u32 = 1;
/// From version 18 on each vacuum reads ahead, too; the default of `autovacuum_max_workers` is 3.
const MAINTENANCE_PROCESSES: u32 = 3;

pub(super) fn collect(figures: &Figures<'_>, question: &Question, collector: &mut Collector) {
    let knee = figures.knee_depth(PAGE_BYTES);
    let effective = knee.clone().map(|knee| effective(figures, question, &knee));
    let maintenance = knee.clone().map(|knee| maintenance(figures, question, &knee));
    let most = effective.as_ref().ok().zip(maintenance.as_ref().ok()).map(|((a, _), (b, _))| *a.max(b));
    collector.add("effective_io_concurrency", effective.map(|(_, setting)| setting));
    collector.add("maintenance_io_concurrency", maintenance.map(|(_, setting)| setting));
    if question.version >= ASYNC_READS_VERSION {
        collector.add("io_max_concurrency", knee.map(|knee| max_concurrency(most.unwrap_or(0), knee)));
        collector.add("io_method", io_method(figures));
        collector.add("io_workers", io_workers(figures));
    }
}

/// Queue depth of one of the question's concurrent sessions.
pub(super) fn session_depth(figures: &Figures<'_>, question: &Question, knee: &Figure) -> u32 {
    effective(figures, question, knee).0
}

fn effective(figures: &Figures<'_>, question: &Question, knee: &Figure) -> (u32, Setting) {
    let is_new = question.version >= ASYNC_READS_VERSION;
    let sessions = question.sessions;
    let default = if is_new { NEW_DEFAULT } else { old_default(knee, NEW_DEFAULT) };
    let (value, setting) = shared_depth(
        figures,
        knee,
        &DepthSharers {
            name: "effective_io_concurrency",
            default,
            origin: if is_new { "the default" } else { "the default of version 18" },
            count: sessions,
            subject: format!("each of {sessions} concurrent readers"),
        },
    );
    let setting = setting.default(if is_new { "16" } else { "1" });
    let setting = if question.version < COMBINED_READS_VERSION {
        setting.remark("Before PostgreSQL 17 only bitmap heap scans use it.")
    } else {
        setting
    };
    (value, setting)
}

fn maintenance(figures: &Figures<'_>, question: &Question, knee: &Figure) -> (u32, Setting) {
    let is_new = question.version >= ASYNC_READS_VERSION;
    let (value, setting) = shared_depth(
        figures,
        knee,
        &DepthSharers {
            name: "maintenance_io_concurrency",
            default: if is_new { NEW_DEFAULT } else { OLD_MAINTENANCE_DEFAULT },
            origin: "the default",
            count: if is_new { MAINTENANCE_PROCESSES } else { OLD_MAINTENANCE_PROCESSES },
            subject: format!(
                "each of the {MAINTENANCE_PROCESSES} vacuums that autovacuum may run \
                at once"
            ),
        },
    );
    (value, setting.default(if is_new { "16" } else { "10" }))
}

/// Versions before 18 default to 1, which is too little; returns the later default, at most the
/// knee.
fn old_default(knee: &Figure, default: u32) -> u32 {
    per_session(knee.value.value, 1).min(default)
}

/// Processes that share the queue depth of a setting.
struct DepthSharers {
    name: &'static str,
    default: u32,
    /// Origin of the default in words.
    origin: &'static str,
    count: u32,
    subject: String,
}

fn shared_depth(figures: &Figures<'_>, knee: &Figure, of: &DepthSharers) -> (u32, Setting) {
    let share = per_session(knee.value.value, of.count);
    let loss = figures.loses_at_depth(PAGE_BYTES, of.default).filter(|_| share < of.default);
    let value_at = |knee_depth: f64| {
        depth_with_default(per_session(knee_depth, of.count), of.default, loss.is_some(), CONCURRENCY_MAX)
    };
    let value = value_at(knee.value.value);
    let is_certain = value_at(knee.value.low) == value && value_at(knee.value.high) == value;
    let why = match (&loss, share < of.default) {
        (Some(_), _) => format!("{}, {}, is more and costs bandwidth here", of.origin, of.default),
        (None, true) => format!(
            "{}, {}, is more, but no measurement shows a loss, and a single reader gains from it",
            of.origin, of.default
        ),
        (None, false) => "more would only make requests wait".to_owned(),
    };
    let best = number(knee.value.value);
    let rule = if of.count == 1 {
        format!(
            "recovery and index builds mostly run alone, and a single reader is fastest with \
            {best} requests outstanding; {why}"
        )
    } else {
        format!(
            "a single reader is fastest with {best} requests outstanding, {} with {share}; {why}",
            of.subject
        )
    };
    let seen = std::iter::once(knee.clone()).chain(loss).collect();
    let setting = Setting::new(of.name, value, seen, RuleSource::Ours, rule);
    (value, if is_certain { setting.same_within_bounds() } else { setting })
}

/// The server's own choice suffices unless one backend needs more.
fn max_concurrency(needed: u32, knee: Figure) -> Setting {
    let rule = "at least effective_io_concurrency and maintenance_io_concurrency, which it \
        limits; with -1, the default, the server chooses by its buffers, up to 64";
    let is_chosen = needed <= CHOSEN_CONCURRENCY_MAX;
    let value = if is_chosen { "-1".to_owned() } else { needed.to_string() };
    let setting =
        Setting::new("io_max_concurrency", value, vec![knee], RuleSource::Documentation, rule).default("-1");
    let setting = setting.remark("It takes effect when the server starts.");
    if is_chosen { setting.shown_only("the default suffices") } else { setting }
}

/// Least gain of asynchronous reads that exceeds the noise.
const METHOD_GAIN_MIN: f64 = 1.1;

/// A hint only: the probe's blocking and asynchronous reads resemble workers and `io_uring` without
/// the server's own work.
fn io_method(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let knee = figures.knee_depth(PAGE_BYTES)?;
    let gain = figures.asynchronous_gain(PAGE_BYTES, per_session(knee.value.value, 1));
    let name = "io_method";
    let setting = match gain {
        Some(gain) if gain.value.low >= METHOD_GAIN_MIN => {
            let rule = "io_uring: asynchronous reads are surely a tenth faster than as many \
                blocking threads, which workers are";
            Setting::new(name, "io_uring", vec![gain], RuleSource::Ours, rule)
                .remark("It needs a server built with liburing, and takes effect when the server starts.")
        }
        Some(gain) => {
            let rule = "worker, the default: asynchronous reads are not surely a tenth faster \
                than as many blocking threads";
            Setting::new(name, "worker", vec![gain], RuleSource::Ours, rule)
        }
        None => {
            let rule = "worker, the default: the faster method depends on the server's work, so \
                try io_uring, too";
            Setting::new(name, "worker", vec![knee], RuleSource::Documentation, rule).device_independent()
        }
    };
    Ok(setting.default("worker").shown_only("try it; the probe can't decide it"))
}

fn io_workers(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let (needed, rule) = match figures.blocking_threads(PAGE_BYTES) {
        Some(threads) => (
            threads,
            "a worker waits for its single outstanding read, so the server needs as many workers \
            as blocking threads that come near the peak, 3 to 32",
        ),
        None => (
            figures.knee_depth(PAGE_BYTES)?,
            "a worker waits for its single outstanding read, so the server needs as many workers \
            as the depth, 3 to 32",
        ),
    };
    let processors = figures.processors();
    let most = processors.as_ref().map_or(WORKERS.1, |processors| per_session(processors.value.value, 1));
    let value = per_session(needed.value.value, 1).clamp(WORKERS.0, most.clamp(WORKERS.0, WORKERS.1));
    let rule = match &processors {
        Some(_) => {
            format!(
                "{rule}; no more than there are processors, because a worker also copies its \
                reads"
            )
        }
        None => rule.to_owned(),
    };
    let is_known = processors.is_some();
    let seen = std::iter::once(needed).chain(processors).collect();
    let setting = Setting::new("io_workers", value, seen, RuleSource::Ours, rule)
        .default("3")
        .remark("It matters only with io_method = worker.");
    Ok(if is_known {
        setting
    } else {
        setting.shown_only("a model has no processors, which limit the number of workers")
    })
}
