use nandle_io::Nanos;
use nandle_probe::sweep::{CellSpec, SweepOptions, SweepPlan};
use nandle_profile::OperationKind;
use nandle_units::{format_bytes, format_duration};
use serde_json::json;

use crate::args::Common;
use crate::error::CliError;
use crate::output;
use crate::session::Session;

/// So much of a test file is written, to tell how long all of it takes; and for so long at most.
const TRIAL_BYTES: u64 = 256 << 20;
const TRIAL_TIME: Nanos = Nanos::from_secs(1);

/// Prints what a sweep would do. Of a test file, which is gone afterwards, it writes the start; else it does nothing.
pub(super) fn print(
    plan: &SweepPlan,
    options: &SweepOptions,
    session: &Session,
    common: Common,
) -> Result<(), CliError> {
    let mut estimate = Estimate::of(plan, options, session);
    estimate.fill_time = session.fill_time(estimate.fill_bytes, TRIAL_BYTES, TRIAL_TIME)?;
    output::result(&if common.json { estimate.json(plan)? } else { estimate.text(plan) })
}

struct Estimate {
    fill_bytes: u64,
    /// By what a trial took; `None` when the file is one that must not be written to for a plan.
    fill_time: Option<Nanos>,
    /// What the cells will write, of a mix the expected share; `None` when it depends on how fast the device is.
    cell_bytes: Option<u64>,
    /// `None` when the cells end by bytes.
    time: Option<Nanos>,
}

impl Estimate {
    fn of(plan: &SweepPlan, options: &SweepOptions, session: &Session) -> Self {
        let cells = plan.cells.len() as u64;
        let fill_bytes = if session.target.needs_fill() { session.target.area_bytes() } else { 0 };
        let written = |spec: &CellSpec| match spec.operation {
            OperationKind::Read => Some(0),
            OperationKind::Write => options.stop.bytes.map(|bytes| moved_bytes(spec, bytes)),
            OperationKind::Mixed { read_percent } => {
                let moved = options.stop.bytes.map(|bytes| moved_bytes(spec, bytes));
                moved.map(|bytes| share(bytes, 100 - read_percent.min(100)))
            }
        };
        let cell_bytes =
            plan.cells.iter().map(written).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
        let time = options.stop.time.map(|time| Nanos(time.0.saturating_mul(cells)));
        Self { fill_bytes, fill_time: None, cell_bytes, time }
    }

    fn json(&self, plan: &SweepPlan) -> Result<String, CliError> {
        let cells: Vec<_> = plan
            .cells
            .iter()
            .map(|spec| {
                json!({
                    "pattern": spec.pattern.to_string(), "operation": spec.operation,
                    "block_bytes": spec.block_bytes, "group_blocks": spec.group_blocks,
                    "queue_depth": spec.queue_depth,
                })
            })
            .collect();
        let value = json!({
            "schema_version": 1, "cells": cells, "skipped": plan.skipped,
            "fill_bytes": self.fill_bytes, "fill_time_ns": self.fill_time.map(|time| time.0),
            "cells_write_bytes": self.cell_bytes,
            "cells_time_ns_max": self.time.map(|time| time.0),
        });
        let text = serde_json::to_string_pretty(&value);
        text.map(|text| text + "\n").map_err(|error| CliError::failed(format!("writing JSON: {error}")))
    }

    fn text(&self, plan: &SweepPlan) -> String {
        let mut lines: Vec<String> = plan.cells.iter().map(ToString::to_string).collect();
        lines.push(format!("\n{} cells, {} skipped", plan.cells.len(), plan.skipped.len()));
        lines.push(match self.time {
            Some(time) => format!("at most {} of measuring, besides the test file", format_duration(time)),
            None => "each cell ends after its bytes: the time depends on the device".into(),
        });
        let fill = format!("the test file: {} to be written", format_bytes(self.fill_bytes));
        lines.push(match self.fill_time {
            Some(time) if self.fill_bytes > 0 => {
                format!("{fill}, which takes about {}, by a trial", format_duration(whole_seconds(time)))
            }
            _ => fill,
        });
        lines.push(match self.cell_bytes {
            Some(0) => "the cells write nothing".into(),
            Some(bytes) => format!("the cells write about {}", format_bytes(bytes)),
            None => {
                "the cells write as much as the device takes in their time; bound it with --bytes-per-run"
                    .into()
            }
        });
        lines.join("\n") + "\n"
    }
}

/// No estimate is better than that.
fn whole_seconds(time: Nanos) -> Nanos {
    Nanos::from_secs(time.0.div_ceil(1_000_000_000))
}

/// What a cell moves: it ends with the block that reaches `bytes`.
fn moved_bytes(spec: &CellSpec, bytes: u64) -> u64 {
    bytes.div_ceil(spec.block_bytes).saturating_mul(spec.block_bytes)
}

fn share(bytes: u64, percent: u8) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX)
}
