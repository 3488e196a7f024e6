//! Replay of a recorded query in a world: an engine's pump, with the recorded processor time
//! between the steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use nandle_io::{Device, Io, Nanos};
use nandle_profile::Interval;
use nandle_reads::recording::RecordedQuery;
use nandle_reads::{HostCosts, Plan, PlanOptions, ReadCosts, Scan, ScanMemory};
use nandle_session::Cancel;
use serde::{Deserialize, Serialize};

use crate::{Layout, PredictError, spill};

/// Interval at which computing pauses to refill the queue. It stands for the owner thread of an
/// engine, because a replay has one thread only.
const COMPUTING_SLICE: Nanos = Nanos::from_micros(50);

/// Options of a replay.
#[derive(Debug, Clone)]
pub struct Play {
    /// Strategy and memory of its reads.
    pub options: PlanOptions,
    /// Factor applied to recorded processor times: 0.5 is a processor twice as fast.
    pub cpu_scale: f64,
    /// Processor time of requests, for the prediction.
    pub host: HostCosts,
    /// True if the world is modelled: then processor time is charged to its clock. Otherwise a real
    /// processor is kept busy.
    pub is_modelled: bool,
    /// Cancels the replay between steps and during computation.
    pub cancel: Cancel,
}

/// Measured run of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedQuery {
    /// Time from the end of planning to the end of the last step, including temporary data.
    pub time_ns: u64,
    /// Predicted time of the plan with its bounds, without temporary data.
    pub predicted_ns: Interval<u64>,
    /// Part of `time_ns` spent on temporary data, without overlap.
    pub spill_ns: u64,
    /// Processor time between steps, scaled.
    pub computing_ns: u64,
    /// Total processor time: in a modelled world of computation and requests, in a real one of the
    /// process.
    pub cpu_ns: u64,
    /// Requests for files.
    pub requests: u64,
    /// Requests that begin where the previous one ends.
    pub continued_requests: u64,
    /// Bytes of the requests.
    pub read_bytes: u64,
    /// Bytes wanted; bytes that several wants share count for each.
    pub wanted_bytes: u64,
    /// Requests by their length in bytes.
    pub requests_by_length_bytes: BTreeMap<u64, u64>,
    /// Greatest number of requests that the plan keeps outstanding.
    pub depth_max: u32,
    /// Memory of the windows and the reserve for unplanned reads.
    pub memory_bytes: u64,
}

/// Plays a query in memory reused from earlier ones. The world must be idle.
///
/// # Errors
/// Its reads can't be planned in the memory, an operation failed, or it was cancelled. Nothing is
/// in flight afterwards.
pub fn play(
    io: &mut dyn Io,
    device: &Device,
    layout: &Layout,
    query: &RecordedQuery,
    costs: &ReadCosts,
    how: &Play,
    memory: &mut ScanMemory,
) -> Result<PlayedQuery, PredictError> {
    let plan = Arc::new(Plan::new(query.wants.clone(), &layout.files, costs, how.options)?);
    let (began_at, cpu_before) = (io.now(), io.cpu_time());
    let mut scan = Scan::in_memory(io, layout.on(device.id), Arc::clone(&plan), memory)?;
    let (mut computing, mut charged) = (Nanos::ZERO, Nanos::ZERO);
    for cpu_after_ns in &query.cpu_after_ns {
        // Trailing steps without wants only compute; the plan doesn't contain them.
        let step = scan.next_step()?;
        let work = scaled(*cpu_after_ns, how.cpu_scale);
        charged += compute(&mut scan, work, how)?;
        computing += work;
        drop(step);
    }
    let counts = scan.counts().clone();
    drop(scan);
    memory.trim();
    let spill_began_at = io.now();
    spill::play(io, device, layout, query.totals, costs, how)?;
    let ended_at = io.now();
    let spent = io.cpu_time().since(cpu_before);
    let cpu = if how.is_modelled { spent.since(charged) + computing } else { spent };
    Ok(PlayedQuery {
        time_ns: ended_at.since(began_at).0,
        predicted_ns: predicted(&plan, query, how),
        spill_ns: ended_at.since(spill_began_at).0,
        computing_ns: computing.0,
        cpu_ns: cpu.0,
        requests: counts.requests,
        continued_requests: counts.continued_requests,
        read_bytes: counts.read_bytes,
        wanted_bytes: counts.wanted_bytes,
        requests_by_length_bytes: counts.by_length,
        depth_max: plan.depth_max(),
        memory_bytes: how.options.memory_bytes,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a span of time times a positive factor"
)]
fn scaled(span_ns: u64, scale: f64) -> Nanos {
    Nanos((span_ns as f64 * scale).round() as u64)
}

/// Predicted time of the plan, including computation after its last step.
fn predicted(plan: &Plan, query: &RecordedQuery, how: &Play) -> Interval<u64> {
    let seconds = |step: u32| {
        let at = usize::try_from(step).unwrap_or(usize::MAX);
        query.cpu_after_ns.get(at).map_or(0.0, |span_ns| *span_ns as f64 * 1e-9 * how.cpu_scale)
    };
    let planned = plan.steps();
    let steps = u32::try_from(query.cpu_after_ns.len()).unwrap_or(u32::MAX);
    let behind: f64 = (planned..steps.max(planned)).map(seconds).sum();
    let of_plan = plan.predict(how.host, seconds).seconds;
    let nanos = |of_plan: f64| scaled(1_000_000_000, of_plan + behind).0;
    Interval { value: nanos(of_plan.value), low: nanos(of_plan.low), high: nanos(of_plan.high) }
}

/// Computes for `work` and keeps the queue full meanwhile. Refilling the queue is charged to the
/// owner thread, which has a processor of its own. Returns the time charged.
///
/// # Errors
/// It was cancelled.
fn compute(scan: &mut Scan<'_>, work: Nanos, how: &Play) -> Result<Nanos, PredictError> {
    let began_at = scan.io().now();
    let (done_at, mut charged) = (began_at + work, Nanos::ZERO);
    loop {
        check(&how.cancel)?;
        let left = done_at.since(scan.io().now().min(done_at));
        if left == Nanos::ZERO {
            return Ok(charged);
        }
        // If nothing is in flight and nothing can be sent, the queue needs no attention. A real
        // processor still checks for cancellation.
        let is_idle = how.is_modelled && scan.io().in_flight() == 0;
        let slice = if is_idle { left } else { left.min(COMPUTING_SLICE) };
        if how.is_modelled {
            scan.io().charge_cpu(slice);
            charged += slice;
        } else {
            let until = scan.io().now() + slice;
            while scan.io().now() < until {
                std::hint::spin_loop();
            }
        }
        scan.go_on();
    }
}

pub(crate) fn check(cancel: &Cancel) -> Result<(), PredictError> {
    if cancel.is_cancelled() { Err(PredictError::Cancelled) } else { Ok(()) }
}
