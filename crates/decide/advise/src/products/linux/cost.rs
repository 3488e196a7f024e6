use crate::figures::Figures;
use crate::figures::physics::within_bandwidth;
use crate::figures::words::whole;
use crate::settings::{Collector, Figure, MissingFigure, RuleSource, Setting};

/// Request size of the cost model.
const COST_BYTES: u64 = 4 << 10;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    collector.part("# The root group of cgroup v2, with the io controller and CONFIG_BLK_CGROUP_IOCOST.");
    collector.add("io.cost.model", cost_model(figures));
    collector.add("io.cost.qos", cost_qos(figures));
}

/// `MAJ:MIN` of the device, read when the script runs.
const NUMBERS: &str = "$(cat /sys/block/$device/dev)";

fn cost_model(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let keys = ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"];
    let seen = [
        figures.sequential_read_bandwidth()?,
        figures.sequential_read_iops(COST_BYTES)?,
        figures.random_read_iops(COST_BYTES)?,
        figures.sequential_write_bandwidth()?,
        figures.sequential_write_iops(COST_BYTES)?,
        figures.steady_write_iops(COST_BYTES)?,
    ];
    let [rbps, rseqiops, rrandiops, wbps, wseqiops, wrandiops] = seen.each_ref();
    let numbers = [side(rbps, rseqiops, rrandiops), side(wbps, wseqiops, wrandiops)].concat();
    let pairs: Vec<String> =
        keys.iter().zip(numbers).map(|(key, number)| format!("{key}={number}")).collect();
    let line = format!("\"{NUMBERS} ctrl=user model=linear {}\"", pairs.join(" "));
    let rule = "the lower bounds of the measured figures, because the kernel doesn't limit groups \
        on a device that it believes to be faster than it is: bandwidth, and sequential and \
        random 4 KiB requests per second, for reads and writes. They come from different depths. \
        Sequential requests count at least as many as random ones, as the model requires, and no \
        rate exceeds the bandwidth";
    Ok(Setting::new("/sys/fs/cgroup/io.cost.model", line, seen.to_vec(), RuleSource::Documentation, rule)
        .remark(DOES_NOT_LAST))
}

const DOES_NOT_LAST: &str =
    "The kernel forgets it at reboot, and no file in /etc sets it: run this script at each boot.";

/// Bandwidth, sequential rate and random rate of reads or of writes, made consistent.
fn side(bandwidth: &Figure, sequential: &Figure, random: &Figure) -> [u64; 3] {
    let bytes_per_s = bandwidth.value.low.max(1.0);
    let [sequential, random] = [sequential, random]
        .map(|figure| within_bandwidth(figure.value, COST_BYTES, bytes_per_s).low.max(1.0));
    [bytes_per_s, sequential.max(random), random].map(whole)
}

/// Share of the peak rate below which a latency doesn't describe a busy device.
const BUSY_SHARE: f64 = 0.5;

fn cost_qos(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
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
    let rule = "the latency of 99 % of requests at the highest rate that the device sustained, if \
        that is at least half of its peak; otherwise no target (0 %). The rest are the kernel's \
        defaults";
    let seen = vec![reads.0, writes.0];
    Ok(Setting::new("/sys/fs/cgroup/io.cost.qos", line, seen, RuleSource::Ours, rule).remark(DOES_NOT_LAST))
}
