use std::collections::VecDeque;

use nandle_io::{Completion, Nanos, Wait};

use super::operations::Operations;
use super::outstanding::Outstanding;
use super::window::Window;
use super::{Cancel, Lane, LoadError, Measurement, Stop, Work};

/// Load driver with a fixed queue depth: each completed request is followed by the next.
#[derive(Debug, Clone, Copy)]
pub struct ClosedLoop {
    /// Number of requests kept outstanding.
    pub queue_depth: u32,
    /// Time at which completed requests are replaced.
    pub refill: Refill,
    /// Requests that count.
    pub counting: Counting,
    /// End of the run.
    pub stop: Stop,
}

/// Time at which completed requests are replaced by new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refill {
    /// At once, so that the queue stays as full as possible.
    Exact,
    /// After up to a quarter of the queue depth has completed, with one system call for many
    /// requests. The mean number of outstanding requests is lower then; the result records it.
    Batched,
}

/// Requests of a run that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// All requests, from the first submission to the last completion (DIAT §1.1: bytes read /
    /// time).
    Whole,
    /// A slice of a steady run, without the ramps at its ends. Counting starts at the first
    /// completion after the warm-up. It covers whole rounds of `queue_depth` requests, because
    /// requests that started together also complete together. Requests in flight at the ends of the
    /// window count by the part that falls into it. Completions at the very start time of the
    /// window belong before it.
    Window {
        /// Completions that are not counted at the start.
        warm_up_requests: u64,
    },
}

impl Refill {
    /// Completions to wait for in one call.
    fn batch(self, queue_depth: u32) -> u32 {
        match self {
            Self::Exact => 1,
            Self::Batched => (queue_depth / 4).max(1),
        }
    }
}

impl ClosedLoop {
    /// Runs the load.
    ///
    /// # Errors
    /// The device can't serve such requests, stops answering or fails all of them; memory is short;
    /// or the user interrupted the run.
    pub fn run(&self, lane: &mut Lane, work: Work, cancel: &Cancel) -> Result<Measurement, LoadError> {
        let queue_depth = self.queue_depth.max(1);
        lane.check_idle(queue_depth)?;
        let mut operations = Operations::new(work, &lane.device, &lane.arena, queue_depth)?;
        lane.spread_reads(&mut [&mut operations])?;
        lane.wait_for_start()?;
        Run::new(*self, lane, operations, queue_depth).drive(cancel)
    }
}

/// State of a run.
struct Run<'lane> {
    options: ClosedLoop,
    lane: &'lane mut Lane,
    operations: Operations,
    outstanding: Outstanding,
    measurement: Measurement,
    began: Nanos,
    cpu_began: Nanos,
    /// Start of counting; `None` during the warm-up.
    counts_from: Option<Nanos>,
    /// Amount moved since then, if only a window of the run counts.
    window: Option<Window>,
    /// Completions since then.
    counted: u64,
    asked_bytes: u64,
    ending: bool,
    /// Reused buffer.
    reaped: Vec<Completion>,
    /// Time at which the previous completion had been replaced and the processor was free for the
    /// next.
    free_at: Nanos,
    /// Completions not processed yet.
    arrived: VecDeque<Completion>,
    /// Number of leading completions in `arrived` that are already recorded as no longer
    /// outstanding.
    noted: usize,
    /// [`Run::rounds`] before the first of them.
    rounds_before: u64,
}

impl<'lane> Run<'lane> {
    fn new(options: ClosedLoop, lane: &'lane mut Lane, operations: Operations, queue_depth: u32) -> Self {
        let (began, cpu_began) = (lane.io.now(), lane.io.cpu_time());
        Self {
            options,
            lane,
            operations,
            outstanding: Outstanding::new(began, queue_depth),
            measurement: Measurement::new(),
            began,
            cpu_began,
            counts_from: (options.counting == Counting::Whole).then_some(began),
            window: None,
            counted: 0,
            asked_bytes: 0,
            ending: false,
            reaped: Vec::new(),
            free_at: began,
            arrived: VecDeque::new(),
            noted: 0,
            rounds_before: 0,
        }
    }

    fn drive(mut self, cancel: &Cancel) -> Result<Measurement, LoadError> {
        let batch = self.options.refill.batch(self.options.queue_depth);
        loop {
            self.ending |= cancel.is_cancelled();
            self.refill();
            if self.outstanding.count() == 0 {
                break;
            }
            self.collect(Wait::until_completed(batch.min(self.outstanding.count()) as usize))?;
            while let Some(completion) = self.next_arrived() {
                self.complete(completion);
                if self.options.refill == Refill::Exact {
                    // Submit after each completion. Submitting in bursts would leave the device
                    // fewer requests in between, which costs a sixth of the bandwidth on a virtual
                    // disk.
                    self.ending |= cancel.is_cancelled();
                    self.refill();
                    self.collect(Wait::NONE)?;
                    self.free_at = self.lane.io.now();
                }
            }
        }
        if cancel.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        self.conclude()
    }

    /// Submits the queued requests, and collects completions.
    fn collect(&mut self, wait: Wait) -> Result<(), LoadError> {
        self.lane.io.reap(wait, &mut self.reaped);
        if self.reaped.is_empty() && wait != Wait::NONE {
            return self.outstanding.check(self.lane.io.now(), self.lane.patience);
        }
        self.arrived.extend(self.reaped.drain(..));
        Ok(())
    }

    /// Returns the next completion and records that it is no longer outstanding.
    fn next_arrived(&mut self) -> Option<Completion> {
        if self.noted == 0 {
            self.rounds_before = self.rounds();
            self.noted = self.completed_together();
            let at = self.arrived.front()?.completed_at;
            self.outstanding.completed(at, u32::try_from(self.noted).unwrap_or(u32::MAX));
        }
        self.noted -= 1;
        self.arrived.pop_front()
    }

    /// Number of leading completions that are counted together. With [`Refill::Batched`] these are
    /// all with the same time. With [`Refill::Exact`] each waits until the one before has been
    /// replaced. That wait is part of the latency, as in any program: a busy host can't have more
    /// outstanding than rate times latency (Little, 1961).
    fn completed_together(&mut self) -> usize {
        let free_at = self.free_at;
        let Some(first) = self.arrived.front_mut() else { return 0 };
        match self.options.refill {
            Refill::Exact => {
                first.completed_at = first.completed_at.max(free_at);
                1
            }
            Refill::Batched => {
                let at = first.completed_at;
                self.arrived.iter().take_while(|completion| completion.completed_at == at).count()
            }
        }
    }

    /// Submits requests until the queue is full or the run is to end.
    fn refill(&mut self) {
        while !self.ending && !self.outstanding.is_full() {
            let Some(operation) = self.operations.next() else { return };
            let (io, device) = (self.lane.io.as_mut(), self.lane.device.id);
            let due = self.outstanding.as_of();
            if let Err(operation) = self.outstanding.submit(io, device, due, operation) {
                self.operations.recycle(operation);
                return;
            }
            self.asked_bytes += self.operations.block_bytes();
            self.ending |= self.options.stop.bytes.is_some_and(|bytes| self.asked_bytes >= bytes);
        }
    }

    /// Number of whole rounds counted, each of `queue_depth` requests.
    fn rounds(&self) -> u64 {
        self.counted / u64::from(self.options.queue_depth.max(1))
    }

    /// Returns true if the time limit is over. In a window, time starts at the end of the warm-up.
    fn is_time_over(&self, now: Nanos) -> bool {
        let counted = self.counts_from.map_or(Nanos::ZERO, |from| now.since(from));
        self.options.stop.time.is_some_and(|time| counted >= time)
    }

    fn complete(&mut self, completion: Completion) {
        let now = completion.completed_at;
        self.outstanding.take(completion.token);
        self.measurement.cpu_requests += 1;
        let counts = self.counts(completion.completed_at);
        if completion.result.is_err() {
            self.measurement.count_failure(&completion);
        } else if self.operations.is_damaged(&completion.operation) {
            self.measurement.count_damage(&completion);
        } else if counts {
            let (from, at) = (completion.submitted_at, completion.completed_at);
            self.measurement.count(self.began, from, at, self.operations.block_bytes());
            if let Some(window) = &mut self.window {
                window.complete(from, at);
            }
        } else if let Some(window) = self.window.as_mut().filter(|_| self.ending) {
            window.outlast(completion.submitted_at);
        }
        self.operations.recycle(completion.operation);
        // Completions at the same time either all count or all don't.
        if self.noted == 0 {
            let ends_round = self.options.counting == Counting::Whole || self.rounds() > self.rounds_before;
            self.ending |= ends_round && self.is_time_over(now);
        }
    }

    /// Returns true if a completion at time `at` counts. Then the time until `at` counts as well,
    /// even if the request failed.
    fn counts(&mut self, at: Nanos) -> bool {
        let Some(from) = self.counts_from else {
            if self.warm_up_is_over() {
                self.counts_from = Some(at);
                self.window = Some(Window::new(at));
                self.outstanding.restart_area();
            }
            return false;
        };
        let counts = self.options.counting == Counting::Whole || (at > from && !self.ending);
        if counts {
            self.counted += 1;
            // Worker threads stamp their own completions, so these can arrive out of order.
            self.measurement.elapsed = self.outstanding.as_of().since(from);
            self.measurement.outstanding_ns = self.outstanding.area_ns();
        }
        counts
    }

    fn warm_up_is_over(&self) -> bool {
        match self.options.counting {
            Counting::Whole => true,
            Counting::Window { warm_up_requests } => self.measurement.cpu_requests > warm_up_requests,
        }
    }

    fn conclude(mut self) -> Result<Measurement, LoadError> {
        if let (Some(window), Some(from)) = (&self.window, self.counts_from) {
            self.measurement.moved_requests = window.moved(from + self.measurement.elapsed);
        }
        self.measurement.cpu = self.lane.io.cpu_time().since(self.cpu_began);
        self.measurement.unless_all_failed()
    }
}
