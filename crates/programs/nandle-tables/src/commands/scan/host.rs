//! What the thread that reads takes of a processor: seen by letting it read the first steps.

use std::sync::Arc;

use nandle_columns::{ScanPlan, StepBytes, StreamedBytes};
use nandle_reads::{Estimate, HostCosts, Plan, PlanOptions, ReadCosts, Want};

use super::files::OpenFiles;
use crate::decode::cpu_of_process_ns;
use crate::error::CliError;

/// The steps that are read to see it want so many bytes: of fewer, starting would be most of the time.
const WANTED_BYTES: u64 = 16 << 20;
/// How often: the fastest and the slowest are the bounds, and the one between them counts.
const ROUNDS: usize = 3;

/// Reads the first steps, checks and copies them, and drops them. `known` says what requests take; the rest is the bytes'.
pub(crate) fn measure(
    opened: &OpenFiles,
    plan: &ScanPlan,
    costs: &ReadCosts,
    options: PlanOptions,
    copies_bytes: u64,
    known: HostCosts,
) -> Result<HostCosts, CliError> {
    let mut left_bytes = WANTED_BYTES;
    let is_first = |want: &&Want| {
        let is_first = left_bytes > 0;
        left_bytes = left_bytes.saturating_sub(want.length_bytes);
        is_first
    };
    let first: Vec<Want> = plan.wants().iter().take_while(is_first).copied().collect();
    let reads = Plan::new(first, &opened.plan_files(), costs, options);
    let reads = Arc::new(reads.map_err(|error| CliError::failed(error.to_string()))?);
    let of_requests = known.request_seconds.value * reads.reads().len() as f64;
    let bytes = reads.read_bytes().max(1) as f64;
    let mut per_byte = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let before_ns = cpu_of_process_ns();
        let stream = opened.owner.scan(Arc::clone(&opened.files), Arc::clone(&reads), copies_bytes);
        let mut steps = StreamedBytes::new(plan, stream);
        while steps.next_step()?.is_some() {}
        let spent = (cpu_of_process_ns() - before_ns) as f64 * 1e-9;
        per_byte.push((spent - of_requests).max(0.0) / bytes);
    }
    per_byte.sort_unstable_by(f64::total_cmp);
    let place = |place: usize| per_byte.get(place).copied().unwrap_or_default();
    let byte_seconds = Estimate { value: place(ROUNDS / 2), low: place(0), high: place(ROUNDS - 1) };
    Ok(HostCosts { byte_seconds, ..known })
}
