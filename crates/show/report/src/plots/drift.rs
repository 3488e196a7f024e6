use nandle_profile::{ReferenceCell, ReferenceSlice};

use super::per_device::per_device;
use super::{Curve, Line, Look, Plot, Point, View, XAxis, YAxis};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Anchor of the plot.
pub(crate) const DRIFT: &str = "reference-over-time";
/// Least variation that is worth a plot.
const EVEN: f64 = 0.01;

/// Returns true if no device varied enough for a plot.
pub(crate) fn is_even(devices: &[Device]) -> bool {
    devices.iter().all(|device| reference(device).is_some_and(|reference| reference.variation < EVEN))
}

/// Bandwidth of the reference cell during the probe, relative to its median.
pub(super) fn plot(devices: &[Device]) -> Plot {
    let label =
        |device: &Device| if devices.len() == 1 { "reference cell".to_owned() } else { device.label() };
    let curves: Vec<_> = devices.iter().map(|device| curve(device, label(device))).collect();
    let drawn = curves.iter().any(|curve| !curve.is_empty());
    let view = || View { name: "reference cell".to_owned(), curves };
    Plot {
        id: DRIFT,
        title: "The reference cell over time",
        finding: finding(devices),
        note: "One cell is measured repeatedly between the others. Its course is the drift that \
            the steady bandwidths are corrected for; 100 % is its median."
            .to_owned(),
        line: Line::Joined,
        x: XAxis::Elapsed,
        y: YAxis::Share("Bandwidth relative to the median"),
        marks: Vec::new(),
        choice: "Cell",
        chosen: 0,
        views: if drawn { vec![view()] } else { Vec::new() },
    }
}

fn reference<'a>(device: &Device<'a>) -> Option<&'a ReferenceCell> {
    device.profile.conditions.reference.as_ref().filter(|reference| reference.bandwidth_bytes_per_s > 0.0)
}

fn curve(device: &Device, label: String) -> Curve {
    let point = |reference: &ReferenceCell, slice: &ReferenceSlice| Point {
        x: slice.began_ns as f64 / 1e9,
        y: slice.bandwidth_bytes_per_s / reference.bandwidth_bytes_per_s,
        bounds: None,
    };
    let points = reference(device)
        .map(|reference| reference.series.iter().map(|slice| point(reference, slice)).collect::<Vec<_>>());
    Curve::new(label, Look::Kind(device.index), points.unwrap_or_default(), Vec::new())
}

fn finding(devices: &[Device]) -> String {
    if let [device] = devices {
        return reference(device).map_or_else(
            || "No reference cell was measured, so drift could be neither seen nor corrected.".to_owned(),
            finding_of_one,
        );
    }
    let variation = |device: &Device| reference(device).map(|reference| reference.variation);
    let variations: Vec<_> = devices.iter().map(variation).collect();
    let words = per_device(devices, &variations, "unknown", |share| format!("{} %", percent(share)));
    format!("The reference cell varies (standard deviation) by {words}.")
}

fn finding_of_one(reference: &ReferenceCell) -> String {
    let told = format!(
        "The reference cell ({} at depth {}) varied by {} % (standard deviation) around {} in {}",
        Quantity::size(reference.block_bytes),
        reference.queue_depth,
        percent(reference.variation),
        Quantity::bandwidth(reference.bandwidth_bytes_per_s),
        text::plural(u64::from(reference.slices), "slice"),
    );
    match trend(reference) {
        None => told + ".",
        Some(change) if change.abs() < reference.variation.max(0.01) => {
            format!("{told}, without a trend beyond that noise.")
        }
        Some(change) => {
            let share = text::significant(100.0 * change.abs(), 2);
            let way = if change < 0.0 { "slower" } else { "faster" };
            format!("{told}; its last third was {share} % {way} than its first.")
        }
    }
}

/// Mean of the last third relative to the first third, minus one.
fn trend(reference: &ReferenceCell) -> Option<f64> {
    let third = reference.series.len() / 3;
    let mean = |slices: &[ReferenceSlice]| {
        slices.iter().map(|slice| slice.bandwidth_bytes_per_s).sum::<f64>() / slices.len() as f64
    };
    let first = reference.series.get(..third).filter(|slices| !slices.is_empty())?;
    let last = reference.series.get(reference.series.len() - third..)?;
    Some(mean(last) / mean(first) - 1.0)
}

/// Formats a share in per cent. Repeat runs on a modelled drive may differ only by rounding.
fn percent(share: f64) -> String {
    if share < 1e-4 { "less than 0.01".to_owned() } else { text::significant(100.0 * share, 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(bandwidths: &[f64]) -> ReferenceCell {
        ReferenceCell {
            block_bytes: 32 << 10,
            queue_depth: 16,
            slices: 6,
            bandwidth_bytes_per_s: 1e9,
            variation: 0.03,
            series: (0..)
                .zip(bandwidths)
                .map(|(began_ns, bandwidth)| ReferenceSlice { began_ns, bandwidth_bytes_per_s: *bandwidth })
                .collect(),
        }
    }

    #[test]
    fn trend_is_reported_only_beyond_the_noise() {
        let steady = finding_of_one(&reference(&[1e9, 1.01e9, 0.99e9, 1e9, 1.0e9, 1.01e9]));
        assert!(steady.ends_with("varied by 3.0 % (standard deviation) around 1.00\u{a0}GB/s in 6\u{a0}slices, without a trend beyond that noise."), "{steady}");
        let slowing = finding_of_one(&reference(&[1e9, 1e9, 1e9, 0.9e9, 0.8e9, 0.8e9]));
        assert!(slowing.ends_with("; its last third was 20 % slower than its first."), "{slowing}");
        assert!(finding_of_one(&reference(&[1e9])).ends_with("in 6\u{a0}slices."));
    }
}
