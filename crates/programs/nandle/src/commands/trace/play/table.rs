//! Terminal output.

use std::fmt::Write as _;

use comfy_table::Table;
use nandle_io::Nanos;
use nandle_profile::LatencySummary;
use nandle_replay::play::{OperationFigures, PlayFile, RecordedComparison};
use nandle_terminal::words::{
    bandwidth, counted, fitting, latency, paragraph, seconds, table, thousands, to_the_right,
};
use nandle_trace::Operation;
use nandle_units::format_duration;

pub(super) fn text(file: &PlayFile) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(file));
    if let Some(behind) = &file.fell_behind {
        paragraph(&mut text, "! ", &behind.says);
    }
    let _ = writeln!(text, "\n{}\n", fitting(&amounts(&file.operations)));
    let is_same = file.operations.iter().all(|kind| kind.response_ns == kind.service_ns);
    let what = if is_same { "A request takes" } else { "Response" };
    let response = file.operations.iter().map(|kind| (name(kind.operation), &kind.response_ns));
    if !has_all_beside(file) {
        let _ = writeln!(text, "{}\n", fitting(&times(what, response)));
    }
    if !is_same {
        let service = file.operations.iter().map(|kind| (name(kind.operation), &kind.service_ns));
        let _ = writeln!(text, "{}\n", fitting(&times("Service", service)));
    }
    if !file.comparison.is_empty() {
        let _ = writeln!(text, "{}\n", fitting(&beside(&file.comparison)));
        for compared in &file.comparison {
            paragraph(&mut text, "", &verdict(compared));
        }
        if file.fell_behind.is_some() {
            paragraph(&mut text, "! ", "The demerit is that of a backlog: see above.");
        }
    }
    paragraph(&mut text, "", &kept(file));
    for remark in &file.remarks {
        paragraph(&mut text, "* ", remark);
    }
    text
}

/// Returns true if every request has a recorded counterpart.
fn has_all_beside(file: &PlayFile) -> bool {
    let counts = |compared: &RecordedComparison| {
        file.operations.first().is_some_and(|all| all.requests == compared.requests)
    };
    file.comparison.first().is_some_and(counts)
}

fn heading(file: &PlayFile) -> String {
    let requests = file.operations.first().map_or(0, |all| all.requests);
    let elapsed = file.elapsed_ns as f64 / 1e9;
    let rate = requests as f64 / elapsed.max(1e-9);
    format!(
        "{} on {}: {} in {}, {} a second; {}.",
        file.trace,
        file.target,
        counted(requests, "request"),
        took(file.elapsed_ns),
        if rate < 10.0 { format!("{rate:.2}") } else { thousands(rate) },
        file.when()
    )
}

fn name(operation: Option<Operation>) -> &'static str {
    match operation {
        None => "all",
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

fn amounts(operations: &[OperationFigures]) -> Table {
    let mut table = table(["requests", "done", "failed", "MB"]);
    for kind in operations {
        let bytes = match kind.operation {
            Some(operation) if !operation.moves_data() => "–".to_owned(),
            _ => bandwidth(kind.bytes as f64),
        };
        let [done, failed] = [kind.requests, kind.failed_requests].map(|count| thousands(count as f64));
        table.add_row([name(kind.operation).to_owned(), done, failed, bytes]);
    }
    to_the_right(&mut table, 1..);
    table
}

/// Time to the millisecond; below a second, to three digits.
fn took(elapsed_ns: u64) -> String {
    if elapsed_ns < 1_000_000_000 {
        return seconds(elapsed_ns as f64 / 1e9);
    }
    format_duration(Nanos(elapsed_ns / 1_000_000 * 1_000_000))
}

/// Key figures of distributions, one per row.
fn times<'a>(what: &str, rows: impl Iterator<Item = (&'a str, &'a LatencySummary)>) -> Table {
    let mut table = table([what, "mean", "p50", "p90", "p99", "p99.9", "longest"]);
    for (name, summary) in rows {
        table.add_row(row(name.to_owned(), summary));
    }
    to_the_right(&mut table, 1..);
    table
}

fn row(name: String, summary: &LatencySummary) -> Vec<String> {
    let LatencySummary { mean, p50, p90, p99, p999, max } = *summary;
    let mean = mean.map_or_else(|| "–".into(), |mean| seconds(mean / 1e9));
    let quantiles = [p50, p90, p99, p999, max].map(|time| latency(time.map(Nanos)));
    [name, mean].into_iter().chain(quantiles).collect()
}

/// Recorded and played figures on alternating rows.
fn beside(comparison: &[RecordedComparison]) -> Table {
    let mut table = table(["Response", "mean", "p50", "p90", "p99", "p99.9", "longest"]);
    for compared in comparison {
        let name = name(compared.operation);
        table.add_row(row(format!("{name}, in the trace"), &compared.recorded_ns));
        table.add_row(row(format!("{name}, played"), &compared.played_ns));
    }
    to_the_right(&mut table, 1..);
    table
}

fn verdict(compared: &RecordedComparison) -> String {
    let part = compared.demerit_ratio.map(|ratio| match ratio {
        ..2.0 => format!(" ({:.1} % of the trace's mean)", ratio * 100.0),
        _ => format!(" ({ratio:.1} times the trace's mean)"),
    });
    let mean = compared.mean_ratio.map(|ratio| match ratio {
        0.5..2.0 => format!(", mean {:+.1} %", (ratio - 1.0) * 100.0),
        _ => format!(", mean {ratio:.2} times the trace's"),
    });
    format!(
        "Demerit of {}: {}{}{}.",
        name(compared.operation),
        seconds(compared.demerit_ns / 1e9),
        part.unwrap_or_default(),
        mean.unwrap_or_default()
    )
}

/// Accuracy of the schedule, and explanation of the figures.
fn kept(file: &PlayFile) -> String {
    let mut sentences = Vec::new();
    let is_same = file.operations.iter().all(|kind| kind.response_ns == kind.service_ns);
    if !is_same {
        sentences.push("Response: from when a request was due; service: from when it was sent.".to_owned());
    }
    if let Some(schedule) = &file.schedule {
        let p99 = schedule.lag_ns.p99.or(schedule.lag_ns.max);
        let p99 = p99.map_or_else(String::new, |lag| {
            let which = if schedule.lag_ns.p99.is_some() { "99 % within" } else { "all within" };
            format!("; {which} {}", latency(Some(Nanos(lag))))
        });
        sentences.push(format!(
            "Sent more than {} late by the host: {}{p99}. Held because the queue was full: {}.",
            latency(Some(Nanos(schedule.late_after_ns))),
            thousands(schedule.late_requests as f64),
            held(schedule.held_requests, &schedule.held_ns)
        ));
    }
    if !file.comparison.is_empty() {
        sentences.push(
            "Demerit: root mean square of the distance between both distributions (Ruemmler, Wilkes)."
                .to_owned(),
        );
    }
    sentences.push("A quantile needs ten requests beyond it.".to_owned());
    sentences.join(" ")
}

fn held(requests: u64, times: &LatencySummary) -> String {
    let longest = times.max.filter(|_| requests > 0);
    let longest = longest.map(|longest| format!(", up to {}", latency(Some(Nanos(longest)))));
    thousands(requests as f64) + &longest.unwrap_or_default()
}
