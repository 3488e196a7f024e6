//! Requests to the temporary space by position and time.

use nandle_workloads::{Outcome, Pattern, PatternPoint, Role};

use crate::figures::{Axis, Dots, Figure, Scatter};
use crate::text;

const MEBIBYTE: f64 = 1_048_576.0;

/// Points of one run; `None` without writes.
pub(super) fn figure(id: &'static str, device: &str, outcome: &Outcome) -> Option<Figure> {
    let pattern = outcome.pattern.as_ref()?;
    let all = || pattern.writes.iter().chain(&pattern.reads);
    let end_bytes = all().map(|point| point.offset_bytes + point.length_bytes).max()?;
    let [first, second] = outcome.phases;
    let dots = |label: &str, kind, requests: u64, points: &[PatternPoint]| {
        let shown = if (points.len() as u64) < requests {
            format!("{label}: {} of {} shown", text::plain(points.len() as u64), text::plain(requests))
        } else {
            format!("{label}: {}", text::plain(requests))
        };
        let place = |point: &PatternPoint| (point.at_ns as f64 / 1e9, point.offset_bytes as f64 / MEBIBYTE);
        Dots { label: shown, kind, points: points.iter().map(place).collect() }
    };
    let Pattern { read_requests, reads, write_requests, writes } = pattern;
    Some(Figure::Scatter(Scatter {
        id,
        title: text::clean(device),
        finding: finding(outcome),
        note: format!(
            "Requests to the temporary space by start address; a sample if there are many. The \
            dashed line marks the end of {} and the start of {}.",
            first.name, second.name
        ),
        x: Axis::to("Time of the work, s".to_owned(), outcome.elapsed_ns as f64 / 1e9),
        y: Axis::to("Address in the temporary space, MiB".to_owned(), end_bytes as f64 / MEBIBYTE),
        dots: vec![dots("reads", 1, *read_requests, reads), dots("writes", 0, *write_requests, writes)],
        marks: vec![first.elapsed_ns as f64 / 1e9],
    }))
}

fn finding(outcome: &Outcome) -> String {
    let area = outcome.area(Role::Temporary);
    let percent = |share: Option<f64>| {
        share.map_or_else(
            || "an unknown share".to_owned(),
            |share| format!("{} %", text::significant(100.0 * share, 2)),
        )
    };
    let writes = percent(area.and_then(|area| area.sequential_writes_share));
    let reads = percent(area.and_then(|area| area.sequential_reads_share));
    format!(
        "{writes} of the writes and {reads} of the reads continue where the previous one \
        ended."
    )
}
