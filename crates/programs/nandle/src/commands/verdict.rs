//! Verdict on a device, for the terminal.

use std::fmt::Write as _;
use std::path::Path;

use nandle_advise::settings::MissingFigure;
use nandle_advise::verdict::{
    CACHE_MARK, Change, DIGITS_MAX, FigureRow, Finding, TimeUnit, Verdict, digits_of,
};
use nandle_terminal::words::{bandwidth_to, columns, in_unit_to, paragraph, quoted_os, to_digits};

/// Type, strengths, risks, changes and figures.
pub(crate) fn text(verdict: &Verdict, profile: &Path) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &format!("As measured: {}.", verdict.kind.name));
    for reason in &verdict.kind.reasons {
        paragraph(&mut text, "  ", reason);
    }
    findings(&mut text, "Strengths", "+ ", &verdict.strengths);
    findings(&mut text, "Risks", "- ", &verdict.risks);
    changes(&mut text, &verdict.changes, profile);
    text.push('\n');
    text += &figures(&verdict.figures);
    if let Some(cached) = &verdict.cached_figures {
        paragraph(&mut text, &format!("{CACHE_MARK} "), cached);
    }
    text.push('\n');
    text
}

fn findings(text: &mut String, title: &str, mark: &str, findings: &[Finding]) {
    let _ = writeln!(text, "\n{title}");
    for finding in findings {
        let threshold = finding.threshold.map(|threshold| format!(" [threshold: {}]", threshold.says));
        let told = format!("{} {}{}", finding.headline(), finding.says(), threshold.unwrap_or_default());
        paragraph(text, mark, &told);
    }
    if findings.is_empty() {
        paragraph(text, mark, "none of the figures that were measured is past its threshold");
    }
}

fn changes(text: &mut String, changes: &[Change], profile: &Path) {
    let _ = writeln!(text, "\nTo change");
    for change in changes {
        let now = change.instead_of().map_or_else(String::new, |now| format!(" ({now})"));
        let setting = &change.setting;
        let (product, name, value) = (change.product, change.name(), &setting.value);
        let told = format!(
            "{product}: {name} = {value}{now}. {}. Confidence: {}.",
            change.why(),
            setting.confidence
        );
        paragraph(text, "> ", &told);
    }
    if changes.is_empty() {
        paragraph(
            text,
            "> ",
            "nothing: what the figures support with confidence is set already, or is the default",
        );
    }
    let profile = quoted_os(profile.as_os_str());
    paragraph(
        text,
        "  ",
        &format!("All settings for one product: nandle advise {profile} --for postgresql (or {OTHERS})"),
    );
}

/// Other products with advice.
const OTHERS: &str = "mariadb, mysql, rocksdb, sqlite, seastar, linux";

/// Mark of an unknown figure.
const NO_FIGURE: &str = "–";
/// Explanation of the mark.
const NO_FIGURE_MEANS: &str = "not timed, or too few times for that quantile";
/// Column headings after the name of the load.
const HEADS: [&str; 5] = ["p50", "p99", "per s", "MB/s", "at depth"];

/// The table; on a narrow terminal a paragraph per row.
fn figures(rows: &[FigureRow]) -> String {
    let unit = TimeUnit::of(rows);
    let mut text = String::new();
    let about = format!(
        "Figures (p50 and p99 of one request at a time, in {}; then the highest rate, and the queue depth that it takes)",
        unit.name()
    );
    paragraph(&mut text, "", &about);
    let cells: Vec<[String; 5]> = rows.iter().map(|row| cells(row, unit)).collect();
    let lines = table(rows, &cells);
    if lines.iter().all(|line| line.chars().count() <= columns()) {
        for line in &lines {
            let _ = writeln!(text, "{line}");
        }
        paragraph(&mut text, &format!("{NO_FIGURE} "), NO_FIGURE_MEANS);
    } else {
        for (row, cells) in rows.iter().zip(&cells) {
            paragraph(&mut text, "", &as_words(row, cells, unit));
        }
    }
    text
}

fn table(rows: &[FigureRow], cells: &[[String; 5]]) -> Vec<String> {
    let names: Vec<String> = rows.iter().map(FigureRow::marked_name).collect();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = HEADS
        .iter()
        .enumerate()
        .map(|(column, head)| {
            let widths = cells.iter().filter_map(|cells| Some(cells.get(column)?.chars().count()));
            widths.max().unwrap_or(0).max(head.chars().count())
        })
        .collect();
    let line = |name: &str, cells: &[&str]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{name:<name_width$}{}", cells.collect::<String>())
    };
    let row = |((row, name), cells): ((&FigureRow, &String), &[String; 5])| match &row.missing {
        Some(missing) => format!("{name:<name_width$}  {}", not_measured(missing)),
        None => line(name, &cells.each_ref().map(String::as_str)),
    };
    std::iter::once(line("", &HEADS)).chain(rows.iter().zip(&names).zip(cells).map(row)).collect()
}

fn cells(row: &FigureRow, unit: TimeUnit) -> [String; 5] {
    let digits = row.alone.map_or(DIGITS_MAX, |alone| alone.digits());
    let time = |nanos: Option<u64>| {
        nanos.map_or_else(|| NO_FIGURE.into(), |nanos| in_unit_to(nanos as f64, unit, digits))
    };
    let alone = |of: fn(&nandle_advise::verdict::DepthOneLatency) -> Option<u64>| {
        time(row.alone.as_ref().and_then(of))
    };
    let most = |told: &dyn Fn(&nandle_advise::verdict::PeakRate) -> String| {
        row.most.as_ref().map_or_else(|| "–".into(), told)
    };
    [
        alone(|alone| alone.p50_ns),
        alone(|alone| alone.p99_ns),
        most(&|most| to_digits(most.rate_per_s.value, digits_of(&most.rate_per_s))),
        most(&|most| {
            let rate = &most.bandwidth_bytes_per_s;
            bandwidth_to(rate.value, digits_of(rate))
        }),
        most(&|most| most.queue_depth.to_string()),
    ]
}

fn as_words(row: &FigureRow, [p50, p99, rate, megabytes, depth]: &[String; 5], unit: TimeUnit) -> String {
    let name = row.marked_name();
    if let Some(missing) = &row.missing {
        return format!("{name}: {}", not_measured(missing));
    }
    let unit = unit.name();
    let told =
        |quantile: &str, time: &String| (time != NO_FIGURE).then(|| format!("{quantile} {time} {unit}"));
    let alone: Vec<String> = told("p50", p50).into_iter().chain(told("p99", p99)).collect();
    let alone = (!alone.is_empty()).then(|| alone.join(", "));
    let most = row.most.map(|_| format!("{rate} per second at depth {depth}, {megabytes} MB/s"));
    format!("{name}: {}", alone.into_iter().chain(most).collect::<Vec<_>>().join("; "))
}

fn not_measured(missing: &MissingFigure) -> String {
    format!("not measured; {}", missing.how)
}
