//! Page of a trace's statistics.

mod curves;
mod sizes;

use maud::{Markup, html};
use nandle_trace::TraceStatistics;

use crate::figures::Question;
use crate::page::{Page, document};
use crate::sections::{self, Missing};
use crate::text::{self, Quantity};

/// Trace with the statistics of its writes.
#[derive(Debug, Clone, Copy)]
pub struct TraceReport<'a> {
    /// Path of the trace.
    pub trace: &'a str,
    /// Format of the trace.
    pub format: &'a str,
    /// Damaged lines that were skipped.
    pub bad_lines: u64,
    /// Interpretation in sentences.
    pub meaning: &'a str,
    /// Statistics.
    pub statistics: &'a TraceStatistics,
}

/// Renders the report on a trace as a self-contained HTML document.
pub fn trace_html(report: &TraceReport) -> String {
    let found = report.statistics;
    let question = |id, title, figures: Vec<Option<_>>| Question {
        id,
        title,
        figures: figures.into_iter().flatten().collect(),
        remarks: Vec::new(),
        missing: Vec::new(),
    };
    let mut questions = vec![
        question("again", "What is rewritten?", vec![curves::rewrites(found), curves::skew(found)]),
        question(
            "together",
            "What is adjacent?",
            vec![curves::runs(found), curves::areas(found), curves::busiest(found)],
        ),
        question("sizes", "How large are the writes?", vec![sizes::bars(found)]),
    ];
    questions.retain(|question| !question.is_empty());
    let missing = missing(found);
    let anchors = questions.iter().map(|question| (question.id, question.title));
    let anchors = anchors.chain((!missing.is_empty()).then_some(("not-measured", "Not measured")));
    let body = html! {
        header.masthead { (masthead(report)) }
        main #main {
            (sections::contents(anchors))
            @for question in &questions { (sections::question(question)) }
            (sections::not_measured(&missing))
        }
    };
    let plots = questions.iter().flat_map(Question::plots).collect();
    let title = format!("{} – trace", text::clean(report.trace));
    document(&Page { title, body, plots, islands: Vec::new() }).into_string()
}

fn masthead(report: &TraceReport) -> Markup {
    let found = report.statistics;
    let amount = |requests: u64, bytes: u64| match requests {
        0 => "none".to_owned(),
        _ => format!("{}, {} in all", text::plain(requests), Quantity::capacity(bytes)),
    };
    let times = found.pages_written as f64 / (found.pages_distinct as f64).max(1.0);
    let mut rows = vec![
        ("Writes", amount(found.writes, found.written_bytes)),
        ("Reads", amount(found.reads, found.read_bytes)),
        (
            "Pages",
            format!(
                "{} of {}, written {} times each",
                text::plain(found.pages_distinct),
                Quantity::size(found.page_bytes),
                text::significant(times, 2)
            ),
        ),
    ];
    rows.push((
        "Syncs",
        if found.syncs == 0 { "none".to_owned() } else { text::plain(found.syncs).to_string() },
    ));
    rows.push(("Time", text::time_ns(found.duration_us.saturating_mul(1000))));
    rows.extend(found.span_bytes.map(|span| ("Span", Quantity::capacity(span).to_string())));
    if found.writes_unaligned > 0 {
        rows.push(("Unaligned", text::plural(found.writes_unaligned, "write")));
    }
    if report.bad_lines > 0 {
        rows.push(("Damaged", format!("{} skipped", text::plural(report.bad_lines, "line"))));
    }
    rows.push(("Read from", format!("{}, as {}", text::clean(report.trace), text::clean(report.format))));
    let name = report.trace.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(report.trace);
    html! {
        p.kicker { "Block trace" }
        h1 { bdi { (text::clean(name)) } }
        p { (text::bind(report.meaning)) }
        dl.particulars { @for (term, value) in rows { div { dt { (term) } dd { bdi { (value) } } } } }
    }
}

fn missing(found: &TraceStatistics) -> Vec<Missing> {
    let nothing = found.pages_written == 0;
    let line = || Missing { what: "Writes".to_owned(), why: "the trace contains no writes.".to_owned() };
    nothing.then(line).into_iter().collect()
}
