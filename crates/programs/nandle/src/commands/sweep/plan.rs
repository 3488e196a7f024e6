//! Plan of a sweep, for `--plan`.

use nandle_io::Nanos;
use nandle_probe::sweep::SweepPlan;
use nandle_session::{Sweep, sweep::Estimate};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_units::{format_bytes, format_duration};
use serde_json::json;

use crate::error::CliError;

/// Prints the plan. Writes only the start of a test file, which is removed afterwards.
pub(super) fn print(sweep: &Sweep, common: Common) -> Result<(), CliError> {
    let estimate = sweep.estimate();
    let fill_time = estimate.fill_time(sweep.session())?;
    let told = Told { estimate, fill_time };
    Ok(output::result(&if common.json { told.json(sweep.plan())? } else { told.text(sweep.plan()) })?)
}

struct Told {
    estimate: Estimate,
    /// Extrapolated from a trial; `None` if the file mustn't be written for a plan.
    fill_time: Option<Nanos>,
}

impl Told {
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
            "fill_bytes": self.estimate.fill_bytes, "fill_time_ns": self.fill_time.map(|time| time.0),
            "cells_write_bytes": self.estimate.cells_bytes,
            "cells_time_ns_max": self.estimate.cells_time_max.map(|time| time.0),
        });
        let text = serde_json::to_string_pretty(&value);
        text.map(|text| text + "\n").map_err(|error| CliError::failed(format!("writing JSON: {error}")))
    }

    fn text(&self, plan: &SweepPlan) -> String {
        let mut lines: Vec<String> = plan.cells.iter().map(ToString::to_string).collect();
        lines.push(format!("\n{} cells, {} skipped", plan.cells.len(), plan.skipped.len()));
        lines.push(match self.estimate.cells_time_max {
            Some(time) => format!("at most {} of measuring, besides the test file", format_duration(time)),
            None => "each cell ends after its bytes: the time depends on the device".into(),
        });
        let fill = format!("the test file: {} to be written", format_bytes(self.estimate.fill_bytes));
        lines.push(match self.fill_time {
            Some(time) if self.estimate.fill_bytes > 0 => {
                format!("{fill}, which takes about {}, by a trial", format_duration(whole_seconds(time)))
            }
            _ => fill,
        });
        lines.push(match self.estimate.cells_bytes {
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

/// Rounds to seconds: estimates are no better.
fn whole_seconds(time: Nanos) -> Nanos {
    Nanos::from_secs(time.0.div_ceil(1_000_000_000))
}
