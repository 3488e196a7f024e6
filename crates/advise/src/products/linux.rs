//! Linux: a shell script for the block device's queue (`Documentation/block/queue-sysfs.rst` of the kernel) and for the
//! cost model of the I/O controller (`Documentation/admin-guide/cgroup-v2.rst`, "IO Interface Files").

use crate::figures::Figures;
use crate::figures::words::whole;
use crate::rules::power_of_two_within;
use crate::settings::{Collector, Figure, Lack, RuleSource, Setting};

/// Requests that the cost model counts in.
const COST_BYTES: u64 = 4 << 10;
/// Up to this depth a device sees too little ahead to order requests itself.
const SHALLOW_DEPTH: f64 = 4.0;

/// Half of the reads of a disk take longer than this: half a turn of the fastest is 2 ms.
const TURNS_NS: f64 = 1.5e6;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    collector.part(device(figures));
    collector.add("queue/scheduler", scheduler(figures));
    collector.add("queue/nr_requests", nr_requests(figures));
    collector.add("queue/max_sectors_kb", max_sectors_kb(figures));
    collector.add("queue/read_ahead_kb", read_ahead_kb(figures));
    collector.add("queue/wbt_lat_usec", wbt_lat_usec(figures));
    collector.part("# The root group of cgroup v2, with the io controller and CONFIG_BLK_CGROUP_IOCOST.");
    collector.add("io.cost.model", cost_model(figures));
    collector.add("io.cost.qos", cost_qos(figures));
}

/// The first line of the script: which device is meant.
fn device(figures: &Figures<'_>) -> String {
    match &figures.profile.identity.kernel_name {
        Some(name) => format!("device={name} # as the kernel called it when it was probed"),
        // An apostrophe in these words would begin a quotation.
        None => {
            "device=${1:?give the name that the kernel has for the device, such as sda: the profile has none}"
                .into()
        }
    }
}

fn queue(file: &str, value: impl ToString, seen: Vec<Figure>, source: RuleSource, rule: &str) -> Setting {
    Setting::new(format!("/sys/block/$device/queue/{file}"), value, seen, source, rule)
}

fn scheduler(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(COST_BYTES)?;
    let (turns, mut seen) = turns(figures);
    let (value, rule) = if turns {
        (
            "mq-deadline",
            "mq-deadline: a read takes as long as if it waited for something that turns, so that order pays",
        )
    } else if knee.value.value > SHALLOW_DEPTH {
        ("none", "none: the device gains from a deep queue and orders it itself, and nothing in it turns")
    } else {
        (
            "mq-deadline",
            "mq-deadline: the device gains nothing from a queue deeper than 4, so that the kernel has the longer queue to \
             order",
        )
    };
    seen.push(knee);
    let setting = queue("scheduler", value, seen, RuleSource::Ours, rule);
    let offered = figures.queue().ok().map(|queue| &queue.schedulers_available);
    Ok(match offered.filter(|offered| !offered.is_empty()) {
        Some(offered) if !offered.iter().any(|name| name == value) => {
            setting.shown_only(format!("this kernel offers {} alone", offered.join(", ")))
        }
        _ => setting,
    })
}

/// Whether a read waits for something that turns. Virtual disks often call themselves rotational and aren't, so the
/// system's word counts only where no latency was measured.
fn turns(figures: &Figures<'_>) -> (bool, Vec<Figure>) {
    match figures.random_read_latency() {
        Ok(latency) => (latency.value.value >= TURNS_NS, vec![latency]),
        Err(_) => (figures.queue().ok().and_then(|queue| queue.rotational).unwrap_or(false), Vec::new()),
    }
}

fn nr_requests(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let knee = figures.knee_depth(COST_BYTES)?;
    let now = figures.queue().ok().and_then(|queue| queue.requests_max).unwrap_or(0);
    let value = power_of_two_within(2.0 * knee.value.value, 64, 1024).max(now);
    let rule = "twice the depth of the knee, so that the device is fed while the kernel orders what waits; at least \
                64, and what there is now";
    let setting = queue("nr_requests", value, vec![knee], RuleSource::Ours, rule);
    Ok(if now > 0 && value > now {
        setting.remark("Without a scheduler the kernel takes no more than the device's own queue holds.")
    } else {
        setting
    })
}

fn max_sectors_kb(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let block = figures.efficient_block_bytes()?;
    let limits = figures.queue()?;
    let stated = limits.split_bytes.ok_or(Lack {
        needs: "where the kernel splits requests (max_sectors_kb)",
        how: "probe the device itself, or a directory on it",
    })?;
    let wanted = power_of_two_within(block.value.value, 4 << 10, 16 << 20).max(stated);
    let value = wanted.min(limits.hardware_split_bytes.unwrap_or(stated).max(stated));
    let rule = "at least the smallest request that is near full bandwidth, at most what the hardware takes; no less \
                than there is now";
    Ok(queue("max_sectors_kb", value / 1024, vec![block], RuleSource::Ours, rule))
}

/// Of the kernel's reading ahead for buffered files.
fn read_ahead_kb(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let request = figures.sequential_request_bytes(1)?;
    let prefetches = figures.reads_ahead();
    let (value, rule) = if prefetches.is_some() {
        (
            128,
            "the kernel's default: the device reads ahead by itself, and what both fetch in vain is paid for twice",
        )
    } else {
        let ahead = power_of_two_within(2.0 * request.value.value, 128 << 10, 4 << 20);
        (
            ahead >> 10,
            "twice the request that saturates the device, so that one is under way while the other is used; 128 to 4096",
        )
    };
    let seen = std::iter::once(request).chain(prefetches).collect();
    Ok(queue("read_ahead_kb", value, seen, RuleSource::Ours, rule)
        .default("128")
        .remark("Direct I/O, and PostgreSQL's random reads, are not touched by it."))
}

/// The kernel's own target where nothing turns. A shorter one would hold all writing back for what reads hardly feel.
const WRITEBACK_LATENCY_US: f64 = 2000.0;

fn wbt_lat_usec(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let tail = figures.random_read_p99(COST_BYTES)?;
    let value = whole((2.0 * tail.value.value / 1e3).ceil().max(WRITEBACK_LATENCY_US));
    let rule = "twice the 99th percentile of a read alone, since longer than that writeback is in its way; at least \
                2000, for a shorter target would hold all writing back";
    Ok(queue("wbt_lat_usec", value, vec![tail], RuleSource::Ours, rule)
        .default("2000, or 75000 where the device is rotational")
        .remark("It is there where the kernel has CONFIG_BLK_WBT."))
}

/// `MAJ:MIN` of the device, found when the script runs.
const NUMBERS: &str = "$(cat /sys/block/$device/dev)";

fn cost_model(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let keys = ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"];
    let seen = vec![
        figures.sequential_read_bandwidth()?,
        figures.sequential_read_iops(COST_BYTES)?,
        figures.random_read_iops(COST_BYTES)?,
        figures.sequential_write_bandwidth()?,
        figures.sequential_write_iops(COST_BYTES)?,
        figures.steady_write_iops(COST_BYTES)?,
    ];
    let measured: Vec<f64> = seen.iter().map(|figure| figure.value.value.max(1.0)).collect();
    let value = |(index, key): (usize, &&str)| {
        let own = measured.get(index).copied().unwrap_or(1.0);
        let random = measured.get(index + 1).filter(|_| key.ends_with("seqiops"));
        format!("{key}={}", whole(random.map_or(own, |random| own.max(*random))))
    };
    let pairs: Vec<String> = keys.iter().enumerate().map(value).collect();
    let line = format!("\"{NUMBERS} ctrl=user model=linear {}\"", pairs.join(" "));
    let rule = "the measured figures: bytes, sequential and random 4 KiB requests a second, of reads and of writes. They \
                come from different depths; sequential requests count as at least as many as random ones, as the \
                model has it";
    Ok(Setting::new("/sys/fs/cgroup/io.cost.model", line, seen, RuleSource::Documentation, rule))
}

/// A latency that was seen below this share of the most a second says nothing of a busy device.
const BUSY_SHARE: f64 = 0.5;

fn cost_qos(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let [reads, writes] = figures.latency_near_saturation()?;
    let target = |(figure, share): &(Figure, f64), key: char| {
        let percent = if *share >= BUSY_SHARE { 99.0 } else { 0.0 };
        format!("{key}pct={percent:.2} {key}lat={}", whole((figure.value.value / 1e3).ceil()))
    };
    let line = format!(
        "\"{NUMBERS} enable=1 ctrl=user {} {} min=50.00 max=150.00\"",
        target(&reads, 'r'),
        target(&writes, 'w')
    );
    let rule = "the latency that 99 % of requests have at the highest rate that the device kept up with, where that is half \
                of its most or more; else no target (0 %). The rest follows the kernel's own defaults";
    let seen = vec![reads.0, writes.0];
    Ok(Setting::new("/sys/fs/cgroup/io.cost.qos", line, seen, RuleSource::Ours, rule))
}
