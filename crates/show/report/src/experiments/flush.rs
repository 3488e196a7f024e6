use std::collections::{BTreeMap, BTreeSet};

use nandle_profile::LatencySummary;
use nandle_profile::experiments::{CommitCost, ExtentState};

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis, per_device};
use crate::text::{self, Quantity};

type Quantile = fn(&LatencySummary) -> Option<u64>;

const QUANTILES: [(&str, Quantile); 5] = [
    ("median", |latency| latency.p50),
    ("90th percentile", |latency| latency.p90),
    ("99th percentile", |latency| latency.p99),
    ("99.9th percentile", |latency| latency.p999),
    ("slowest seen", |latency| latency.max),
];

/// Quantiles of the commit time by commit size. A single device has a curve for each method on the
/// device; methods in files have bars ([`methods_in_files`]). Of several devices only the fastest
/// method is shown.
pub(super) fn plot(devices: &[Device]) -> Option<Figure> {
    let view = |(name, quantile): &(&str, Quantile)| View {
        name: (*name).to_owned(),
        curves: match devices {
            [device] => method_curves(device, *quantile),
            _ => devices.iter().map(|device| fastest_method(device, *quantile)).collect(),
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
        let note = "From the write’s submission until it is durable, on the device itself and not \
            in a file. A quantile is shown only if ten commits were slower."
            .to_owned();
        Figure::Plot(Plot { finding, note, ..plot })
    })
}

fn commits<'a>(device: &Device<'a>) -> &'a [CommitCost] {
    device.profile.experiments.flush.as_ref().map_or(&[], |conducted| &conducted.findings.commits)
}

fn method_curves(device: &Device, quantile: Quantile) -> Vec<Curve> {
    let mut points: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for commit in commits(device).iter().filter(|commit| !commit.in_file) {
        let curve = points.entry(method_label(commit)).or_default();
        if let Some(ns) = quantile(&commit.latency_ns) {
            curve.push(Point::bare(commit.write_bytes as f64, ns as f64));
        }
    }
    let curves = points.into_iter().enumerate();
    curves.map(|(index, (name, points))| Curve::joined(name, Look::Kind(index), points)).collect()
}

/// Commit methods in files, in the style of `pg_test_fsync`, with the methods on the device for the
/// same size.
pub(super) fn methods_in_files(device: &Device) -> Option<Figure> {
    let commits = commits(device);
    let sizes: BTreeSet<u64> =
        commits.iter().filter(|commit| commit.in_file).map(CommitCost::bytes).collect();
    let groups: Vec<Group> = sizes
        .into_iter()
        .map(|bytes| Group {
            name: format!("{} per commit", Quantity::size(bytes)),
            bars: commits.iter().filter(|commit| commit.bytes() == bytes).filter_map(bar).collect(),
        })
        .collect();
    let sooner = |group: &Group| group.bars.iter().map(|bar| bar.value).fold(f64::INFINITY, f64::min);
    let slower = |group: &Group| group.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let first = groups.first().filter(|group| !group.bars.is_empty())?;
    Some(Figure::Bars(Bars {
        id: "commit-ways",
        title: "Commit methods in a file",
        finding: format!(
            "{}{}: a median from {} to {}, depending on the method and the previous use of the \
            file’s blocks.",
            usual(device),
            first.name,
            Quantity::time_ns(sooner(first)),
            Quantity::time_ns(slower(first))
        ),
        note: "Overwritten blocks unless stated otherwise. Commits in a file use blocking system \
            calls, as databases do; commits to the device use the probe's driver. In parentheses: \
            bounds of the median."
            .to_owned(),
        quantity: "Median time of a commit, with its unit at each bar".to_owned(),
        groups,
    }))
}

/// Commit method of the page's other figures.
fn usual(device: &Device) -> String {
    let commit = device.profile.commit().filter(|commit| commit.in_file);
    commit.map_or_else(String::new, |commit| {
        format!(
            "A commit on this page is “{}” of {} on a file that is overwritten, the databases' \
            default: {}. ",
            commit.method,
            Quantity::size(commit.write_bytes),
            Quantity::time_ns(commit.median_ns.value)
        )
    })
}

fn bar(commit: &CommitCost) -> Option<Bar> {
    let tail =
        commit.latency_ns.p99.map_or_else(String::new, |p99| format!("; 99 % within {}", text::time_ns(p99)));
    let to = if commit.in_file { "" } else { ", to the device" };
    (commit.commit_ns.value > 0.0).then(|| Bar {
        label: format!("{}{to}", method_label(commit).trim_end_matches(", in a file")),
        value: commit.commit_ns.value,
        text: format!("{}{tail}", text::time(&commit.commit_ns)),
        kind: usize::from(!commit.in_file),
    })
}

/// Time of the fastest method at each size.
fn fastest_method(device: &Device, quantile: Quantile) -> Curve {
    let mut least: BTreeMap<u64, u64> = BTreeMap::new();
    for commit in commits(device).iter().filter(|commit| commit.writes_per_commit == 1) {
        if let Some(ns) = quantile(&commit.latency_ns) {
            least.entry(commit.write_bytes).and_modify(|least| *least = ns.min(*least)).or_insert(ns);
        }
    }
    let points = least.into_iter().map(|(bytes, ns)| Point::bare(bytes as f64, ns as f64)).collect();
    Curve::joined(device.label(), Look::Kind(device.index), points)
}

fn method_label(commit: &CommitCost) -> String {
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
    let Some(commit) = device.profile.commit() else {
        return "No commit method was timed often enough for a figure.".to_owned();
    };
    let tail = commit.p99_ns.map_or_else(
        || "too few were timed for a 99th percentile".to_owned(),
        |p99| format!("99 % within {}", text::time_ns(p99)),
    );
    let place = if commit.in_file { " on a file that is overwritten" } else { "" };
    format!(
        "A commit of {} by “{}”{place} takes {} (median; {tail}).",
        Quantity::size(commit.write_bytes),
        commit.method,
        Quantity::time_ns(commit.median_ns.value)
    )
}

fn finding_of_several(devices: &[Device]) -> String {
    let commit = |device: &Device| device.profile.commit().map(|commit| commit.median_ns.value);
    let times: Vec<_> = devices.iter().map(commit).collect();
    let words = per_device(devices, &times, "unknown", |ns| Quantity::time_ns(ns).to_string());
    format!(
        "A commit (median, as databases make it) takes {words}; the curves show the fastest \
        method at each size."
    )
}
