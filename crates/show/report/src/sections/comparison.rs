mod writing;

use std::collections::BTreeMap;

use maud::{Markup, html};
use nandle_profile::{Derived, Interval};

use crate::device::Device;
use crate::text::{self, Quantity};

/// Row of the comparison: a figure on each device, and the device that is surely best.
#[derive(Clone)]
struct Row {
    name: &'static str,
    values: Vec<Option<String>>,
    best: Option<usize>,
}

/// Comparison of the devices.
pub(crate) fn comparison(devices: &[Device]) -> Markup {
    let measurement_differences = measurement_differences(devices);
    html! {
        section.comparison {
            h2 { "Side by side" }
            @if !measurement_differences.is_empty() {
                div.notice.grave {
                    p.notice-title { "Measured differently" }
                    ul { @for sentence in &measurement_differences { li { (sentence) } } }
                }
            }
            div.scroll tabindex="0" role="region" aria-label="Comparison" {
                table.compare {
                    caption { span { "In parentheses: 95 % intervals. “unclear”: the interval \
                        reaches zero or spans a factor of ten. “best”: its interval is above all \
                        others." } }
                    thead { tr {
                        td {}
                        @for device in devices { th scope="col" { bdi { (device.label()) } } }
                    } }
                    tbody { @for row in rows(devices) { (row_markup(&row)) } }
                }
            }
        }
    }
}

fn row_markup(row: &Row) -> Markup {
    html! {
        tr {
            th scope="row" { (row.name) }
            @for (index, value) in row.values.iter().enumerate() {
                @match value {
                    Some(value) => td { bdi { (value) } @if row.best == Some(index) { " " span.best { "best" } } },
                    None => td.none { "unknown" },
                }
            }
        }
    }
}

fn rows(devices: &[Device]) -> Vec<Row> {
    [reading(devices), writing::rows(devices)].concat()
}

fn reading(devices: &[Device]) -> Vec<Row> {
    vec![
        plain("Target", devices, |device| Some(text::short(&text::clean(&device.profile.target), 40))),
        plain("Measured", devices, |device| Some(text::calendar(device.profile.made_at_unix_s))),
        plain("Capacity", devices, |device| {
            device.profile.identity.capacity_bytes.map(|bytes| Quantity::capacity(bytes).to_string())
        }),
        ranked("Random bandwidth", devices, |d| d.random_bandwidth_bytes_per_s_max, text::bandwidth),
        ranked("Sequential bandwidth", devices, |d| d.sequential_bandwidth_bytes_per_s_max, text::bandwidth),
        ranked("Random reads/s", devices, |d| d.random_read_iops_max, text::iops),
        plain("Latency, smallest block", devices, |device| {
            device.profile.derived.random_read_latency_ns.map(text::time_ns)
        }),
        plain("Efficient block", devices, |device| {
            device.profile.derived.efficient_block_bytes.as_ref().map(text::size)
        }),
        plain("Depth, smallest block", devices, depth_of_smallest),
        plain("Worst group factor", devices, worst_group),
        plain("Split size stated", devices, |device| {
            let split = device.profile.derived.split_bytes.as_ref()?;
            split.stated_bytes.map(|bytes| Quantity::size(bytes).to_string())
        }),
        plain("Unit for reading with gaps", devices, |device| {
            let unit = device.profile.derived.flexible_io.as_ref()?;
            Some(format!("{} × {}", Quantity::size(unit.block_bytes.value), unit.group_blocks.value))
        }),
        plain("Break-even, blocks", devices, |device| {
            device.profile.derived.flexible_io.as_ref().map(|unit| text::factor(&unit.break_even_blocks))
        }),
        plain("Complete", devices, |device| {
            Some(if device.profile.partial.is_empty() { "yes" } else { "no, partial" }.to_owned())
        }),
    ]
}

fn plain(name: &'static str, devices: &[Device], value: impl Fn(&Device) -> Option<String>) -> Row {
    Row { name, values: devices.iter().map(value).collect(), best: None }
}

fn ranked(
    name: &'static str,
    devices: &[Device],
    interval: impl Fn(&Derived) -> Option<Interval<f64>>,
    say: impl Fn(&Interval<f64>) -> String,
) -> Row {
    let intervals: Vec<_> = devices.iter().map(|device| interval(&device.profile.derived)).collect();
    let values = intervals.iter().map(|interval| interval.as_ref().map(&say)).collect();
    Row { name, values, best: clear_best(&intervals) }
}

/// Device with an interval above all others; `None` if a figure is unknown or intervals overlap.
fn clear_best(intervals: &[Option<Interval<f64>>]) -> Option<usize> {
    let known: Vec<_> = intervals.iter().copied().collect::<Option<_>>()?;
    let above = |index: usize, best: &Interval<f64>| {
        known.iter().enumerate().all(|(other, interval)| other == index || interval.high < best.low)
    };
    known.iter().enumerate().find(|(index, interval)| above(*index, interval)).map(|(index, _)| index)
}

fn depth_of_smallest(device: &Device) -> Option<String> {
    let depths = &device.profile.derived.saturating_queue_depth;
    let of = depths.iter().min_by_key(|depth| depth.block_bytes)?;
    let block = Quantity::size(of.block_bytes);
    Some(if of.plateau_reached {
        format!("{} for {block}", text::depth(&of.queue_depth))
    } else {
        format!("more than {} for {block}", of.queue_depth.value)
    })
}

fn worst_group(device: &Device) -> Option<String> {
    let ratios = device.profile.derived.group_penalty.iter().map(|penalty| penalty.ratio);
    ratios.min_by(|a, b| a.value.total_cmp(&b.value)).map(|ratio| text::factor(&ratio))
}

/// Circumstance of a measurement, in a word.
type Circumstance<'a> = &'a dyn Fn(&Device) -> String;

/// Differences in measurement that make a comparison doubtful.
fn measurement_differences(devices: &[Device]) -> Vec<String> {
    let backend = |device: &Device| text::clean(&device.profile.backend.io);
    let direct = |device: &Device| if device.profile.backend.direct { "direct" } else { "cached" }.to_owned();
    let area = |device: &Device| Quantity::size(device.profile.conditions.file_bytes).to_string();
    let checks: [(&str, Circumstance); 3] = [
        ("Requests were submitted by", &backend),
        ("Input and output were", &direct),
        ("The area addressed was", &area),
    ];
    checks.into_iter().filter_map(|(what, of)| difference(devices, what, of)).collect()
}

fn difference(devices: &[Device], what: &str, of: Circumstance) -> Option<String> {
    let mut letters_by_value: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for device in devices {
        letters_by_value.entry(of(device)).or_default().push(device.letter());
    }
    let phrase = |(value, letters): (&String, &Vec<String>)| format!("{value} on {}", text::join(letters));
    let phrases: Vec<_> = letters_by_value.iter().map(phrase).collect();
    (phrases.len() > 1).then(|| format!("{what} {}.", phrases.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn best_device_needs_a_clear_interval() {
        let around = |value: f64| Some(Interval { value, low: value - 1.0, high: value + 1.0 });
        assert_eq!(clear_best(&[around(5.0), around(8.0), around(2.0)]), Some(1));
        assert_eq!(clear_best(&[around(5.0), around(6.0)]), None);
        assert_eq!(clear_best(&[around(5.0), None]), None);
    }

    #[test]
    fn differently_measured_devices_are_named() {
        let mut profiles = [made_up::fast(), made_up::fast()];
        assert_eq!(measurement_differences(&Device::all(&profiles)), [""; 0]);
        profiles[1].backend.direct = false;
        assert_eq!(
            measurement_differences(&Device::all(&profiles)),
            ["Input and output were cached on B; direct on A."]
        );
    }
}
