//! Seastar (`ScyllaDB`, Redpanda): `io_properties.yaml`, in the format of `iotune`.

use nandle_profile::disturbs;

use crate::figures::physics::within_figure;
use crate::figures::words::whole;
use crate::figures::{Figures, is_plain_path};
use crate::rules::power_of_two_within;
use crate::settings::{Collector, Figure, MissingFigure, RuleSource, Setting};

/// Request size of Seastar's rates.
const REQUEST_BYTES: u64 = 4 << 10;

pub(super) fn collect(figures: &Figures<'_>, collector: &mut Collector) {
    let file_system = figures.profile.system.file_system.as_ref();
    let mount_point = match file_system {
        Some(file_system) => yaml_string(&file_system.mount_point),
        None => "/var/lib/scylla # replace by the data directory: the profile has none".to_owned(),
    };
    collector.part(format!("disks:\n  - mountpoint: {mount_point}"));
    let measured = "the lower bound of the measured figure, which iotune gives: if Seastar \
        overestimates the device, requests wait in the device's queue, beyond its scheduling";
    let whole = |name: &'static str, figure: Result<Figure, MissingFigure>| {
        let figure = figure?;
        let value = whole(figure.value.low.max(1.0));
        Ok(Setting::new(name, value, vec![figure], RuleSource::Documentation, measured))
    };
    let reads = figures.random_read_iops(REQUEST_BYTES).or_else(|_| figures.random_read_iops_max());
    let read_bandwidth = figures.sequential_read_bandwidth();
    let reads = within_figure(reads, REQUEST_BYTES, &read_bandwidth);
    collector.add("read_iops", whole("read_iops", reads));
    collector.add("read_bandwidth", whole("read_bandwidth", read_bandwidth));
    let writes = figures.steady_write_iops(REQUEST_BYTES);
    let write_bandwidth = figures.sequential_write_bandwidth();
    let writes = within_figure(writes, REQUEST_BYTES, &write_bandwidth);
    collector.add("write_iops", writes.map(write_iops));
    collector.add("write_bandwidth", whole("write_bandwidth", write_bandwidth));
    collector.add("read_saturation_length", saturation_length(figures));
    collector.add("write_saturation_length", write_saturation_length(figures));
    collector.add("physical_block_size", physical_block_size(figures));
}

/// Seastar needs all four rates of a disk, or none.
pub(super) fn all_or_nothing(collector: &mut Collector) {
    const RATES: [&str; 4] = ["read_iops", "read_bandwidth", "write_iops", "write_bandwidth"];
    let is_set = |rate: &&str| {
        collector
            .parts
            .iter()
            .flat_map(|part| &part.settings)
            .any(|setting| setting.name == **rate && setting.only_a_comment.is_none())
    };
    if RATES.iter().all(is_set) {
        return;
    }
    for part in &mut collector.parts {
        part.heading = format!("# {}", part.heading.replace('\n', "\n# "));
        for setting in &mut part.settings {
            setting.show_only(
                "Seastar needs all four rates of a disk, and some are missing or \
                    uncertain",
            );
        }
    }
}

/// Formats a YAML string: bare for a plain path, otherwise in double quotes with escapes (YAML 1.2,
/// §5.7).
fn yaml_string(text: &str) -> String {
    if is_plain_path(text) {
        return text.to_owned();
    }
    let escaped = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if disturbs(letter) => format!("\\U{:08X}", u32::from(letter)),
        letter => letter.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// The figure isn't iotune's, so the rule is ours.
fn write_iops(writes: Figure) -> Setting {
    let rule = "the lower bound of the steady state, not of the first seconds as iotune gives: \
        the scheduler distributes this rate permanently";
    let value = whole(writes.value.low.max(1.0));
    Setting::new("write_iops", value, vec![writes], RuleSource::Ours, rule)
}

fn saturation_length(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let block = figures.efficient_block_bytes()?;
    let value = power_of_two_within(block.value.value, 512, 16 << 20);
    let rule = "the smallest request near full bandwidth";
    Ok(Setting::new("read_saturation_length", value, vec![block], RuleSource::Documentation, rule))
}

fn write_saturation_length(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let request = figures.sequential_write_request_bytes()?;
    let value = power_of_two_within(request.value.value, 512, 16 << 20);
    let rule = "the smallest write near full bandwidth";
    Ok(Setting::new("write_saturation_length", value, vec![request], RuleSource::Documentation, rule))
}

fn physical_block_size(figures: &Figures<'_>) -> Result<Setting, MissingFigure> {
    let block = figures.smallest_block()?;
    let stated =
        figures.queue().ok().and_then(|queue| queue.physical_block_bytes.max(queue.logical_block_bytes));
    let value = power_of_two_within(block.value.value, 512, 64 << 10).max(stated.unwrap_or(0));
    let rule = "the smallest size whose double gives the same request rate, at least the kernel's \
        value: a smaller write makes the device read first, even if no measurement showed it";
    let setting = Setting::new("physical_block_size", value, vec![block], RuleSource::Documentation, rule);
    Ok(setting.was(stated.map(|bytes| format!("{bytes} as the kernel reports"))))
}
