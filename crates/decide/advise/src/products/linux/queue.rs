use nandle_profile::{BlockQueue, ROTATIONAL_LATENCY_NS_MIN};

use crate::figures::words::whole;
use crate::figures::{Array, Figures};
use crate::rules::power_of_two_within;
use crate::settings::{Collector, Figure, MissingFigure, RuleSource, Setting};

/// Request size for queue depths.
const REQUEST_BYTES: u64 = 4 << 10;
/// Depth up to which a device sees too few requests to order them itself.
const SHALLOW_DEPTH: f64 = 4.0;
/// Largest `nr_requests` with a scheduler; the kernel refuses more with `EINVAL`. `MAX_SCHED_RQ` in
/// `block/blk-mq-sched.h` is 16 times `BLKDEV_DEFAULT_RQ`, which is 128.
const SCHEDULED_REQUESTS_MAX: u64 = 2048;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    collector.add("queue/rotational", rotational(figures));
    let scheduler = scheduler(figures);
    let in_use = scheduler.as_ref().ok().and_then(|setting| in_use(figures, setting));
    collector.add("queue/scheduler", scheduler);
    collector.add("queue/nr_requests", nr_requests(figures, in_use.as_deref()));
    if let Some(larger) = max_sectors_kb(figures).transpose() {
        collector.add("queue/max_sectors_kb", larger);
    }
    collector.add("queue/read_ahead_kb", read_ahead_kb(figures));
    collector.add("queue/wbt_lat_usec", wbt_lat_usec(figures));
}

fn queue(file: &str, value: impl ToString, seen: Vec<Figure>, source: RuleSource, rule: &str) -> Setting {
    Setting::new(format!("/sys/block/$device/queue/{file}"), value, seen, source, rule)
}

fn scheduler(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let knee = figures.knee_depth(REQUEST_BYTES)?;
    let (is_rotational, mut seen) = rotational_evidence(figures);
    let (value, rule) = if is_rotational {
        (
            "mq-deadline",
            "mq-deadline: reads take as long as on a rotating disk, so ordering requests pays off",
        )
    } else if knee.value.value > SHALLOW_DEPTH {
        (
            "none",
            "none: the device benefits from a deep queue and orders it itself, and it isn't \
            a rotating disk",
        )
    } else {
        (
            "mq-deadline",
            "mq-deadline: the device gains nothing from a queue deeper than 4, so the kernel \
            should order the longer queue",
        )
    };
    let is_certain = is_rotational || (knee.value.low > SHALLOW_DEPTH) == (knee.value.high > SHALLOW_DEPTH);
    seen.push(knee);
    let setting = queue("scheduler", value, seen, RuleSource::Ours, rule)
        .was(figures.queue().ok().and_then(|queue| queue.scheduler.clone()));
    let setting = if is_certain { setting.same_within_bounds() } else { setting };
    let offered = figures.queue().ok().map(|queue| &queue.schedulers_available);
    Ok(match offered.filter(|offered| !offered.is_empty()) {
        Some(offered) if !offered.iter().any(|name| name == value) => {
            setting.shown_only(format!("this kernel offers only {}", offered.join(", ")))
        }
        _ => setting,
    })
}

/// Scheduler after the script has run; `None` if unknown.
fn in_use(figures: &Figures<'_>, advised: &Setting) -> Option<String> {
    let present = || figures.queue().ok()?.scheduler.clone();
    if advised.only_a_comment.is_none() { Some(advised.value.clone()) } else { present() }
}

/// Returns true if reads take as long as on a rotating disk, with the figures behind it. Virtual
/// disks often report themselves as rotational, so the kernel's flag counts only if no latency was
/// measured.
fn rotational_evidence(figures: &Figures<'_>) -> (bool, Vec<Figure>) {
    match figures.random_read_latency() {
        Ok(latency) => (latency.value.value >= ROTATIONAL_LATENCY_NS_MIN as f64, vec![latency]),
        Err(_) => (figures.queue().ok().and_then(|queue| queue.rotational).unwrap_or(false), Vec::new()),
    }
}

/// `queue/rotational`: clears the flag if the latency rules out a disk. Leaves a slow device alone,
/// because it may be a remote volume.
fn rotational(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let stated = figures.queue()?.rotational.ok_or(MissingFigure {
        needs: "the device's rotational flag (queue/rotational)",
        how: "probe the device itself, or a directory on it",
    })?;
    let latency = figures.random_read_latency()?;
    let is_wrong = stated && latency.value.value < ROTATIONAL_LATENCY_NS_MIN as f64;
    let rule = "no disk seeks and rotates to a block within 2 ms, so a device with faster reads \
        isn't one, whatever its flag says. The kernel's defaults for disks, and those of some \
        databases, depend on the flag";
    let value = u8::from(stated && !is_wrong);
    let setting =
        queue("rotational", value, vec![latency], RuleSource::Ours, rule).was(Some(u8::from(stated)));
    Ok(if is_wrong {
        setting
    } else {
        setting.shown_only(
            "the measurement doesn't contradict the \
        flag",
        )
    })
}

fn nr_requests(figures: &Figures<'_>, scheduler: Option<&str>) -> Result<Setting, MissingFigure> {
    let knee = figures.knee_depth(REQUEST_BYTES)?;
    let now = figures.queue()?.requests_max.ok_or(MissingFigure {
        needs: "the number of requests the kernel queues (nr_requests)",
        how: "probe the device itself, or a directory on it",
    })?;
    if scheduler == Some("none") {
        let rule = "without a scheduler this is the device's own queue: the kernel accepts no \
            more (EINVAL), and a smaller value only makes requests wait";
        let setting = queue("nr_requests", now, vec![knee], RuleSource::Documentation, rule).was(Some(now));
        return Ok(setting.shown_only("the kernel sets it when the scheduler becomes none"));
    }
    let value = power_of_two_within(2.0 * knee.value.value, 64, 1024).max(now).min(SCHEDULED_REQUESTS_MAX);
    let rule = "twice the depth of the knee, so that the device stays busy while the kernel \
        orders waiting requests; at least 64 and the present value, at most 2048, the kernel's \
        maximum with a scheduler";
    Ok(queue("nr_requests", value, vec![knee], RuleSource::Ours, rule).was(Some(now)))
}

/// Returns `None` if the present value is right.
fn max_sectors_kb(figures: &Figures<'_>) -> Result<Option<Setting>, MissingFigure> {
    let block = figures.efficient_block_bytes()?;
    let limits = figures.queue()?;
    let stated = limits.split_bytes.ok_or(MissingFigure {
        needs: "the size above which the kernel splits requests (max_sectors_kb)",
        how: "probe the device itself, or a directory on it",
    })?;
    let wanted = power_of_two_within(block.value.value, 4 << 10, 16 << 20).max(stated);
    let value = wanted.min(limits.hardware_split_bytes.unwrap_or(stated).max(stated));
    let rule = "at least the smallest request near full bandwidth, at most the hardware's \
        maximum; no less than the present value";
    let setting = queue("max_sectors_kb", value / 1024, vec![block], RuleSource::Ours, rule);
    Ok((value / 1024 != stated / 1024).then(|| setting.was(Some(stated / 1024))))
}

/// `queue/read_ahead_kb`: the kernel's read-ahead of buffered files.
fn read_ahead_kb(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let request = figures.sequential_request_bytes(1)?;
    let prefetches = figures.reads_ahead();
    if figures.profile.experiments.read_ahead.is_none() {
        // The value depends on it, so no advice is better than advice that a longer probe reverses.
        return Err(MissingFigure {
            needs: "whether the device has its own read-ahead",
            how: "measure it: nandle probe TARGET --only reads,read-ahead --budget 2m --resume",
        });
    }
    let now_kib = probed(figures, |queue| queue.read_ahead_bytes).map(|bytes| bytes / 1024);
    let array = figures.array().filter(Array::is_sure);
    // A greater value was set for a reason.
    let least_kib = now_kib.unwrap_or(0);
    let (value, rule) = if prefetches.is_some() {
        (
            least_kib.max(128),
            "the kernel's default, and no less than the present value: the device has its own \
            read-ahead, and wasted reads of both add up",
        )
    } else {
        let stripe_bytes = array.as_ref().map_or(0, Array::stripe_bytes);
        let ahead = (2.0 * request.value.value).max(stripe_bytes as f64);
        (
            (power_of_two_within(ahead, 128 << 10, 4 << 20) >> 10).max(least_kib),
            "twice the request that saturates the device, so that one request is under way while \
            the other is used, and a whole stripe of an array; 128 to 4096, and no less than the \
            present value",
        )
    };
    let array =
        array.filter(|_| prefetches.is_none()).map(|array| Figure { surest: None, ..array.one_member });
    let seen = std::iter::once(request).chain(prefetches).chain(array).collect();
    Ok(queue("read_ahead_kb", value, seen, RuleSource::Ours, rule)
        .default("128")
        .was(now_kib)
        .remark("It doesn't affect direct I/O or PostgreSQL's random reads."))
}

fn probed(figures: &Figures<'_>, value: fn(&BlockQueue) -> Option<u64>) -> Option<u64> {
    figures.queue().ok().and_then(value)
}

/// The kernel's default for non-rotational devices. A shorter target would throttle all writeback
/// for little gain in reads.
const WRITEBACK_LATENCY_US: f64 = 2000.0;

fn wbt_lat_usec(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let tail = figures.random_read_p99(REQUEST_BYTES)?;
    let value = whole((2.0 * tail.value.value / 1e3).ceil().max(WRITEBACK_LATENCY_US));
    let rule = "twice the 99th percentile of a single read, because slower reads mean that \
        writeback is in the way; at least 2000, because a shorter target would throttle all \
        writeback";
    Ok(queue("wbt_lat_usec", value, vec![tail], RuleSource::Ours, rule)
        .default("2000, or 75000 where the device is rotational")
        .was(probed(figures, |queue| queue.writeback_throttle_latency_us))
        .remark("It exists if the kernel has CONFIG_BLK_WBT."))
}
