//! `nandle trace stat`.

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_io::units::{format_bytes, format_duration};
use nandle_report::TraceReport;
use nandle_trace::{Statistics, TraceStatistics};
use serde::Serialize;

use super::StatArgs;
use super::source::{Gone, go_through};
use crate::args::Common;
use crate::commands::report::write_report;
use crate::error::CliError;
use crate::output;
use crate::result_file::{self, Content};
use crate::words::{thousands, to_the_right};

#[derive(Serialize)]
struct Told<'a> {
    schema_version: u32,
    trace: String,
    format: &'a str,
    bad_lines: u64,
    #[serde(flatten)]
    statistics: &'a TraceStatistics,
}

/// Runs the command.
pub(super) fn run(args: &StatArgs, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.report {
        result_file::check(path, Content::Report)?;
    }
    let mut statistics = Statistics::new(args.page);
    let gone = go_through(&args.source, common, |record| {
        statistics.add(record);
        Ok(())
    })?;
    let statistics = statistics.finish();
    let trace = args.source.trace.display().to_string();
    if let Some(path) = &args.report {
        let (format, bad_lines) = (gone.format, gone.bad_lines);
        let report = TraceReport { trace: &trace, format, bad_lines, statistics: &statistics };
        write_report(path, &nandle_report::trace_html(&report))?;
        output::note(&format!("report: {}", path.display()));
    }
    if common.json {
        let bad_lines = gone.bad_lines;
        let told = Told { schema_version: 1, trace, format: gone.format, bad_lines, statistics: &statistics };
        return output::json(&told);
    }
    output::result(&text(&trace, &gone, &statistics))
}

fn text(trace: &str, gone: &Gone, statistics: &TraceStatistics) -> String {
    let text = heading(trace, gone, statistics);
    if statistics.pages_written == 0 {
        return text + "\nNothing is written in it, so there is nothing to say of its writes.\n";
    }
    let (rewrites, runs, areas) = (rewrites(statistics), runs(statistics), areas(statistics));
    format!("{text}\n{rewrites}\n\n{runs}\n\n{areas}\n")
}

fn heading(trace: &str, gone: &Gone, statistics: &TraceStatistics) -> String {
    let s = statistics;
    let page = format_bytes(s.page_bytes);
    let mut lines = vec![
        format!("{trace} ({}), {}", gone.format, format_duration(Nanos(s.duration_us.saturating_mul(1000)))),
        format!("writes    {}, {} MB", count(s.writes), thousands(s.written_bytes as f64 / 1e6)),
    ];
    if s.reads > 0 {
        lines.push(format!("reads     {}, {} MB", count(s.reads), thousands(s.read_bytes as f64 / 1e6)));
    }
    lines.push(format!("syncs     {}", count(s.syncs)));
    if s.discards > 0 {
        lines.push(format!("discards  {}", count(s.discards)));
    }
    let times = s.pages_written as f64 / (s.pages_distinct as f64).max(1.0);
    lines.push(format!(
        "pages     {} writes of {page} to {} pages, {times:.1} each",
        count(s.pages_written),
        count(s.pages_distinct)
    ));
    if let Some(span) = s.span_bytes {
        lines.push(format!("span      {} MB", thousands(span as f64 / 1e6)));
    }
    let skew = s.skew.iter().filter(|skew| [0.01, 0.1, 0.2].contains(&skew.of_pages));
    let skew = skew.map(|skew| format!("{:.0} % take {}", skew.of_pages * 100.0, percent(skew.of_writes)));
    lines.push(format!("skew      most-written pages: {}", skew.collect::<Vec<_>>().join(", ")));
    if s.writes_unaligned > 0 {
        lines.push(format!(
            "! {} writes don't begin and end at a border of {page}",
            count(s.writes_unaligned)
        ));
    }
    if gone.bad_lines > 0 {
        lines.push(format!("! {} damaged lines were passed over", count(gone.bad_lines)));
    }
    lines.join("\n") + "\n"
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
        [&format!("{} writes in", count(window)) as &str, "in each it touches", "in the busiest two"],
        statistics.areas.iter().map(|area| {
            [
                format!("areas of {}", format_bytes(area.area_bytes)),
                format!("{:.1}", area.writes_per_area),
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

fn count(number: u64) -> String {
    thousands(number as f64)
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}
