//! Text before and after a scan.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nandle_terminal::words::{counted, paragraph, seconds, table, thousands, to_the_right};
use nandle_units::format_bytes;

use super::forecast::{Bounds, Figures, Forecast};
use super::paths::PathForecast;
use super::{Actual, Explanation};

/// Request sizes listed individually.
const SIZES_MAX: usize = 6;

/// Text before the run.
pub(super) fn before(of: &Explanation) -> String {
    let mut text = String::new();
    let rows = format!(
        "{}: path {}, {} of {} rows can match by the page index, in {}.",
        of.input,
        of.path,
        thousands(of.candidate_rows as f64),
        thousands(of.rows as f64),
        counted(of.steps, "step")
    );
    paragraph(&mut text, "", &rows);
    if let Some(figures) = of.forecasts.first().and_then(|forecast| forecast.figures.as_ref()) {
        let reads = format!(
            "Reads {}: {} ({}), {} read for {} wanted, {} outstanding at most, {} of memory.",
            of.reads,
            counted(figures.requests, "request"),
            sizes(&of.requests_by_bytes),
            format_bytes(figures.read_bytes),
            format_bytes(figures.wanted_bytes),
            figures.queue_depth,
            format_bytes(figures.memory_bytes)
        );
        paragraph(&mut text, "", &reads);
    }
    paragraph(&mut text, "", &format!("Costs are by {}. {}", of.costs, of.processor));
    if of.paths.len() > 1 {
        let _ = writeln!(text, "\n{}", paths(&of.paths));
    }
    let _ = writeln!(text, "\n{}\n", rivals(&of.forecasts));
    if let Some(sentence) = compared(&of.forecasts) {
        paragraph(&mut text, "* ", &sentence);
    }
    let refusals =
        of.forecasts.iter().filter_map(|forecast| Some((&forecast.reads, forecast.refusal.as_ref()?)));
    for (reads, refusal) in refusals {
        paragraph(&mut text, "* ", &format!("{reads}: {refusal}."));
    }
    text
}

/// Ratio up to which predicted times count as equal.
const AS_LONG: f64 = 1.1;

/// Comparison of the strategies: what they share, or a faster alternative.
fn compared(forecasts: &[Forecast]) -> Option<String> {
    let times =
        forecasts.iter().filter_map(|forecast| Some((forecast.reads.as_str(), forecast.figures.as_ref()?)));
    let times: Vec<(&str, &Figures)> = times.collect();
    let (_, taken) = times.first()?;
    let by_time = |one: &&(&str, &Figures), other: &&(&str, &Figures)| {
        one.1.time.value_s.total_cmp(&other.1.time.value_s)
    };
    let (quickest, least) = times.iter().min_by(by_time)?;
    let (_, most) = times.iter().max_by(by_time)?;
    if taken.time.value_s > AS_LONG * least.time.value_s {
        return Some(format!(
            "By these figures --reads {quickest} would be quicker: what is planned is planned for the device alone, and computing that goes on meanwhile isn't looked at."
        ));
    }
    let is_computing = taken.cpu_s > taken.device.value_s.max(taken.host_s);
    (is_computing && most.time.value_s <= AS_LONG * least.time.value_s)
        .then(|| "Computing takes longer than reading, so all ways of reading take about as long.".to_owned())
}

fn paths(paths: &[PathForecast]) -> comfy_table::Table {
    let mut all = table(["path", "read", "time", "from", "to", "taken"]);
    for of in paths {
        let Bounds { value_s, low_s, high_s } = of.time;
        let times = [value_s, low_s, high_s].map(seconds);
        let taken = if of.is_taken { "yes" } else { "no" };
        let row = [of.path.clone(), format_bytes(of.read_bytes)].into_iter().chain(times);
        all.add_row(row.chain([taken.to_owned()]));
    }
    to_the_right(&mut all, 1..);
    all
}

fn rivals(forecasts: &[Forecast]) -> comfy_table::Table {
    let mut rivals =
        table(["reads", "requests", "read", "device", "reading", "computing", "time", "from", "to"]);
    for forecast in forecasts {
        let Some(figures) = &forecast.figures else {
            rivals.add_row([forecast.reads.as_str(), "–", "–", "–", "–", "–", "–", "–", "–"]);
            continue;
        };
        let Bounds { value_s, low_s, high_s } = figures.time;
        let times =
            [figures.device.value_s, figures.host_s, figures.cpu_s, value_s, low_s, high_s].map(seconds);
        let counts = [thousands(figures.requests as f64), format_bytes(figures.read_bytes)];
        rivals.add_row([forecast.reads.clone()].into_iter().chain(counts).chain(times));
    }
    to_the_right(&mut rivals, 1..);
    // Nine columns within 80 characters.
    rivals.column_iter_mut().for_each(|column| {
        column.set_padding((1, 0));
    });
    rivals
}

fn sizes(by_bytes: &BTreeMap<u64, u64>) -> String {
    let named = by_bytes
        .iter()
        .rev()
        .take(SIZES_MAX)
        .map(|(bytes, count)| format!("{count} × {}", format_bytes(*bytes)));
    let mut named: Vec<String> = named.collect();
    let others: u64 = by_bytes.iter().rev().skip(SIZES_MAX).map(|(_, count)| count).sum();
    if others > 0 {
        named.push(format!("{others} shorter"));
    }
    if named.is_empty() { "none".to_owned() } else { named.join(", ") }
}

/// Text after the run: measurements, then remarks.
pub(super) fn after(of: &Explanation, actual: &Actual, remarks: &[String]) -> String {
    let mut text = String::new();
    let predicted = of.forecasts.first().and_then(|forecast| forecast.figures.as_ref());
    // Without reads there is nothing to compare.
    let beside = predicted.filter(|figures| actual.is_whole && figures.requests > 0).map(|figures| {
        let ratio = actual.time_s / figures.time.value_s.max(1e-9);
        let within = (figures.time.low_s..=figures.time.high_s).contains(&actual.time_s);
        let bounds = if within { "within its bounds" } else { "outside its bounds" };
        format!(" ({ratio:.2} of what was predicted, {bounds}; computing {})", seconds(actual.cpu_s))
    });
    let so_far = if actual.is_whole { "" } else { ", and no more were read: enough were printed" };
    let sentence = format!(
        "{} in {}{so_far}{}.",
        counted(actual.rows, "row"),
        seconds(actual.time_s),
        beside.unwrap_or_default()
    );
    paragraph(&mut text, "", &sentence);
    let reads = format!(
        "{} read {}{}; {}, {}.",
        counted(actual.requests, "request"),
        format_bytes(actual.read_bytes),
        if actual.urgent_requests > 0 {
            format!(", {} of them beyond the plan", thousands(actual.urgent_requests as f64))
        } else {
            String::new()
        },
        of.world,
        if of.direct { "direct I/O" } else { "through the page cache" }
    );
    paragraph(&mut text, "", &reads);
    for remark in remarks {
        paragraph(&mut text, "* ", remark);
    }
    text
}
