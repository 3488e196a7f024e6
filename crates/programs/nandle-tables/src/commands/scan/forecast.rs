//! Predicts a scan's time for each read strategy.

use std::collections::BTreeMap;
use std::sync::Arc;

use nandle_columns::ScanPlan;
use nandle_reads::{Estimate, Plan, PlanFile, Prediction, ReadCosts, ReadsError, Strategy};
use nandle_units::format_bytes;
use serde::Serialize;

use super::args::ScanArgs;
use super::host::{Host, Ratios};
use super::work::RowCost;
use crate::error::CliError;

/// Strategies that the paper compares.
const WAYS: [Strategy; 4] = [
    Strategy::Flexible,
    Strategy::FixedBlock { block_bytes: None },
    Strategy::WholeGroup,
    Strategy::OneByOne { depth: 1 },
];

/// A time with its bounds.
#[derive(Debug, Clone, Copy, Serialize)]
#[allow(clippy::struct_field_names, reason = "keys end in their unit")]
pub(crate) struct Bounds {
    pub(crate) value_s: f64,
    pub(crate) low_s: f64,
    pub(crate) high_s: f64,
}

impl From<Estimate> for Bounds {
    fn from(of: Estimate) -> Self {
        Self { value_s: of.value, low_s: of.low, high_s: of.high }
    }
}

/// Processor times of a scan's two threads.
#[derive(Debug, Clone)]
pub(super) struct CpuCosts {
    pub(super) row: RowCost,
    pub(super) host: Host,
    /// Ratios of measured to predicted times of scans.
    pub(super) pilot: Ratios,
}

/// Prediction for one strategy.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Forecast {
    pub(super) reads: String,
    /// Reason why memory doesn't suffice.
    pub(super) refusal: Option<String>,
    #[serde(flatten)]
    pub(super) figures: Option<Figures>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Figures {
    pub(super) requests: u64,
    pub(super) read_bytes: u64,
    pub(super) wanted_bytes: u64,
    pub(super) queue_depth: u32,
    pub(super) memory_bytes: u64,
    pub(super) device: Bounds,
    /// Reading thread: submitting, checking and copying.
    pub(super) host_s: f64,
    /// Decoding thread.
    pub(super) cpu_s: f64,
    pub(super) time: Bounds,
}

impl Figures {
    /// Combines the bounds of reading and computing, widened to single runs.
    pub(super) fn of(reads: &Plan, plan: &ScanPlan, cpu: &CpuCosts, copies_bytes: u64) -> Self {
        let predict = |ns_per_row: f64| {
            reads.predict(cpu.host.costs, |step| plan.candidate_rows_of(step) as f64 * ns_per_row / 1e9)
        };
        let Estimate { value, low, high } = cpu.row.ns_per_row;
        let prediction: Prediction = predict(value);
        let time = Estimate {
            value: prediction.seconds.value,
            low: predict(low).seconds.low,
            high: predict(high).seconds.high,
        };
        Self {
            requests: prediction.requests,
            read_bytes: prediction.read_bytes,
            wanted_bytes: prediction.wanted_bytes,
            queue_depth: prediction.depth,
            memory_bytes: prediction.memory_bytes + copies_bytes.min(prediction.wanted_bytes),
            device: prediction.device_seconds.into(),
            host_s: prediction.host_seconds.value,
            cpu_s: prediction.cpu_seconds,
            time: cpu.pilot.applied_to(time).into(),
        }
    }
}

/// Plans the reads of the requested strategy.
pub(super) fn planned(
    args: &ScanArgs,
    plan: &ScanPlan,
    files: &[PlanFile],
    costs: &ReadCosts,
) -> Result<Arc<Plan>, CliError> {
    let reads = Plan::new(plan.wants().to_vec(), files, costs, args.plan_options(args.reads));
    reads.map(Arc::new).map_err(|error| match error {
        ReadsError::Memory { .. } => CliError::usage(refusal(&error)),
        error => CliError::failed(error.to_string()),
    })
}

fn refusal(error: &ReadsError) -> String {
    match error {
        ReadsError::Memory { step, needed_bytes, memory_bytes, .. } => format!(
            "step {step} needs {} at once: give at least --memory {}",
            format_bytes(*needed_bytes),
            format_bytes(ScanArgs::memory_for(*memory_bytes).next_multiple_of(64 << 10))
        ),
        error => error.to_string(),
    }
}

/// Forecasts of the requested strategy, then of the others.
pub(super) fn forecasts(
    args: &ScanArgs,
    plan: &ScanPlan,
    files: &[PlanFile],
    costs: &ReadCosts,
    reads: &Plan,
    cpu: &CpuCosts,
) -> Result<Vec<Forecast>, CliError> {
    let forecast = |reads: &Plan| Forecast {
        reads: reads.options().strategy.to_string(),
        refusal: None,
        figures: Some(Figures::of(reads, plan, cpu, args.copies_bytes())),
    };
    let mut all = vec![forecast(reads)];
    for way in WAYS.into_iter().filter(|way| *way != args.reads) {
        let rival = Plan::new(plan.wants().to_vec(), files, costs, args.plan_options(way));
        all.push(match rival {
            Ok(rival) => forecast(&rival),
            Err(error @ ReadsError::Memory { .. }) => {
                Forecast { reads: way.to_string(), refusal: Some(refusal(&error)), figures: None }
            }
            Err(error) => return Err(CliError::failed(error.to_string())),
        });
    }
    Ok(all)
}

/// Counts a plan's requests by length.
pub(super) fn by_length(reads: &Plan) -> BTreeMap<u64, u64> {
    let mut lengths = BTreeMap::new();
    for read in reads.reads() {
        *lengths.entry(read.length_bytes).or_default() += 1;
    }
    lengths
}
