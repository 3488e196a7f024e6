//! `nandle trace stat`.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_report::TraceReport;
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::result_file::{self, REPORT};
use nandle_terminal::words::{bandwidth, counted, fitting, latency, paragraph, thousands, to_the_right};
use nandle_trace::{PAGE_STATISTICS_BYTES, Statistics, TraceStatistics};
use nandle_units::{format_bytes, format_duration, group_thousands};
use serde::Serialize;

use super::meaning::{next, sentences};
use super::source::{Gone, go_through, reader};
use super::{Fit, PAGES_BYTES, SourceArgs, StatArgs, remark};
use crate::commands::report::write_report;
use crate::error::CliError;

#[derive(Serialize)]
struct Told<'a> {
    schema_version: u32,
    trace: String,
    format: &'a str,
    bad_lines: u64,
    /// Remarks on the figures, each a sentence.
    remarks: &'a [String],
    /// Interpretation in sentences.
    meaning: String,
    /// Commands that replay the trace.
    next: Vec<String>,
    #[serde(flatten)]
    statistics: &'a TraceStatistics,
}

pub(super) fn run(args: &StatArgs, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.report {
        result_file::check(path, &REPORT)?;
    }
    let pages_max = nandle_session::budget_bytes() / PAGE_STATISTICS_BYTES;
    let mut statistics = Statistics::new(args.page).with_pages_max(pages_max);
    let gone =
        go_through(reader(&args.source)?, args.writes.limit, common, |record| Ok(statistics.add(record)?))?;
    let statistics = statistics.finish();
    let trace = args.source.trace.display().to_string();
    if let Some(path) = &args.report {
        let (format, bad_lines) = (gone.format, gone.bad_lines);
        let meaning = sentences(&statistics);
        let report =
            TraceReport { trace: &trace, format, bad_lines, meaning: &meaning, statistics: &statistics };
        write_report(path, &nandle_report::trace_html(&report))?;
        output::note(&format!("report: {}", path.display()));
    }
    if common.json {
        let bad_lines = gone.bad_lines;
        let (meaning, next) = (sentences(&statistics), next(&args.source, &statistics));
        let format = gone.format;
        let (remarks, statistics) = (gone.remarks.as_slice(), &statistics);
        let told = Told { schema_version: 1, trace, format, bad_lines, remarks, meaning, next, statistics };
        return Ok(output::json(&told)?);
    }
    let text =
        heading(&trace, &gone, &statistics) + &of_writes(&statistics) + &meaning(&args.source, &statistics);
    Ok(output::result(&text)?)
}

fn of_zones(statistics: &TraceStatistics) -> String {
    let zones = statistics.zones;
    let counts = [
        (zones.appends, "append"),
        (zones.resets, "reset"),
        (zones.finishes, "finish"),
        (zones.opens, "open"),
        (zones.closes, "close"),
    ];
    let told = counts.into_iter().filter(|(number, _)| *number > 0);
    told.map(|(number, what)| format!("{what} {}", count(number))).collect::<Vec<_>>().join(", ")
}

fn of_writes(statistics: &TraceStatistics) -> String {
    if statistics.pages_written == 0 {
        return "\nNothing is written in it, so there is nothing to say of its writes.\n".to_owned();
    }
    let rewrites = if statistics.rewrites.is_empty() {
        "No page is written twice.".into()
    } else {
        fitting(&rewrites(statistics))
    };
    let (runs, areas) = (fitting(&runs(statistics)), fitting(&areas(statistics)));
    format!("\n{rewrites}\n\n{runs}\n\n{areas}\n")
}

/// Interpretation and the next commands.
fn meaning(source: &SourceArgs, statistics: &TraceStatistics) -> String {
    let mut text = String::from("\n");
    paragraph(&mut text, "", &sentences(statistics));
    let next = next(source, statistics);
    if !next.is_empty() {
        text.push('\n');
        let about = "Next (a model of a drive writes nothing of yours; --on takes a directory, too):";
        paragraph(&mut text, "", about);
        let _ = writeln!(text, "  {}", next.join("\n  "));
    }
    text
}

fn heading(trace: &str, gone: &Gone, statistics: &TraceStatistics) -> String {
    let s = statistics;
    let mut lines = vec![
        format!("{trace} ({}), {}", gone.format, format_duration(Nanos(s.duration_us.saturating_mul(1000)))),
        format!("writes    {}, {}", count(s.writes), megabytes(s.written_bytes)),
    ];
    if s.reads > 0 {
        lines.push(format!("reads     {}, {}", count(s.reads), megabytes(s.read_bytes)));
    }
    lines.push(format!("syncs     {}", count(s.syncs)));
    if s.discards > 0 {
        lines.push(format!("discards  {}", count(s.discards)));
    }
    lines.extend(times(s));
    if s.pages_written > 0 {
        lines.extend(of_pages(s));
    }
    if !s.zones.is_empty() {
        lines.push(format!("zones     {}", of_zones(s)));
    }
    if gone.bad_lines > 0 {
        lines.push(format!("! {} passed over", counted(gone.bad_lines, "damaged line")));
    }
    let mut text = String::new();
    for line in &lines {
        // The heading and remarks are wrapped already.
        let name = line.split_at_checked(NAME_COLUMNS).filter(|(name, _)| name.ends_with(' '));
        match name.filter(|_| !line.starts_with('!')) {
            Some((name, figures)) => paragraph(&mut text, name, figures),
            None => text = text + line + "\n",
        }
    }
    for remark in &gone.remarks {
        paragraph(&mut text, "! ", remark);
    }
    text
}

/// Width of the label before a line's figures.
const NAME_COLUMNS: usize = 10;

/// Latencies, if the trace has them.
fn times(s: &TraceStatistics) -> Vec<String> {
    let kinds = [("writes", s.write_latency), ("reads", s.read_latency), ("syncs", s.sync_latency)];
    let told = kinds.into_iter().filter_map(|(kind, recorded)| {
        let recorded = recorded?;
        let quantile = |name, ns: Option<u64>| {
            ns.map_or_else(String::new, |ns| format!(", {name} {}", latency(Some(Nanos(ns)))))
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, rounded")]
        let mean = latency(Some(Nanos(recorded.mean_ns.round() as u64)));
        let (p50, p99) = (quantile("p50", recorded.p50_ns), quantile("p99", recorded.p99_ns));
        Some(format!(
            "time      {kind}: mean {mean}{p50}{p99}, longest {}",
            latency(Some(Nanos(recorded.max_ns)))
        ))
    });
    told.collect()
}

/// Writes in pages.
fn of_pages(s: &TraceStatistics) -> Vec<String> {
    let page = format_bytes(s.page_bytes);
    let times = s.pages_written as f64 / (s.pages_distinct as f64).max(1.0);
    let mut lines = vec![format!(
        "pages     {} of {page} to {}, {times:.1} each",
        counted(s.pages_written, "write"),
        counted(s.pages_distinct, "page")
    )];
    if let Some(span) = s.span_bytes {
        lines.push(format!("span      {}", megabytes(span)));
    }
    let skew = s.skew.iter().filter(|skew| [0.01, 0.1, 0.2].contains(&skew.of_pages));
    let skew = skew.map(|skew| format!("{:.0} % take {}", skew.of_pages * 100.0, percent(skew.of_writes)));
    lines.push(format!("skew      most-written pages: {}", skew.collect::<Vec<_>>().join(", ")));
    let (writes, unaligned, usual_bytes) = (s.writes, s.writes_unaligned, s.usual_write_bytes);
    let fit = Fit { page_bytes: s.page_bytes, writes, unaligned, usual_bytes };
    if let Some(remark) = remark(fit, &PAGES_BYTES) {
        let mut broken = String::new();
        paragraph(&mut broken, "! ", &remark);
        lines.push(broken.trim_end().to_owned());
    }
    lines
}

fn rewrites(statistics: &TraceStatistics) -> Table {
    let told = statistics.rewrites.iter().filter(|rewrite| rewrite.within_writes.trailing_zeros() % 3 == 2);
    table(
        ["written again within", "of page writes"],
        told.map(|rewrite| [format!("{} writes", count(rewrite.within_writes)), percent(rewrite.share)]),
    )
}

fn runs(statistics: &TraceStatistics) -> Table {
    table(
        ["a buffer of", "absorbs", "in runs of 2", "of 4", "of 16 or more", "longest"],
        statistics.runs.iter().map(|runs| {
            [
                format!("{} pages", count(runs.window_writes)),
                percent(runs.rewritten),
                percent(runs.in_runs_of_2),
                percent(runs.in_runs_of_4),
                percent(runs.in_runs_of_16),
                count(runs.longest_pages),
            ]
        }),
    )
}

fn areas(statistics: &TraceStatistics) -> Table {
    let window = statistics.areas.first().map_or(0, |area| area.window_writes);
    table(
        [
            &format!("of {} writes in a row", count(window)) as &str,
            "for each area touched",
            "in the busiest two areas",
        ],
        statistics.areas.iter().map(|area| {
            [
                format!("by areas of {}", format_bytes(area.area_bytes)),
                group_thousands(&format!("{:.1}", area.writes_per_area), ' ', 4),
                percent(area.in_busiest_two),
            ]
        }),
    )
}

fn table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    to_the_right(&mut table, ..);
    table
}

/// Small amounts get enough digits not to be zero.
fn megabytes(bytes: u64) -> String {
    format!("{} MB", bandwidth(bytes as f64))
}

fn count(number: u64) -> String {
    thousands(number as f64)
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
