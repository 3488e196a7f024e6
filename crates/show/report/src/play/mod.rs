//! Page of a played trace: its request times compared with those recorded in the trace.

use nandle_replay::play::{OperationFigures, PlayDistribution, PlayFile, QuantilePoint, RecordedComparison};
use nandle_trace::Operation;

use crate::figures::{Bar, Bars, Figure, Group};
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::questions::{PageHeading, page, question};
use crate::text::{self, Quantity};

/// Renders the report on a played trace as a self-contained HTML document.
pub fn play_html(report: &PlayFile) -> String {
    let behind = report.fell_behind.iter().map(|behind| &behind.says);
    let head = PageHeading {
        kicker: "Trace, played",
        title: report.target.clone(),
        particulars: particulars(report),
        remarks: behind.chain(&report.remarks).cloned().collect(),
    };
    let times =
        question("times", "How long does a request take?", distribution(report).into_iter().collect());
    let beside =
        question("beside", "Does it match the recorded times?", demerits(report).into_iter().collect());
    page(&head, vec![times, beside])
}

fn particulars(report: &PlayFile) -> Vec<(&'static str, String)> {
    let amount = |kind: &OperationFigures| {
        text::plural(kind.requests, kind.operation.map_or("request", Operation::name))
    };
    let kinds: Vec<_> = report.operations.iter().skip(1).map(amount).collect();
    let failed = report.operations.first().map_or(0, |all| all.failed_requests);
    let mut rows = vec![
        ("Trace", format!("{}, as {}", report.trace, report.format)),
        ("Requests", text::join(&kinds)),
        ("Sent", format!("{}: {}", report.timing, report.when())),
        ("Time", text::time_ns(report.elapsed_ns)),
    ];
    if failed > 0 {
        let first =
            report.first_error.as_deref().map_or_else(String::new, |first| format!(", the first: {first}"));
        rows.push(("Failed", format!("{}{first}", text::plain(failed))));
    }
    if let Some(schedule) = &report.schedule {
        rows.push(("Sent late", text::plain(schedule.late_requests).to_string()));
        rows.push(("Held (queue full)", text::plain(schedule.held_requests).to_string()));
    }
    rows
}

fn name(operation: Option<Operation>) -> &'static str {
    match operation {
        None => "all requests",
        Some(Operation::Read) => "reads",
        Some(Operation::Write) => "writes",
        Some(Operation::Sync) => "syncs",
        Some(Operation::Discard) => "discards",
        Some(Operation::Append) => "appends",
        Some(Operation::ZoneReset) => "zone resets",
        Some(Operation::ZoneFinish) => "zone finishes",
        Some(Operation::ZoneOpen) => "zone opens",
        Some(Operation::ZoneClose) => "zone closes",
    }
}

/// Distributions of response and service times, measured and recorded.
fn distribution(report: &PlayFile) -> Option<Figure> {
    let views: Vec<_> = report.distributions.iter().map(|kind| view(kind, report)).collect();
    let axes = (XAxis::Count("Time of a request, ms"), YAxis::Share("Share of requests within that time"));
    let plot = Plot::joined("distribution", "Distribution", axes, "Requests", views);
    let all = report.operations.first()?;
    let (half, most) = (all.response_ns.p50?, all.response_ns.p99);
    let most = most.map_or_else(String::new, |most| format!(", 99 in 100 within {}", text::time_ns(most)));
    let finding = format!("Half of the requests complete within {}{most}.", text::time_ns(half));
    let note = "Response time counts from when a request was due, service time from when it was \
        sent. In between it waited because the queue was full, or the player was late. A quantile \
        needs ten slower requests."
        .to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

fn view(kind: &PlayDistribution, report: &PlayFile) -> View {
    let curve = |label: &str, look, value: fn(&QuantilePoint) -> Option<u64>| {
        let points = kind.quantiles.iter().filter_map(|point| {
            let time_ns = value(point).filter(|time_ns| *time_ns > 0)?;
            Some(Point::bare(time_ns as f64 / 1e6, point.share))
        });
        Curve::joined(label, Look::Kind(look), points.collect())
    };
    let mut curves = vec![curve("response", 0, |point| Some(point.response_ns))];
    if kind.quantiles.iter().any(|point| point.response_ns != point.service_ns) {
        curves.push(curve("service", 1, |point| Some(point.service_ns)));
    }
    if !report.comparison.is_empty() {
        curves.push(curve("recorded in the trace", 2, |point| point.recorded_ns));
    }
    curves.retain(|curve| !curve.is_empty());
    View { name: name(kind.operation).to_owned(), curves }
}

/// Means, and the distance between the distributions.
fn demerits(report: &PlayFile) -> Option<Figure> {
    let all = report.comparison.first()?;
    let time = |value: f64| Quantity::time_ns(value).to_string();
    let ratio = all.demerit_ratio.map_or_else(String::new, |ratio| {
        format!(", {} % of the recorded mean", text::significant(100.0 * ratio, 2))
    });
    let finding = format!(
        "The distributions differ by {}{ratio}; the mean is {}, recorded {}.",
        time(all.demerit_ns),
        time(all.played_ns.mean?),
        time(all.recorded_ns.mean?)
    );
    Some(Figure::Bars(Bars {
        id: "demerit",
        title: "Compared with the trace",
        finding,
        note: "The demerit is the root mean square distance of both distributions (Ruemmler and \
            Wilkes, An introduction to disk drive modeling, 1994)."
            .to_owned(),
        quantity: "Time, ms".to_owned(),
        groups: report.comparison.iter().map(group).collect(),
    }))
}

fn group(compared: &RecordedComparison) -> Group {
    let bar = |label: &str, value_ns: Option<f64>, kind| {
        let value_ns = value_ns?;
        let text = Quantity::time_ns(value_ns).to_string();
        Some(Bar { label: label.to_owned(), value: value_ns / 1e6, text, kind })
    };
    let p99 = |value: Option<u64>| value.map(|value| value as f64);
    let bars = [
        bar("mean, recorded", compared.recorded_ns.mean, 2),
        bar("mean, played", compared.played_ns.mean, 0),
        bar("p99, recorded", p99(compared.recorded_ns.p99), 2),
        bar("p99, played", p99(compared.played_ns.p99), 0),
        bar("demerit", Some(compared.demerit_ns), 1),
    ];
    Group { name: name(compared.operation).to_owned(), bars: bars.into_iter().flatten().collect() }
}
