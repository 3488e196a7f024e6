//! Pilot run: a scan's first steps with all threads, compared with the prediction. Concurrent
//! threads share caches, memory and often a core, so each is slower than alone.

use std::sync::Arc;
use std::time::Instant;

use nandle_columns::{BatchDecoder, DirectBytes, ScanPlan, StreamedBytes};
use nandle_reads::{HostCosts, Plan};
use nandle_terminal::cpu;

use super::args::RowFormat;
use super::files::OpenFiles;
use super::host::Ratios;
use super::work::decode_some;
use crate::decode::Ahead;
use crate::error::CliError;

/// Steps at most: a few million rows.
pub(super) const STEPS: u32 = 32;
/// Repetitions.
const ROUNDS: usize = 4;

/// Reads, decodes and formats the first steps, `first`, without output.
pub(super) fn run(
    plan: &ScanPlan,
    opened: &OpenFiles,
    first: &Arc<Plan>,
    copies_bytes: u64,
    host: HostCosts,
    format: RowFormat,
) -> Result<Ratios, CliError> {
    let steps = first.steps();
    let rows: u64 = (0..steps).map(|step| plan.candidate_rows_of(step)).sum();
    let mut ratios = Ratios::default();
    for _ in 0..ROUNDS {
        let mut ahead = Ahead::read(&mut DirectBytes::new(plan), steps as usize)?;
        let before_ns = cpu::of_thread().0;
        decode_some(BatchDecoder::new(plan), &mut ahead, format)?;
        let ns_per_row = (cpu::of_thread().0 - before_ns) as f64 / rows.max(1) as f64;
        let predicted = first.predict(host, |step| plan.candidate_rows_of(step) as f64 * ns_per_row / 1e9);
        let began = Instant::now();
        let stream = opened.owner.scan(Arc::clone(&opened.files), Arc::clone(first), copies_bytes);
        decode_some(BatchDecoder::new(plan), &mut StreamedBytes::new(plan, stream), format)?;
        ratios.saw(began.elapsed().as_secs_f64(), predicted.seconds.value);
    }
    Ok(ratios)
}
