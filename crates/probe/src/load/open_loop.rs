use hdrhistogram::Histogram;
use nandle_io::{Completion, Nanos, Wait};
use nandle_profile::LatencySummary;
use rand_distr::{Distribution, Exp1};

use super::operations::Operations;
use super::outstanding::{Outstanding, together};
use super::record::new_histogram;
use super::{Cancel, Lane, LoadError, Measurement, Work, summary};
use crate::pattern::{Generator, generator};

/// Sends requests on a schedule, whether or not the device keeps up, as independent users do. Latency counts from
/// the *scheduled* arrival, so a device that falls behind can't hide it (no coordinated omission).
#[derive(Debug, Clone, Copy)]
pub struct OpenLoop {
    /// Requests per second.
    pub rate_per_s: f64,
    /// How arrivals are spread.
    pub arrivals: Arrivals,
    /// Requests that can be outstanding; beyond it arrivals wait here, and the wait counts.
    pub queue_depth: u32,
    /// For how long requests arrive. Those outstanding then are still waited for.
    pub time: Nanos,
    /// Seed of the schedule.
    pub seed: u64,
}

/// How arrivals are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Independent of one another: exponential distances.
    Poisson,
    /// At equal distances.
    Fixed,
}

/// How well the schedule was kept.
#[derive(Debug, Clone)]
pub struct ScheduleLag {
    /// Submission less scheduled arrival, in nanoseconds.
    pub lag_ns: LatencySummary,
    /// Arrivals that were due and never sent, because the run had ended; for Poisson arrivals the number expected
    /// in the time from the first of them to the end.
    pub unsent: u64,
}

impl OpenLoop {
    /// Runs it.
    ///
    /// # Errors
    /// As for [`ClosedLoop::run`](super::ClosedLoop::run).
    pub fn run(
        &self,
        lane: &mut Lane,
        work: Work,
        cancel: &Cancel,
    ) -> Result<(Measurement, ScheduleLag), LoadError> {
        let queue_depth = self.queue_depth.max(1);
        lane.check_idle(queue_depth)?;
        let operations = Operations::new(work, &lane.device, &lane.arena, queue_depth)?;
        lane.wait_for_start()?;
        Run::new(*self, lane, operations, queue_depth).drive(cancel)
    }
}

/// Scheduled arrivals, one after the other.
struct Schedule {
    mean_distance_ns: f64,
    arrivals: Arrivals,
    generator: Generator,
    began: Nanos,
    /// Since `began`; a float, so that rounding doesn't add up.
    next_ns: f64,
}

impl Schedule {
    fn new(options: &OpenLoop, began: Nanos) -> Self {
        let mean_distance_ns = 1e9 / options.rate_per_s.max(1e-6);
        let generator = generator(options.seed, 29);
        Self { mean_distance_ns, arrivals: options.arrivals, generator, began, next_ns: 0.0 }
    }

    fn due(&self) -> Nanos {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative; saturates"
        )]
        let since = Nanos(self.next_ns as u64);
        self.began + since
    }

    /// Arrivals that are still to come before `ends`. Counted by the rate: far beyond what the device can do, there
    /// are too many to draw each.
    fn left_before(&self, ends: Nanos) -> u64 {
        let left_ns = ends.since(self.due()).0 as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative; saturates"
        )]
        let left = (left_ns / self.mean_distance_ns).ceil() as u64;
        left
    }

    fn advance(&mut self) {
        self.next_ns += match self.arrivals {
            Arrivals::Fixed => self.mean_distance_ns,
            Arrivals::Poisson => {
                let distance: f64 = Exp1.sample(&mut self.generator);
                distance * self.mean_distance_ns
            }
        };
    }
}

struct Run<'lane> {
    lane: &'lane mut Lane,
    operations: Operations,
    outstanding: Outstanding,
    schedule: Schedule,
    measurement: Measurement,
    lag_ns: Histogram<u64>,
    began: Nanos,
    ends: Nanos,
    cpu_began: Nanos,
}

impl<'lane> Run<'lane> {
    fn new(options: OpenLoop, lane: &'lane mut Lane, operations: Operations, queue_depth: u32) -> Self {
        let (began, cpu_began) = (lane.io.now(), lane.io.cpu_time());
        let mut schedule = Schedule::new(&options, began);
        schedule.advance();
        Self {
            lane,
            operations,
            outstanding: Outstanding::new(began, queue_depth),
            schedule,
            measurement: Measurement::new(),
            lag_ns: new_histogram(),
            began,
            ends: began + options.time,
            cpu_began,
        }
    }

    fn drive(mut self, cancel: &Cancel) -> Result<(Measurement, ScheduleLag), LoadError> {
        let mut completions = Vec::new();
        loop {
            let now = self.lane.io.now();
            let over = now >= self.ends || cancel.is_cancelled();
            if !over {
                self.send_due(now);
            }
            if over && self.outstanding.count() == 0 {
                break;
            }
            let wait = self.next_wait(now, over);
            self.lane.io.reap(wait, &mut completions);
            self.settle_all(&mut completions)?;
        }
        if cancel.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        self.conclude()
    }

    /// Submits every arrival that is due.
    fn send_due(&mut self, now: Nanos) {
        self.outstanding.pass(now);
        while self.schedule.due() <= now && !self.outstanding.is_full() {
            let due = self.schedule.due();
            let Some(operation) = self.operations.next() else { return };
            let (io, device) = (self.lane.io.as_mut(), self.lane.device.id);
            if let Err(operation) = self.outstanding.submit(io, device, due, operation) {
                self.operations.recycle(operation);
                return;
            }
            self.lag_ns.saturating_record(now.since(due).0);
            self.schedule.advance();
        }
    }

    /// Sleeps until shortly before the next arrival, and polls from there on: a timer would be late.
    fn next_wait(&self, now: Nanos, over: bool) -> Wait {
        if over || self.outstanding.is_full() {
            return Wait::until_completed(1);
        }
        let next = self.schedule.due().min(self.ends);
        let slack = self.lane.io.timer_slack();
        if slack == Nanos::ZERO || next.since(now) > slack {
            Wait::until_time(next - slack)
        } else {
            Wait::NONE
        }
    }

    fn settle_all(&mut self, completions: &mut Vec<Completion>) -> Result<(), LoadError> {
        if completions.is_empty() {
            return self.outstanding.check(self.lane.io.now(), self.lane.patience);
        }
        while let Some(first) = completions.first() {
            let (at, count) = (first.completed_at, together(completions));
            self.outstanding.completed(at, u32::try_from(count).unwrap_or(u32::MAX));
            for completion in completions.drain(..count) {
                self.settle(completion);
            }
        }
        Ok(())
    }

    fn settle(&mut self, completion: Completion) {
        let due = self
            .outstanding
            .take(completion.token)
            .map_or(completion.submitted_at, |described| described.due);
        self.measurement.cpu_requests += 1;
        if completion.result.is_err() {
            self.measurement.count_failure(&completion);
        } else if self.operations.is_damaged(&completion.operation) {
            self.measurement.count_damage(&completion);
        } else {
            let bytes = self.operations.block_bytes();
            self.measurement.count(self.began, due, completion.completed_at, bytes);
        }
        self.operations.recycle(completion.operation);
    }

    fn conclude(mut self) -> Result<(Measurement, ScheduleLag), LoadError> {
        let unsent = self.schedule.left_before(self.ends);
        let now = self.lane.io.now();
        self.measurement.elapsed = now.since(self.began);
        self.measurement.cpu = self.lane.io.cpu_time().since(self.cpu_began);
        self.measurement.outstanding_ns = self.outstanding.area_ns();
        let lag = ScheduleLag { lag_ns: summary(&self.lag_ns), unsent };
        Ok((self.measurement.unless_all_failed()?, lag))
    }
}
