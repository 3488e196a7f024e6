use nandle_io::Nanos;
use nandle_profile::LatencySummary;
use rand_distr::{Distribution, Exp1};

use super::{Cancel, Lane, LoadError, Measurement, OpenStream, Work, run_streams};
use crate::pattern::{Generator, generator};

/// Load driver that submits requests on a schedule, as independent users do, even if the device
/// falls behind. Latency counts from the *scheduled* arrival, which avoids coordinated omission.
#[derive(Debug, Clone, Copy)]
pub struct OpenLoop {
    /// Requests per second.
    pub rate_per_s: f64,
    /// Distribution of arrivals.
    pub arrivals: Arrivals,
    /// Largest number of outstanding requests. Further arrivals wait, and the wait counts.
    pub queue_depth: u32,
    /// Time during which requests arrive. The run then waits for the outstanding ones.
    pub time: Nanos,
    /// Seed of the schedule.
    pub seed: u64,
}

/// Distribution of arrivals over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Independent arrivals, with exponentially distributed distances.
    Poisson,
    /// Arrivals at equal distances.
    Fixed,
}

/// Deviation of submissions from the schedule.
#[derive(Debug, Clone)]
pub struct ScheduleLag {
    /// Submission minus scheduled arrival, in nanoseconds.
    pub lag_ns: LatencySummary,
    /// Arrivals that were due but not sent before the end of the run. For Poisson arrivals, the
    /// number expected from the first of them to the end.
    pub unsent: u64,
}

impl OpenLoop {
    /// Runs the load.
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

/// Series of scheduled arrivals.
pub(super) struct Schedule {
    mean_distance_ns: f64,
    arrivals: Arrivals,
    generator: Generator,
    began: Nanos,
    /// Next arrival since `began`; a float, so that rounding errors don't accumulate.
    next_ns: f64,
}

impl Schedule {
    /// Starts at the first arrival.
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

    /// Number of arrivals left before `ends`, computed from the rate. Far above the device's rate
    /// there are too many to draw each.
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
