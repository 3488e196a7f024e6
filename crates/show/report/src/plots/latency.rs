use nandle_profile::MeasuredCell;

use super::per_device::per_device;
use super::{Curve, Line, Look, Plot, Point, View, XAxis, YAxis, whole};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Median and 99th percentile of the smallest block by queue depth.
pub(super) fn over_depth(devices: &[Device]) -> Plot {
    let cells = |device: &Device| {
        let smallest = device.smallest_block();
        pick(device, XAxis::QueueDepth, move |measured| Some(measured.cell.block_bytes) == smallest)
    };
    let views = views(devices, XAxis::QueueDepth, &cells);
    Plot {
        id: "latency-over-queue-depth",
        title: "Latency over queue depth",
        finding: finding(devices, &views, XAxis::QueueDepth),
        note: format!(
            "Random reads of the smallest block ({}), from submission to completion. Profiles \
            have no intervals for quantiles, and a quantile only if ten requests were slower.",
            smallest_blocks(devices)
        ),
        line: Line::Joined,
        x: XAxis::QueueDepth,
        y: YAxis::Latency,
        marks: Vec::new(),
        choice: "Quantile",
        chosen: 0,
        views,
    }
}

/// Median and 99th percentile at depth 1 by block size.
pub(super) fn over_block(devices: &[Device]) -> Plot {
    let cells = |device: &Device| pick(device, XAxis::BlockSize, |measured| measured.cell.queue_depth == 1);
    let views = views(devices, XAxis::BlockSize, &cells);
    Plot {
        id: "latency-over-block-size",
        title: "Latency over block size",
        finding: finding(devices, &views, XAxis::BlockSize),
        note: "Random reads at depth 1: the wait of a transaction on an idle device.".to_owned(),
        line: Line::Joined,
        x: XAxis::BlockSize,
        y: YAxis::Latency,
        marks: Vec::new(),
        choice: "Quantile",
        chosen: 0,
        views,
    }
}

/// Position of a cell on the axis, with its median and 99th percentile.
struct Quantiles {
    x: f64,
    p50: Option<u64>,
    p99: Option<u64>,
}

type Quantile = fn(&Quantiles) -> Option<u64>;

fn pick(device: &Device, axis: XAxis, keep: impl Fn(&MeasuredCell) -> bool) -> Vec<Quantiles> {
    let x = |measured: &MeasuredCell| match axis {
        XAxis::BlockSize => measured.cell.block_bytes as f64,
        _ => f64::from(measured.cell.queue_depth),
    };
    let kept = device.random_reads().filter(|measured| keep(measured));
    let quantiles = |measured: &MeasuredCell| Quantiles {
        x: x(measured),
        p50: measured.cell.latency_ns.p50,
        p99: measured.cell.latency_ns.p99,
    };
    kept.map(quantiles).collect()
}

fn views(devices: &[Device], axis: XAxis, cells: &dyn Fn(&Device) -> Vec<Quantiles>) -> Vec<View> {
    let named: [(&str, Quantile); 2] =
        [("median", |quantiles| quantiles.p50), ("99th percentile", |quantiles| quantiles.p99)];
    let curve = |device: &Device, label: String, look, quantile: Quantile| {
        let point = |cell: &Quantiles| Some(Point { x: cell.x, y: quantile(cell)? as f64, bounds: None });
        Curve::new(label, look, cells(device).iter().filter_map(point).collect(), Vec::new())
    };
    let views: Vec<_> = if let [device] = devices {
        let curves = named.iter().enumerate();
        let curves = curves.map(|(i, (name, get))| curve(device, (*name).to_owned(), Look::Kind(i), *get));
        vec![View { name: axis.label().to_owned(), curves: curves.collect() }]
    } else {
        let view = |(name, get): &(&str, Quantile)| View {
            name: (*name).to_owned(),
            curves: devices.iter().map(|d| curve(d, d.label(), Look::Kind(d.index), *get)).collect(),
        };
        named.iter().map(view).collect()
    };
    views.into_iter().filter(|view| view.curves.iter().any(|curve| !curve.is_empty())).collect()
}

fn smallest_blocks(devices: &[Device]) -> String {
    let of = |device: &Device| device.smallest_block().map(|block| Quantity::size(block).to_string());
    let mut sizes: Vec<_> = devices.iter().filter_map(of).collect();
    sizes.dedup();
    if sizes.is_empty() { "none was read".to_owned() } else { text::join(&sizes) }
}

fn finding(devices: &[Device], views: &[View], axis: XAxis) -> String {
    let Some(view) = views.first() else {
        return "No latency of random reads was measured.".to_owned();
    };
    let time = |value| Quantity::time_ns(value).to_string();
    if let ([_], Some(median)) = (devices, view.curves.first()) {
        return finding_of_one(median, view.curves.get(1), axis);
    }
    let first = |curve: &Curve| curve.measured.first().map(|point| point.y);
    let last = |curve: &Curve| curve.measured.last().map(|point| point.y);
    let firsts: Vec<_> = view.curves.iter().map(first).collect();
    let lasts: Vec<_> = view.curves.iter().map(last).collect();
    let (start, end) = match axis {
        XAxis::BlockSize => ("smallest block", "largest"),
        _ => ("least depth", "greatest"),
    };
    format!(
        "The {} at the {start} is {}; at the {end} it is {}.",
        view.name,
        per_device(devices, &firsts, "unknown", time),
        per_device(devices, &lasts, "unknown", time),
    )
}

fn finding_of_one(median: &Curve, tail: Option<&Curve>, axis: XAxis) -> String {
    let (Some(first), Some(last)) = (median.measured.first(), median.measured.last()) else {
        return "No median was measured; the slices were too short.".to_owned();
    };
    let at = |x: f64| match axis {
        XAxis::BlockSize => format!("for {} blocks", Quantity::size(whole(x))),
        _ => format!("at depth {}", whole(x)),
    };
    let p99 = |x: f64| {
        let point = tail.and_then(|tail| tail.measured_at(x));
        point.map_or_else(String::new, |point| format!(" (99 % are below {})", Quantity::time_ns(point.y)))
    };
    let start = format!("The median is {} {}{}", Quantity::time_ns(first.y), at(first.x), p99(first.x));
    if last.x <= first.x {
        return start + ".";
    }
    format!(
        "{start} and {} {}{}: {} times the wait for {} times the {}.",
        Quantity::time_ns(last.y),
        at(last.x),
        p99(last.x),
        text::significant(last.y / first.y, 2),
        text::plain(whole((last.x / first.x).round())),
        if axis == XAxis::BlockSize { "bytes" } else { "requests outstanding" },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        let measured = points.iter().map(|(x, y)| Point { x: *x, y: *y, bounds: None }).collect();
        Curve::new(String::new(), Look::Kind(0), measured, Vec::new())
    }

    #[test]
    fn finding_compares_both_ends() {
        let (median, tail) = (curve(&[(1.0, 80e3), (64.0, 240e3)]), curve(&[(1.0, 120e3)]));
        assert_eq!(
            finding_of_one(&median, Some(&tail), XAxis::QueueDepth),
            "The median is 80.0\u{a0}µs at depth 1 (99 % are below 120\u{a0}µs) and 240\u{a0}µs at depth 64: \
             3.0 times the wait for 64 times the requests outstanding."
        );
        let single = curve(&[(4096.0, 80e3)]);
        assert_eq!(
            finding_of_one(&single, None, XAxis::BlockSize),
            "The median is 80.0\u{a0}µs for 4KiB blocks."
        );
        assert!(finding_of_one(&curve(&[]), None, XAxis::BlockSize).starts_with("No median"));
    }
}
