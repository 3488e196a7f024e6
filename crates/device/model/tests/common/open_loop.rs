//! Open loop in virtual time: requests arrive at a mean rate, independent of the drive (Poisson
//! arrivals).

use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

use super::driver::Load;
use super::patterns::Offsets;

/// Arrival process of the requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrivals {
    /// Mean rate.
    pub(crate) requests_per_s: f64,
    /// Fraction of reads; the other requests have the load's operation.
    pub(crate) read_part: f64,
    /// Seed of the intervals and of the choice of reads.
    pub(crate) seed: u64,
}

/// Latencies of all requests, sorted.
#[derive(Debug, Default)]
pub(crate) struct Latencies(Vec<u64>);

impl Latencies {
    /// Quantile of the latencies, in microseconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the latencies")]
    pub(crate) fn quantile_us(&self, part: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * part) as usize] as f64 / 1e3
    }

    pub(crate) fn mean_us(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64 / self.0.len() as f64 / 1e3
    }
}

/// Latencies by direction.
#[derive(Debug, Default)]
pub(crate) struct OpenOutcome {
    pub(crate) reads: Latencies,
    pub(crate) others: Latencies,
}

/// Arrival of a request.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    at_ns: u64,
    is_read: bool,
}

impl Arrivals {
    fn from(self, start_ns: u64) -> impl Iterator<Item = Arrival> {
        let (mut state, mut now_ns) = (self.seed, start_ns as f64);
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
        };
        std::iter::from_fn(move || {
            now_ns -= uniform().ln() / self.requests_per_s * 1e9;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            Some(Arrival { at_ns: now_ns as u64, is_read: uniform() <= self.read_part })
        })
    }
}

/// Runs `load.requests` requests from `start_ns` on; ignores the load's depth and warm-up.
pub(crate) fn run_open<T: Timing>(
    drive: &mut T,
    load: Load,
    arrivals: Arrivals,
    start_ns: u64,
) -> OpenOutcome {
    let mut offsets = Offsets::new(load.pattern, load.block_bytes, load.area_bytes, load.seed);
    let requests = usize::try_from(load.requests).unwrap();
    let arrived: Vec<Arrival> = arrivals.from(start_ns).take(requests).collect();
    let (mut sent, mut completed, mut outcome) = (0, Vec::new(), OpenOutcome::default());
    while sent < requests || drive.next_event_ns().is_some() {
        match (arrived.get(sent), drive.next_event_ns()) {
            (Some(arrival), event) if event.is_none_or(|event_ns| event_ns > arrival.at_ns) => {
                let operation = if arrival.is_read { TimedOperation::Read } else { load.operation };
                let (offset_bytes, length_bytes) = (offsets.next().unwrap(), load.block_bytes);
                let request = TimedRequest { id: sent as u64, operation, offset_bytes, length_bytes };
                drive.arrive(arrival.at_ns, request);
                sent += 1;
            }
            (_, Some(event_ns)) => drive.advance(event_ns, &mut completed),
            (_, None) => unreachable!("requests that are due arrive"),
        }
        for done in completed.drain(..) {
            let arrival = arrived[usize::try_from(done.id).unwrap()];
            let latencies = if arrival.is_read { &mut outcome.reads } else { &mut outcome.others };
            latencies.0.push(done.completed_ns - arrival.at_ns);
        }
    }
    outcome.reads.0.sort_unstable();
    outcome.others.0.sort_unstable();
    outcome
}
