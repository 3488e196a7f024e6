//! Temporary data of a recorded query: so many bytes written one after the other, and so many read back. Where in the query that happened
//! isn't recorded, so it comes after the last step, and nothing overlaps it.

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{Arena, Device, Io, Operation, Request, Wait};
use nandle_reads::recording::QueryTotals;
use nandle_reads::{Plan, PlanFile, PlanOptions, ReadCosts, Strategy, Want};

use crate::{Layout, PredictError};

#[derive(Clone, Copy)]
enum Direction {
    Write,
    Read,
}

pub(crate) fn play(
    io: &mut dyn Io,
    device: &Device,
    layout: &Layout,
    totals: QueryTotals,
    costs: &ReadCosts,
    options: PlanOptions,
) -> Result<(), PredictError> {
    // An engine sorts and joins on disk in large requests, however it reads its tables.
    let options =
        PlanOptions { strategy: Strategy::Flexible, depth: None, request_bytes_max: None, ..options };
    for (direction, bytes) in
        [(Direction::Write, totals.spilled_bytes), (Direction::Read, totals.spill_read_bytes)]
    {
        if bytes > 0 {
            pass(io, device, layout, (direction, bytes), costs, options)?;
        }
    }
    Ok(())
}

/// Goes once through so many bytes from the beginning of the temporary data, in requests and at the depth of a plan that reads them all.
fn pass(
    io: &mut dyn Io,
    device: &Device,
    layout: &Layout,
    (direction, bytes): (Direction, u64),
    costs: &ReadCosts,
    options: PlanOptions,
) -> Result<(), PredictError> {
    let block_bytes = costs.logical_block_bytes;
    // At most a quarter of the memory: a plan of it has two windows and a reserve.
    let request_bytes = costs.largest_request_bytes.min(options.memory_bytes / 4).max(block_bytes)
        / block_bytes
        * block_bytes;
    let end_bytes = bytes.next_multiple_of(block_bytes).min(layout.spill_bytes);
    let depth = depth(request_bytes, costs, options)?;
    let fitting = (options.memory_bytes / request_bytes).clamp(1, u64::from(depth));
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let buffer_bytes = request_bytes.next_multiple_of(GRAIN_BYTES as u64);
    let arena = Arena::new(in_memory(fitting.saturating_mul(buffer_bytes)))?;
    let (mut at_bytes, mut completions) = (0, Vec::new());
    while at_bytes < end_bytes || io.in_flight() > 0 {
        while at_bytes < end_bytes && io.in_flight() < in_memory(fitting) && io.in_flight() < io.slots() {
            let length_bytes = request_bytes.min(end_bytes - at_bytes);
            let buffer = arena.allocate(in_memory(length_bytes))?;
            let offset_bytes = layout.spill_start_bytes + at_bytes;
            let operation = match direction {
                Direction::Write => Operation::write(offset_bytes, buffer.freeze()),
                Direction::Read => Operation::read(offset_bytes, buffer),
            };
            let sent = io.submit(device.id, Request { token: at_bytes, operation });
            debug_assert!(sent.is_ok(), "fewer are in flight than there are slots");
            at_bytes += length_bytes;
        }
        io.reap(Wait::until_completed(1), &mut completions);
        for completion in completions.drain(..) {
            completion.result?;
        }
    }
    Ok(())
}

/// Requests that a plan keeps outstanding when it reads everything.
fn depth(request_bytes: u64, costs: &ReadCosts, options: PlanOptions) -> Result<u32, PredictError> {
    let file = PlanFile::new(request_bytes, costs.logical_block_bytes);
    let want = Want { file: nandle_reads::FileId(0), offset_bytes: 0, length_bytes: request_bytes, step: 0 };
    let plan = Plan::new(vec![want], &[file], costs, options)?;
    Ok(plan.depth(request_bytes))
}
