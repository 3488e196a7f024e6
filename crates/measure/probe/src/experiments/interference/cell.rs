use nandle_io::Nanos;
use nandle_profile::OperationKind;

use super::super::Lab;
use super::super::rounds::{Seeds, area_from};
use super::{STREAM_DEPTH, preconditioning};
use crate::load::{Arrivals, Latencies, LoadError, OpenLoop, OpenStream, StreamMeasurement, Work};
use crate::pattern::Random;

/// Most requests of a slice on a modelled device, regardless of time. It is enough for the fastest
/// drives to collect several superblocks in the slices of a cell.
pub(super) const MODELLED_REQUESTS_MAX: f64 = 150_000.0;

/// Arrival rates of reads and writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    pub(super) read_share: f64,
    pub(super) write_share: f64,
    pub(super) read_per_s: f64,
    pub(super) write_per_s: f64,
}

/// Combination of rates, with its results.
pub(super) struct Cell {
    pub(super) rates: Rates,
    pub(super) reads: Stream,
    pub(super) writes: Stream,
    /// Latencies of the reads in each slice.
    pub(super) slices: Vec<Latencies>,
}

/// One of the two streams.
pub(super) struct Stream {
    pub(super) latency_ns: Latencies,
    requests: u64,
    unsent: u64,
    /// Time during which requests arrived, and time until the last one completed.
    scheduled: Nanos,
    elapsed: Nanos,
}

impl Cell {
    pub(super) fn new(rates: Rates) -> Self {
        Self { rates, reads: Stream::new(), writes: Stream::new(), slices: Vec::new() }
    }

    pub(super) fn slice(
        &mut self,
        lab: &mut Lab<'_>,
        block_bytes: u64,
        seeds: &mut Seeds,
        time: Nanos,
    ) -> Result<(), LoadError> {
        let Rates { read_share, write_share, read_per_s, write_per_s } = self.rates;
        lab.report(&format!(
            "{:.0} % of the reads, {:.0} % of the writes",
            read_share * 100.0,
            write_share * 100.0
        ));
        preconditioning::rest(lab)?;
        let time = bounded(lab, read_per_s + write_per_s, time);
        let kinds = [(OperationKind::Read, read_per_s), (OperationKind::Write, write_per_s)];
        let mut streams = Vec::new();
        for (operation, rate_per_s) in kinds.into_iter().filter(|(_, rate_per_s)| *rate_per_s > 0.0) {
            let (area, seed) = (area_from(lab, 0, block_bytes)?, seeds.next());
            let (arrivals, queue_depth) = (Arrivals::Poisson, STREAM_DEPTH);
            let schedule = OpenLoop { rate_per_s, arrivals, queue_depth, time, seed };
            let pattern = Box::new(Random::new(area, seed));
            streams.push(OpenStream {
                schedule,
                work: Work { pattern, block_bytes, operation, contents: None, seed },
            });
        }
        let Some(measured) = lab.run_streams(streams)? else { return Ok(()) };
        for (stream, measured) in [&mut self.reads, &mut self.writes].into_iter().zip(&measured) {
            stream.add(measured, time);
        }
        self.slices.extend(measured.first().map(|reads| reads.measurement.latency_ns.clone()));
        Ok(())
    }

    /// Returns true if both streams kept their rates. A slice may take `allowance` to complete
    /// after the last arrival.
    pub(super) fn rates_kept(&self, allowance: Nanos) -> bool {
        let allowance = Nanos(allowance.0 * self.slices.len() as u64);
        self.reads.kept(allowance) && self.writes.kept(allowance)
    }
}

fn bounded(lab: &Lab<'_>, requests_per_s: f64, time: Nanos) -> Nanos {
    if !lab.circumstances.is_modelled {
        return time;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let most = Nanos((MODELLED_REQUESTS_MAX / requests_per_s.max(1e-6) * 1e9) as u64);
    time.min(most)
}

/// Relative deviation from which a rate counts as missed (diskplorer).
const RATE_TOLERANCE: f64 = 0.03;

impl Stream {
    fn new() -> Self {
        Self {
            latency_ns: Latencies::new(),
            requests: 0,
            unsent: 0,
            scheduled: Nanos::ZERO,
            elapsed: Nanos::ZERO,
        }
    }

    fn add(&mut self, measured: &StreamMeasurement, scheduled: Nanos) {
        self.latency_ns.add(&measured.measurement.latency_ns);
        self.requests += measured.measurement.requests;
        self.unsent += measured.lag.unsent;
        self.elapsed += measured.measurement.elapsed;
        self.scheduled += scheduled;
    }

    /// Completed requests per second.
    pub(super) fn achieved_per_s(&self) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { self.requests as f64 / self.elapsed.as_secs_f64() }
    }

    /// Returns true if the arrivals completed in about the time in which they arrived.
    fn kept(&self, allowance: Nanos) -> bool {
        let arrived = (self.requests + self.unsent) as f64;
        let all_done = self.requests as f64 >= (1.0 - RATE_TOLERANCE) * arrived;
        let elapsed = self.elapsed - self.elapsed.min(allowance);
        all_done && self.scheduled.as_secs_f64() >= (1.0 - RATE_TOLERANCE) * elapsed.as_secs_f64()
    }
}
