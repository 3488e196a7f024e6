//! Report of a finished sort.

use nandle_spill::SortReport;
use nandle_units::{Nanos, counted, format_bytes, format_duration};
use serde::Serialize;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 1;

/// Contents of the report.
pub(super) struct Told<'a> {
    pub(super) report: SortReport,
    pub(super) place: &'a str,
    /// True if times of temporary data are a modelled drive's.
    pub(super) is_modelled: bool,
    pub(super) threads: usize,
    pub(super) read_ns: u64,
    pub(super) sorted_ns: u64,
    pub(super) elapsed_s: f64,
}

/// Report as JSON.
#[derive(Serialize)]
pub(super) struct File<'a> {
    schema_version: u32,
    temporary: &'a str,
    is_modelled: bool,
    threads: usize,
    records: u64,
    record_bytes: u64,
    runs: u64,
    merges_before_the_last: u64,
    last_fan_in: u64,
    cluster_bytes: usize,
    written_bytes: u64,
    write_requests: u64,
    read_requests: u64,
    memory_used_bytes: usize,
    run_ns: u64,
    merge_ns: u64,
    predicted_merge_ns: Option<f64>,
    read_ns: u64,
    sorted_ns: u64,
    elapsed_s: f64,
}

pub(super) fn file<'a>(told: &Told<'a>) -> File<'a> {
    let report = told.report;
    File {
        schema_version: SCHEMA_VERSION,
        temporary: told.place,
        is_modelled: told.is_modelled,
        threads: told.threads,
        records: report.rows,
        record_bytes: report.row_bytes,
        runs: report.runs,
        merges_before_the_last: report.merges,
        last_fan_in: report.last_fan_in,
        cluster_bytes: report.cluster_bytes,
        written_bytes: report.written_bytes,
        write_requests: report.write_requests,
        read_requests: report.read_requests,
        memory_used_bytes: report.most_used_bytes,
        run_ns: report.run_ns,
        merge_ns: merge_ns(told),
        predicted_merge_ns: report.predicted.map(|plan| plan.seconds * 1e9),
        read_ns: told.read_ns,
        sorted_ns: told.sorted_ns,
        elapsed_s: told.elapsed_s,
    }
}

/// Time from the last run to the last row.
fn merge_ns(told: &Told<'_>) -> u64 {
    told.sorted_ns.saturating_sub(told.report.run_ns)
}

/// Report as text.
pub(super) fn lines(told: &Told<'_>) -> Vec<String> {
    let report = told.report;
    let seconds = |ns: u64| format_duration(Nanos(ns));
    let records = format!("{}, {}", counted(report.rows, "record"), format_bytes(report.row_bytes));
    let memory = format!("{} of memory used at most", format_bytes(report.most_used_bytes as u64));
    if report.runs == 0 {
        return vec![format!("{records}: all fitted into memory, {memory}. {:.1} s.", told.elapsed_s)];
    }
    let clock = if told.is_modelled { " on the modelled drive's clock" } else { "" };
    let mut lines = vec![
        format!("{records}; {memory}; temporary data on {}.", told.place),
        format!(
            "Runs: {} by {} in {}{clock}; {} written in {} requests.",
            report.runs,
            counted(told.threads as u64, "thread"),
            seconds(report.run_ns),
            format_bytes(report.written_bytes),
            report.write_requests
        ),
        format!(
            "Merging: {} before the last, which joined {}; {} reads of {} in {}{clock}, the result's writing included.",
            report.merges,
            report.last_fan_in,
            report.read_requests,
            format_bytes(report.cluster_bytes as u64),
            seconds(merge_ns(told)),
        ),
    ];
    if let Some(plan) = report.predicted {
        lines.push(format!(
            "Predicted for the device alone: fan-in {}, {} ahead, {} read and {} written in merges, {:.2} s.",
            plan.fan_in,
            plan.read_ahead,
            format_bytes(plan.read_bytes),
            format_bytes(plan.written_bytes),
            plan.seconds
        ));
    }
    lines
}
