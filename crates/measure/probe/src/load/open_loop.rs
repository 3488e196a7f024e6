use nandle_io::Nanos;
use nandle_profile::LatencySummary;
use rand_distr::{Distribution, Exp1};

use super::{Cancel, Lane, LoadError, Measurement, OpenStream, Work, run_streams};
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
        let mut measured = run_streams(lane, vec![OpenStream { schedule: *self, work }], cancel)?;
        let stream = measured.pop().ok_or(LoadError::Endless)?;
        Ok((stream.measurement, stream.lag))
    }
}

/// Scheduled arrivals, one after the other.
pub(super) struct Schedule {
    mean_distance_ns: f64,
    arrivals: Arrivals,
    generator: Generator,
    began: Nanos,
    /// Since `began`; a float, so that rounding doesn't add up.
    next_ns: f64,
}

impl Schedule {
    /// From the first arrival on.
    pub(super) fn new(options: &OpenLoop, began: Nanos) -> Self {
        let mean_distance_ns = 1e9 / options.rate_per_s.max(1e-6);
        let generator = generator(options.seed, 29);
        let mut schedule =
            Self { mean_distance_ns, arrivals: options.arrivals, generator, began, next_ns: 0.0 };
        schedule.advance();
        schedule
    }

    pub(super) fn due(&self) -> Nanos {
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
    pub(super) fn left_before(&self, ends: Nanos) -> u64 {
        let left_ns = ends.since(self.due()).0 as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative; saturates"
        )]
        let left = (left_ns / self.mean_distance_ns).ceil() as u64;
        left
    }

    pub(super) fn advance(&mut self) {
        self.next_ns += match self.arrivals {
            Arrivals::Fixed => self.mean_distance_ns,
            Arrivals::Poisson => {
                let distance: f64 = Exp1.sample(&mut self.generator);
                distance * self.mean_distance_ns
            }
        };
    }
}
