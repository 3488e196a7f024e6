use std::collections::BTreeMap;

use nandle_profile::LatencySummary;
use nandle_profile::experiments::{CommitCost, ExtentState};

use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis, each};
use crate::text::{self, Quantity};

type Quantile = fn(&LatencySummary) -> Option<u64>;

const QUANTILES: [(&str, Quantile); 5] = [
    ("median", |latency| latency.p50),
    ("90th percentile", |latency| latency.p90),
    ("99th percentile", |latency| latency.p99),
    ("99.9th percentile", |latency| latency.p999),
    ("slowest seen", |latency| latency.max),
];

/// Time of a commit over its size, in quantiles: a curve for each way of one device, or the soonest of each device.
pub(super) fn plot(devices: &[Device]) -> Option<Figure> {
    let view = |(name, quantile): &(&str, Quantile)| View {
        name: (*name).to_owned(),
        curves: match devices {
            [device] => ways(device, *quantile),
            _ => devices.iter().map(|device| soonest(device, *quantile)).collect(),
        },
    };
    let axes = (XAxis::Size("Bytes of a write"), YAxis::Latency);
    let plot = Plot::joined(
        "commit-time",
        "Time of a commit",
        axes,
        "Quantile",
        QUANTILES.iter().map(view).collect(),
    );
    let finding = match devices {
        [device] => finding(device),
        _ => finding_of_several(devices),
    };
    (!plot.views.is_empty()).then(|| {
        let note = "From the write’s submission until it is durable. A quantile stands here only where ten commits were \
                    slower."
            .to_owned();
        Figure::Plot(Plot { finding, note, ..plot })
    })
}

fn commits<'a>(device: &Device<'a>) -> &'a [CommitCost] {
    device.profile.experiments.flush.as_ref().map_or(&[], |conducted| &conducted.findings.commits)
}

fn ways(device: &Device, quantile: Quantile) -> Vec<Curve> {
    let mut points: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for commit in commits(device) {
        let curve = points.entry(way(commit)).or_default();
        if let Some(ns) = quantile(&commit.latency_ns) {
            curve.push(Point::bare(commit.write_bytes as f64, ns as f64));
        }
    }
    let curves = points.into_iter().enumerate();
    curves.map(|(index, (name, points))| Curve::joined(name, Look::Kind(index), points)).collect()
}

/// The least of all ways at each size.
fn soonest(device: &Device, quantile: Quantile) -> Curve {
    let mut least: BTreeMap<u64, u64> = BTreeMap::new();
    for commit in commits(device).iter().filter(|commit| commit.writes_per_commit == 1) {
        if let Some(ns) = quantile(&commit.latency_ns) {
            least.entry(commit.write_bytes).and_modify(|least| *least = ns.min(*least)).or_insert(ns);
        }
    }
    let points = least.into_iter().map(|(bytes, ns)| Point::bare(bytes as f64, ns as f64)).collect();
    Curve::joined(device.label(), Look::Kind(device.index), points)
}

fn way(commit: &CommitCost) -> String {
    let extent = match commit.extent {
        ExtentState::Overwritten => "",
        ExtentState::Extended => ", extending",
        ExtentState::Unwritten => ", unwritten extent",
    };
    let writes = match commit.writes_per_commit {
        0 | 1 => String::new(),
        writes => format!(", {writes} writes"),
    };
    let place = if commit.in_file { ", in a file" } else { "" };
    format!("{}{extent}{writes}{place}", commit.method)
}

fn finding(device: &Device) -> String {
    let Some(commit) = device.profile.derived.flush_ns else {
        return "No way to commit was timed often enough to name the soonest.".to_owned();
    };
    let tail = commit.p99_ns.map_or_else(
        || "too few were timed for a 99th percentile".to_owned(),
        |p99| format!("99 % within {}", text::time_ns(p99)),
    );
    format!(
        "The soonest that {} are durable is {} ({tail}), by “{}”.",
        Quantity::size(commit.write_bytes),
        Quantity::time_ns(commit.median_ns.value),
        commit.method
    )
}

fn finding_of_several(devices: &[Device]) -> String {
    let commit = |device: &Device| device.profile.derived.flush_ns.map(|commit| commit.median_ns.value);
    let times: Vec<_> = devices.iter().map(commit).collect();
    let words = each(devices, &times, "unknown", |ns| Quantity::time_ns(ns).to_string());
    format!("The soonest commit (median, by whichever way is the soonest) takes {words}.")
}
