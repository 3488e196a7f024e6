//! Contribution of each part of the staging policies, on a modelled drive in virtual time.

use super::models::{named_by, record};
use crate::command::cargo;
use crate::{Outcome, output};

/// Number of writes in the StableBuffer paper.
const WRITES: &str = "488623";

pub(super) fn run() -> Outcome {
    let Some(trace) = named_by("NANDLE_TRACE")? else {
        output::say("ablation: SKIPPED, NANDLE_TRACE names no trace of a database's page writes");
        return Ok(());
    };
    output::say("the staging policies, a part off at a time …");
    let mut run =
        cargo(&["run", "--release", "--quiet", "--package", "nandle-replay", "--example", "ablation", "--"]);
    let output = run.arg(&trace).arg(WRITES).output()?;
    if !output.status.success() {
        return Err(
            format!("the example `ablation` failed: {}", String::from_utf8_lossy(&output.stderr)).into()
        );
    }
    let table = format!(
        "# What each part of the staging policies brings\n\nThe first {WRITES} writes of {}, on mtron-16 with 4 GiB, depth 1, \
         durable at the end, the final checkpoint included; the costs of writing are the defaults (M = 8 MiB). Virtual time: \
         every run gives the same figures.\n\n{}",
        trace.file_name().unwrap_or_default().to_string_lossy(),
        String::from_utf8_lossy(&output.stdout)
    );
    record("ablation.md", &table)
}
