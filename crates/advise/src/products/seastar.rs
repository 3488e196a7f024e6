//! Seastar (`ScyllaDB`, Redpanda): `io_properties.yaml`, as `iotune` writes it.

use crate::figures::Figures;
use crate::figures::words::whole;
use crate::rules::power_of_two_within;
use crate::settings::{Collector, Figure, Lack, RuleSource, Setting};

/// Requests that Seastar counts in.
const REQUEST_BYTES: u64 = 4 << 10;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    let file_system = figures.profile.system.file_system.as_ref();
    let mount_point = file_system.map_or("/var/lib/scylla", |file_system| &file_system.mount_point);
    collector.part(format!("disks:\n  - mountpoint: {mount_point}"));
    let measured = "the measured figure, as iotune gives it";
    let whole = |name: &'static str, figure: Result<Figure, Lack>| {
        let figure = figure?;
        let value = whole(figure.value.value);
        Ok(Setting::new(name, value, vec![figure], RuleSource::Documentation, measured))
    };
    let reads = figures.random_read_iops(REQUEST_BYTES).or_else(|_| figures.random_read_iops_max());
    collector.add("read_iops", whole("read_iops", reads));
    collector.add("read_bandwidth", whole("read_bandwidth", figures.sequential_read_bandwidth()));
    let writes = figures.steady_write_iops(REQUEST_BYTES);
    collector.add("write_iops", whole("write_iops", writes).map(steady));
    let write_bandwidth = figures.sequential_write_bandwidth();
    collector.add("write_bandwidth", whole("write_bandwidth", write_bandwidth));
    collector.add("read_saturation_length", saturation_length(figures));
    collector.add("write_saturation_length", write_saturation_length(figures));
    collector.add("physical_block_size", physical_block_size(figures));
    only_whole(collector);
}

/// Seastar takes a disk with all four of its rates or not at all.
fn only_whole(collector: &mut Collector) {
    let rates = ["read_iops", "read_bandwidth", "write_iops", "write_bandwidth"];
    if !collector.missing.iter().any(|missing| rates.contains(&missing.setting)) {
        return;
    }
    for part in &mut collector.parts {
        part.heading = format!("# {}", part.heading.replace('\n', "\n# "));
        for setting in &mut part.settings {
            setting.only_a_comment =
                Some("Seastar takes a disk with all four rates only, and some are missing".into());
        }
    }
}

fn steady(setting: Setting) -> Setting {
    setting.remark("iotune writes for seconds; this is what is left in the steady state.")
}

fn saturation_length(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let block = figures.efficient_block_bytes()?;
    let value = power_of_two_within(block.value.value, 512, 16 << 20);
    let rule = "the smallest request that is near full bandwidth";
    Ok(Setting::new("read_saturation_length", value, vec![block], RuleSource::Documentation, rule))
}

fn write_saturation_length(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let request = figures.sequential_write_request_bytes()?;
    let value = power_of_two_within(request.value.value, 512, 16 << 20);
    let rule = "the smallest write that is near full bandwidth";
    Ok(Setting::new("write_saturation_length", value, vec![request], RuleSource::Documentation, rule))
}

fn physical_block_size(figures: &Figures<'_>) -> Result<Setting, Lack> {
    let block = figures.smallest_block()?;
    let value = power_of_two_within(block.value.value, 512, 64 << 10);
    let rule = "the smallest size whose double gives as many requests a second";
    Ok(Setting::new("physical_block_size", value, vec![block], RuleSource::Documentation, rule))
}
