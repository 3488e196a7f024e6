//! Area and number of streams up to which random writes are cheap.

use nandle_profile::Cheap;
use nandle_profile::experiments::{MicroBenchmark, PatternCost};

use super::label;
use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text::{self, Quantity};

const COST: YAxis = YAxis::Factor("Time of a write divided by a sequential one");

/// Write cost by size of the area with random writes.
pub(super) fn areas(devices: &[Device]) -> Option<Figure> {
    let curves = curves(devices, MicroBenchmark::Locality, "random writes within the area", |row| {
        nandle_bytes(row.pattern.strip_prefix("focused:")?)
    })?;
    let axes = (XAxis::Size("Area of the random writes"), COST);
    let plot = Plot::joined("focused-area", "The focused area", axes, "", View::single(curves));
    Some(Figure::Plot(Plot {
        finding: areas_finding(devices),
        note: "Where the curve is low, changes within an area of that size can be written in any \
            order."
            .into(),
        ..plot
    }))
}

fn areas_finding(devices: &[Device]) -> String {
    let area = |device: &Device| device.profile.derived.cheap_area_bytes();
    if let [device] = devices {
        return match area(device) {
            None => "The area within which random writes are cheap was not determined.".to_owned(),
            Some(Cheap::UpTo { extent, cost: Some(cost) }) => format!(
                "Random writes stay cheap within {}: there one costs {} times a sequential one.",
                text::size(&extent),
                text::significant(cost.value, 2)
            ),
            Some(Cheap::UpTo { extent, cost: None }) => {
                format!("Random writes stay cheap within {}.", text::size(&extent))
            }
            Some(Cheap::Unclear) => {
                "The area within which random writes are cheap, if any, is unclear: their cost \
                varied too much."
                    .to_owned()
            }
            Some(Cheap::Nowhere) => "Random writes are not cheap in any measured area.".to_owned(),
        };
    }
    let extent =
        |device: &Device| extent_text(area(device), "no area", |bytes| Quantity::size(bytes).to_string());
    format!("Random writes stay cheap within {}.", per_device(devices, extent))
}

/// Write cost by number of sequential streams.
pub(super) fn partitions(devices: &[Device]) -> Option<Figure> {
    let curves = curves(devices, MicroBenchmark::Partitioning, "writes in streams", |row| {
        row.pattern.strip_prefix("partitioned:")?.parse().ok()
    })?;
    let axes = (XAxis::Count("Sequential streams, alternating"), COST);
    let plot = Plot::joined("partitions", "Streams", axes, "", View::single(curves));
    Some(Figure::Plot(Plot {
        finding: partitions_finding(devices),
        note: "Each stream writes in sequence in its own region: logs, runs of a sort, partitions \
            of a table."
            .to_owned(),
        ..plot
    }))
}

fn partitions_finding(devices: &[Device]) -> String {
    let streams = |device: &Device| device.profile.derived.cheap_streams();
    if let [device] = devices {
        return match streams(device) {
            None => "The number of streams that stay cheap was not determined.".to_owned(),
            Some(Cheap::UpTo { extent, .. }) => {
                format!(
                    "Up to {} concurrent streams stay cheap, of the numbers measured.",
                    text::depth(&extent)
                )
            }
            Some(Cheap::Unclear) => {
                "The number of streams that stay cheap, if any, is unclear: their cost varied too \
                much."
                    .to_owned()
            }
            Some(Cheap::Nowhere) => "Not even two concurrent streams stay cheap.".to_owned(),
        };
    }
    let extent = |device: &Device| extent_text(streams(device), "not even two", |count| count.to_string());
    format!("Concurrent streams that stay cheap: {}.", per_device(devices, extent))
}

/// Extent of cheap writes in a word or two, for a comparison.
fn extent_text<T>(found: Option<Cheap<T>>, nowhere: &str, say: impl Fn(T) -> String) -> String {
    match found {
        None => "unknown".to_owned(),
        Some(Cheap::UpTo { extent, .. }) => say(extent.value),
        Some(Cheap::Unclear) => "unclear".to_owned(),
        Some(Cheap::Nowhere) => nowhere.to_owned(),
    }
}

/// Joins a phrase per device: `8MiB on A and unclear on B`.
fn per_device(devices: &[Device], say: impl Fn(&Device) -> String) -> String {
    let phrases = devices.iter().map(|device| format!("{} on {}", say(device), device.letter()));
    text::join(&phrases.collect::<Vec<_>>())
}

fn curves(
    devices: &[Device],
    benchmark: MicroBenchmark,
    alone: &str,
    position: impl Fn(&PatternCost) -> Option<u64>,
) -> Option<Vec<Curve>> {
    let point = |row: &PatternCost| Some(Point::new(position(row)? as f64, row.relative_cost.as_ref()?));
    let points = |device: &Device| -> Vec<Point> {
        let conducted = device.profile.experiments.write_patterns.iter();
        let rows = conducted.flat_map(|conducted| &conducted.findings.patterns);
        rows.filter(|row| row.micro_benchmark == benchmark).filter_map(point).collect()
    };
    let curve = |device: &Device| {
        Curve::joined(label(devices, device, alone), Look::Kind(device.index), points(device))
    };
    let curves: Vec<_> = devices.iter().map(curve).collect();
    curves.iter().any(|curve| !curve.is_empty()).then_some(curves)
}

/// Parses a size from a pattern: `8MiB`.
fn nandle_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let scale: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some(whole(number * scale as f64))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes and counts are whole and below 2^53"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_patterns_are_parsed() {
        assert_eq!(nandle_bytes("8MiB"), Some(8 << 20));
        assert_eq!(nandle_bytes("3.5MiB"), Some(7 << 19));
        assert_eq!(nandle_bytes("512"), Some(512));
        assert_eq!(nandle_bytes("8 parsecs"), None);
    }
}
