//! A query of a recording, carried out in a world: the same pump as in an engine, and between the steps the recorded processor time.

use std::collections::BTreeMap;
use std::sync::Arc;

use nandle_io::{Device, Io, Nanos};
use nandle_profile::Interval;
use nandle_reads::recording::RecordedQuery;
use nandle_reads::{HostCosts, Plan, PlanOptions, ReadCosts, Scan, ScanMemory};
use nandle_session::Cancel;
use serde::{Deserialize, Serialize};

use crate::{Layout, PredictError, spill};

/// A computing thread has an owner thread beside it that refills the queue. Here there is one thread, which looks after the queue so often.
const COMPUTING_SLICE: Nanos = Nanos::from_micros(50);

/// How queries are played.
#[derive(Debug, Clone)]
pub struct Play {
    /// How their wants become requests, and in which memory.
    pub options: PlanOptions,
    /// Recorded processor times are multiplied by it: 0.5 is a processor twice as fast.
    pub cpu_scale: f64,
    /// What requests take of the processor, for the prediction.
    pub host: HostCosts,
    /// Whether the world is modelled: then processor time is charged to its clock, and otherwise a real processor is kept busy.
    pub is_modelled: bool,
    /// Ends it from outside, between steps and while it computes.
    pub cancel: Cancel,
}

/// What a query took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlayedQuery {
    /// From planning's end to the last step's, temporary data included.
    pub time_ns: u64,
    /// What the plan was predicted to take, with the bounds that the costs give: all but temporary data.
    pub predicted_ns: Interval<u64>,
    /// Of `time_ns`, the time that temporary data took. Nothing else happens meanwhile.
    pub spill_ns: u64,
    /// Processor time between steps, scaled.
    pub computing_ns: u64,
    /// All processor time: in a modelled world computing and what requests cost, in a real one that of the process.
    pub cpu_ns: u64,
    /// Requests for files.
    pub requests: u64,
    /// Of these, those that begin where the one before ends.
    pub continued_requests: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Bytes that were wanted; those that several wants cover count for each.
    pub wanted_bytes: u64,
    /// Requests by their length in bytes.
    pub requests_by_length_bytes: BTreeMap<u64, u64>,
    /// Most requests that the plan keeps outstanding.
    pub depth_max: u32,
    /// Memory of the windows and of what no plan foresees.
    pub memory_bytes: u64,
}

/// Plays a query in memory that others were played in before. The world must be idle.
///
/// # Errors
/// Its reads can't be planned in the memory, something failed, or it was cancelled. Nothing is in flight then.
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
        // Steps without wants behind the last that has some are computing alone: the plan doesn't know them.
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

/// What the plan is predicted to take, with the computing behind its last step.
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

/// Computes for so long, and keeps the queue full meanwhile. What refilling it takes is time of the owner thread, which has a processor of
/// its own: the computing thread goes on. Returns what was charged.
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
        // While nothing is in flight, and memory or the plan allow nothing to be sent, the queue needs no looking after. A real processor
        // looks whether it was cancelled all the same.
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
