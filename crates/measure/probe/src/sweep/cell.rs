use nandle_profile::Cell;

use super::CellSpec;
use crate::load::{Measurement, ScheduleLag};

/// Converts a measurement to a cell of the sweep file or the profile.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a non-negative number of bytes")]
pub fn to_cell(spec: &CellSpec, measurement: &Measurement, lag: Option<&ScheduleLag>) -> Cell {
    // A shorter run has only one sample, which would repeat the totals.
    let seconds = if measurement.seconds.len() > 1 { measurement.seconds.clone() } else { Vec::new() };
    Cell {
        pattern: spec.pattern.to_string(),
        operation: spec.operation,
        block_bytes: spec.block_bytes,
        group_blocks: spec.group_blocks,
        queue_depth: spec.queue_depth,
        requests: measurement.requests,
        bytes: measurement.moved_bytes().round() as u64,
        elapsed_ns: measurement.elapsed.0,
        bandwidth_bytes_per_s: measurement.bandwidth_bytes_per_s(),
        iops: measurement.iops(),
        latency_ns: measurement.latency_ns.summary(),
        cpu_ns_per_request: measurement.cpu_ns_per_request(),
        mean_outstanding: measurement.mean_outstanding(),
        errors: measurement.failed + measurement.damaged,
        first_error: measurement.first_error.clone(),
        schedule_lag_ns: lag.map(|lag| lag.lag_ns),
        unsent: lag.map(|lag| lag.unsent),
        drive: None,
        seconds,
    }
}
