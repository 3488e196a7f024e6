//! Report of a finished join.

use nandle_spill::JoinReport;
use nandle_units::{Nanos, counted, format_bytes, format_duration};
use serde::Serialize;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 1;

/// Contents of the report.
pub(super) struct Told<'a> {
    pub(super) report: JoinReport,
    pub(super) place: &'a str,
    /// True if times of temporary data are a modelled drive's.
    pub(super) is_modelled: bool,
    pub(super) threads: usize,
    pub(super) joined_ns: u64,
    pub(super) elapsed_s: f64,
}

/// Report as JSON.
#[derive(Serialize)]
pub(super) struct File<'a> {
    schema_version: u32,
    temporary: &'a str,
    is_modelled: bool,
    threads: usize,
    left_records: u64,
    right_records: u64,
    result_records: u64,
    cluster_bytes: usize,
    fan_out: usize,
    predicted_ns: f64,
    spilled_partitions: u64,
    divided_pairs: u64,
    block_loops: u64,
    filtered_records: u64,
    written_bytes: u64,
    write_requests: u64,
    read_bytes: u64,
    read_requests: u64,
    memory_used_bytes: usize,
    joined_ns: u64,
    elapsed_s: f64,
}

pub(super) fn file<'a>(told: &Told<'a>) -> File<'a> {
    let report = told.report;
    File {
        schema_version: SCHEMA_VERSION,
        temporary: told.place,
        is_modelled: told.is_modelled,
        threads: told.threads,
        left_records: report.probe_rows,
        right_records: report.build_rows,
        result_records: report.result_rows,
        cluster_bytes: report.plan.cluster_bytes,
        fan_out: report.plan.fan_out,
        predicted_ns: report.plan.seconds * 1e9,
        spilled_partitions: report.spilled_partitions,
        divided_pairs: report.divided_pairs,
        block_loops: report.block_loops,
        filtered_records: report.filtered_rows,
        written_bytes: report.written_bytes,
        write_requests: report.write_requests,
        read_bytes: report.read_bytes,
        read_requests: report.read_requests,
        memory_used_bytes: report.most_used_bytes,
        joined_ns: told.joined_ns,
        elapsed_s: told.elapsed_s,
    }
}

/// Report as text.
pub(super) fn lines(told: &Told<'_>) -> Vec<String> {
    let report = told.report;
    let records = format!(
        "{} and {}: {} in the result; {} of memory used at most.",
        counted(report.probe_rows, "record"),
        counted(report.build_rows, "record"),
        counted(report.result_rows, "record"),
        format_bytes(report.most_used_bytes as u64)
    );
    if report.spilled_partitions == 0 {
        return vec![records, format!("The second file fitted into memory. {:.1} s.", told.elapsed_s)];
    }
    let clock = if told.is_modelled { " on the modelled drive's clock" } else { "" };
    vec![
        records,
        format!(
            "{} of {} went to {}: {} written in {}, {} read in {}; {} left out by the filter.",
            counted(report.spilled_partitions, "partition"),
            counted(told.threads as u64, "thread"),
            told.place,
            format_bytes(report.written_bytes),
            counted(report.write_requests, "request"),
            format_bytes(report.read_bytes),
            counted(report.read_requests, "request"),
            counted(report.filtered_rows, "record"),
        ),
        format!(
            "Of their pairs {} were divided again and {} joined piece by piece; {}{clock}.",
            report.divided_pairs,
            report.block_loops,
            format_duration(Nanos(told.joined_ns))
        ),
    ]
}
