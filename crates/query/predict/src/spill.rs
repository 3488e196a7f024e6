//! Temporary data of a recorded query, written and read back sequentially. Recordings don't contain
//! the time of these transfers, so they follow the last step and overlap with nothing.

use nandle_io::buffer::GRAIN_BYTES;
use nandle_io::{Arena, Device, Io, Operation, Request, Wait};
use nandle_reads::recording::QueryTotals;
use nandle_reads::{Plan, PlanFile, PlanOptions, ReadCosts, Strategy, Want};
use nandle_session::Cancel;

use crate::play::check;
use crate::{Layout, Play, PredictError};

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
    how: &Play,
) -> Result<(), PredictError> {
    // An engine sorts and joins on disk in large requests, independent of its strategy for tables.
    let options =
        PlanOptions { strategy: Strategy::Flexible, depth: None, request_bytes_max: None, ..how.options };
    for (direction, bytes) in
        [(Direction::Write, totals.spilled_bytes), (Direction::Read, totals.spill_read_bytes)]
    {
        if bytes > 0 {
            let mut pass = Pass::new(layout, (direction, bytes), costs, options)?;
            let outcome = pass.run(io, device, &how.cancel);
            // Leave the world idle in any case.
            drain(io);
            outcome?;
        }
    }
    Ok(())
}

/// One sequential pass over the temporary data, with the request length and depth of a plan for all
/// of it.
struct Pass {
    direction: Direction,
    at_bytes: u64,
    end_bytes: u64,
    request_bytes: u64,
    in_flight_max: usize,
    arena: Arena,
}

impl Pass {
    fn new(
        layout: &Layout,
        (direction, bytes): (Direction, u64),
        costs: &ReadCosts,
        options: PlanOptions,
    ) -> Result<Self, PredictError> {
        let block_bytes = costs.logical_block_bytes;
        // At most a quarter of the memory: a plan needs two windows and a reserve.
        let request_bytes = costs.largest_request_bytes.min(options.memory_bytes / 4).max(block_bytes)
            / block_bytes
            * block_bytes;
        let depth = depth(request_bytes, costs, options)?;
        let buffer_bytes = request_bytes.next_multiple_of(GRAIN_BYTES as u64);
        let fitting = (options.memory_bytes / buffer_bytes).clamp(1, u64::from(depth));
        Ok(Self {
            direction,
            at_bytes: layout.spill_start_bytes,
            end_bytes: layout.spill_start_bytes + bytes.next_multiple_of(block_bytes).min(layout.spill_bytes),
            request_bytes,
            in_flight_max: in_memory(fitting),
            arena: Arena::new(in_memory(fitting.saturating_mul(buffer_bytes)))?,
        })
    }

    fn run(&mut self, io: &mut dyn Io, device: &Device, cancel: &Cancel) -> Result<(), PredictError> {
        let mut completions = Vec::new();
        while self.at_bytes < self.end_bytes || io.in_flight() > 0 {
            check(cancel)?;
            while self.at_bytes < self.end_bytes && io.in_flight() < self.in_flight_max.min(io.slots()) {
                let request = self.next_request()?;
                let sent = io.submit(device.id, request);
                debug_assert!(sent.is_ok(), "fewer are in flight than there are slots");
            }
            io.reap(Wait::until_completed(1), &mut completions);
            completions.drain(..).try_for_each(|completion| completion.result)?;
        }
        Ok(())
    }

    fn next_request(&mut self) -> Result<Request, PredictError> {
        let (offset_bytes, left_bytes) = (self.at_bytes, self.end_bytes - self.at_bytes);
        let length_bytes = self.request_bytes.min(left_bytes);
        let buffer = self.arena.allocate(in_memory(length_bytes))?;
        self.at_bytes += length_bytes;
        let operation = match self.direction {
            Direction::Write => Operation::write(offset_bytes, buffer.freeze()),
            Direction::Read => Operation::read(offset_bytes, buffer),
        };
        Ok(Request { token: offset_bytes, operation })
    }
}

fn drain(io: &mut dyn Io) {
    let mut completions = Vec::new();
    while io.in_flight() > 0 {
        io.reap(Wait::until_completed(io.in_flight()), &mut completions);
        completions.clear();
    }
}

fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Queue depth of a plan that reads everything.
fn depth(request_bytes: u64, costs: &ReadCosts, options: PlanOptions) -> Result<u32, PredictError> {
    let file = PlanFile::new(request_bytes, costs.logical_block_bytes);
    let want = Want { file: nandle_reads::FileId(0), offset_bytes: 0, length_bytes: request_bytes, step: 0 };
    let plan = Plan::new(vec![want], &[file], costs, options)?;
    Ok(plan.depth(request_bytes))
}
