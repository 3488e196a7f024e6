//! Allocation and discard of space. Settings that destroy data or belong to a file system are only
//! shown.

use nandle_profile::BlockQueue;

use crate::figures::words::{number, time};
use crate::figures::{Figures, is_plain_path};
use crate::settings::{Collector, Figure, MissingFigure, RuleSource, Setting};

/// Block size of common file systems.
const FILE_SYSTEM_BLOCK_BYTES: u64 = 4 << 10;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    collector.part("# Space: partitions, file systems and discards.");
    // A file system on a flash drive gains nothing from the layout of the channels, because the
    // drive maps every block itself.
    if let Some(layout) =
        stripes(figures).filter(|_| figures.array().is_some_and(|array| array.is_of_drives()))
    {
        collector.add("mkfs.ext4", Ok(layout));
    }
    if takes_discards(figures) {
        collector.add("parted", partition(figures));
        collector.add("discard_max_bytes", discard_max_bytes(figures));
        collector.add("fstrim", trim(figures));
    }
}

/// Returns true if the device accepts discards and gains from them; a rotational device doesn't.
fn takes_discards(figures: &Figures<'_>) -> bool {
    stated(figures, |queue| queue.discard_bytes_max) != Some(0) && !figures.is_rotational()
}

fn stated(figures: &Figures<'_>, what: fn(&BlockQueue) -> Option<u64>) -> Option<u64> {
    figures.queue().ok().and_then(what)
}

const LOSES_DATA: &str = "it destroys the data on the device: use it when you set up a new one";

/// Unpartitioned space is over-provisioning once it was discarded.
fn partition(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let (fullest, lower_fill_levels) = figures.lower_fill_levels()?;
    let worth = |gain: &Figure, space: f64| gain.value.low / space;
    let best = lower_fill_levels
        .iter()
        .filter(|level| worth(&level.gain, level.space_ratio) > 1.0)
        .max_by(|a, b| worth(&a.gain, a.space_ratio).total_cmp(&worth(&b.gain, b.space_ratio)));
    let (percent, rule) = match best {
        Some(level) => (
            level.fill_share * 100.0,
            "the fill level with the greatest gain in random writes per space given up, if that \
            surely exceeds 1: unpartitioned space is over-provisioning",
        ),
        None => (
            100.0,
            "the whole device: no lower fill level surely gains more in random writes than it \
            costs in space",
        ),
    };
    let remark = format!(
        "Measured up to a fill level of {} %. Space that ever held data counts only after a \
        discard (blkdiscard).",
        number(fullest * 100.0)
    );
    let seen = best.map_or_else(
        || lower_fill_levels.iter().map(|level| level.gain.clone()).collect(),
        |level| vec![level.gain.clone()],
    );
    let command = "parted -s /dev/$device mklabel gpt mkpart data 1MiB";
    Ok(Setting::new(command, format!("{}%", number(percent)), seen, RuleSource::Ours, rule)
        .remark(remark)
        .shown_only(LOSES_DATA))
}

/// Both options count in blocks of the file system (`mke2fs(8)`).
fn stripes(figures: &Figures<'_>) -> Option<Setting> {
    let array = figures.array()?;
    let [chunk, round] =
        [array.chunk_bytes, array.stripe_bytes()].map(|bytes| bytes / FILE_SYSTEM_BLOCK_BYTES);
    let same = stated(figures, |queue| queue.optimal_io_bytes) == Some(array.stripe_bytes());
    let rule = "the chunk and the stripe of the data members, in blocks of 4 KiB: writes of a \
        full stripe need no read, and metadata is spread over the members";
    let xfs = format!("For XFS: mkfs.xfs -d su={}k,sw={}.", array.chunk_bytes >> 10, array.members);
    let value = format!("stride={chunk},stripe_width={round} /dev/$device");
    let setting =
        Setting::new("mkfs.ext4 -E", value, vec![array.one_member], RuleSource::Documentation, rule)
            .remark(xfs);
    let is_layout = chunk > 0;
    let setting =
        if same { setting.shown_only("mkfs reads the same values from the kernel") } else { setting };
    is_layout.then(|| setting.shown_only(LOSES_DATA))
}

/// Longest discard that doesn't noticeably delay the requests behind it.
const DISCARD_NS_MAX: f64 = 10e6;

/// "Setting this value lower will make Linux issue smaller discards and potentially help reduce
/// latencies" (the kernel's `Documentation/ABI/stable/sysfs-block`).
fn discard_max_bytes(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let times = figures.discard_times()?;
    let largest = times.last().map_or(0, |(bytes, _)| *bytes);
    let short = times.iter().rev().find(|(_, figure)| figure.value.high <= DISCARD_NS_MAX);
    let Some((bytes, figure)) = short.or(times.first()) else {
        debug_assert!(false, "figures of discards are never empty");
        return Err(MissingFigure { needs: "the cost of discards", how: "" });
    };
    let granularity = stated(figures, |queue| queue.discard_granularity_bytes).unwrap_or(0);
    let now = stated(figures, |queue| queue.discard_bytes_max);
    let value = (*bytes).max(granularity).min(now.unwrap_or(u64::MAX));
    let rule = format!(
        "the largest measured discard that surely takes no longer than {}: longer ones delay the \
        requests behind them",
        time(DISCARD_NS_MAX)
    );
    let setting = Setting::new(
        "/sys/block/$device/queue/discard_max_bytes",
        value,
        vec![figure.clone()],
        RuleSource::Ours,
        rule,
    )
    .was(now);
    Ok(if *bytes == largest { setting.shown_only("no measured discard takes longer") } else { setting })
}

/// Mount point of the file system if it is a plain path, because the script contains it.
fn mount_point(figures: &Figures<'_>) -> String {
    let file_system = figures.profile.system.file_system.as_ref();
    let plain =
        file_system.map(|file_system| file_system.mount_point.as_str()).filter(|path| is_plain_path(path));
    plain.unwrap_or("\"${mountpoint:?give the mount point of its file system}\"").to_owned()
}

/// Limit on the slowdown of reads, as for writes.
const SLOWER_MAX: f64 = 2.0;

/// Discards on deletion, or once a week (`fstrim(8)`: "sufficient" for most).
fn trim(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let slower = figures.reads_beside_discards()?;
    let bears = slower.value.high <= SLOWER_MAX;
    let (command, value, rule) = if bears {
        (
            "mount -o remount,discard",
            mount_point(figures),
            "the option discard: reads behind a discard surely take no more than twice as long, \
            so files can be discarded on deletion",
        )
    } else {
        (
            "systemctl enable --now",
            "fstrim.timer".to_owned(),
            "once a week, without the option discard: reads behind a discard may take more than \
            twice as long, and deletions run beside reads",
        )
    };
    Ok(Setting::new(command, value, vec![slower], RuleSource::Ours, rule)
        .shown_only("it belongs to the file system, not to the device's queue"))
}
