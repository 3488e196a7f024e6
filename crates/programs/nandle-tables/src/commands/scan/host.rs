//! Calibrates the reading thread by reading the first steps: its processor time, and the ratio of
//! measured to predicted times.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use nandle_columns::{ScanPlan, StepBytes, StreamedBytes};
use nandle_predict::next_of;
use nandle_reads::{Estimate, HostCosts, Plan, PlanOptions, ReadCosts, Want};
use nandle_terminal::cpu;

use super::files::OpenFiles;
use crate::error::CliError;

/// Bytes wanted by the calibration's steps: with fewer the start would dominate.
const WANTED_BYTES: u64 = 16 << 20;
/// Repetitions.
const ROUNDS: usize = 5;

/// Costs of reading on this machine besides the device's time.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) costs: HostCosts,
    pub(crate) ratios: Ratios,
}

/// Ratios of measured to predicted times. A profile's bounds are those of means, whereas a single
/// run is disturbed by other load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ratios(VecDeque<f64>);

impl Ratios {
    /// Ratios kept, since the load changes.
    const LATEST: usize = 20;

    /// Adds a run.
    pub(crate) fn saw(&mut self, time_s: f64, predicted_s: f64) {
        if predicted_s > 0.0 {
            self.0.push_back(time_s / predicted_s);
        }
        while self.0.len() > Self::LATEST {
            self.0.pop_front();
        }
    }

    fn next(&self) -> Estimate {
        let ratios: Vec<f64> = self.0.iter().copied().collect();
        if ratios.is_empty() { Estimate::exact(1.0) } else { next_of(&ratios) }
    }

    /// Scales a prediction by the ratios of past runs, with the bounds of a single run.
    pub(crate) fn applied_to(&self, predicted: Estimate) -> Estimate {
        let ratio = self.next();
        Estimate {
            value: predicted.value * ratio.value,
            low: predicted.low * ratio.low,
            high: predicted.high * ratio.high,
        }
    }
}

/// Reads of the first steps, at most `steps_max`.
pub(super) fn first_steps(
    opened: &OpenFiles,
    plan: &ScanPlan,
    costs: &ReadCosts,
    options: PlanOptions,
    steps_max: u32,
) -> Result<Arc<Plan>, CliError> {
    let mut wanted_bytes = 0;
    let enough = plan.wants().iter().find(|want| {
        wanted_bytes += want.length_bytes;
        wanted_bytes >= WANTED_BYTES
    });
    let steps = enough.map_or(u32::MAX, |want| want.step + 1).min(steps_max);
    let first: Vec<Want> = plan.wants().iter().take_while(|want| want.step < steps).copied().collect();
    let reads = Plan::new(first, &opened.plan_files(), costs, options);
    Ok(Arc::new(reads.map_err(|error| CliError::failed(error.to_string()))?))
}

/// Reads, checks, copies and drops the first steps. `known` holds the cost of requests; the rest is
/// attributed to bytes.
pub(crate) fn measure(
    opened: &OpenFiles,
    plan: &ScanPlan,
    costs: &ReadCosts,
    options: PlanOptions,
    copies_bytes: u64,
    known: HostCosts,
) -> Result<Host, CliError> {
    let reads = first_steps(opened, plan, costs, options, u32::MAX)?;
    let of_requests = known.request_seconds.value * reads.reads().len() as f64;
    let bytes = reads.read_bytes().max(1) as f64;
    let (mut per_byte, mut times_s) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        let (before_ns, began) = (cpu::of_process().0, Instant::now());
        let stream = opened.owner.scan(Arc::clone(&opened.files), Arc::clone(&reads), copies_bytes);
        let mut steps = StreamedBytes::new(plan, stream);
        while steps.next_step()?.is_some() {}
        times_s.push(began.elapsed().as_secs_f64());
        let spent = (cpu::of_process().0 - before_ns) as f64 * 1e-9;
        per_byte.push((spent - of_requests).max(0.0) / bytes);
    }
    // Its variance is part of the runs' variance.
    let byte_seconds = Estimate::exact(next_of(&per_byte).value);
    let costs = HostCosts { byte_seconds, ..known };
    let predicted_s = reads.predict(costs, |_| 0.0).seconds.value;
    let mut ratios = Ratios::default();
    for time_s in times_s {
        ratios.saw(time_s, predicted_s);
    }
    Ok(Host { costs, ratios })
}
