//! Closed loop on a modelled device, and reproducible random numbers.

use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

/// Result of a run.
pub(crate) struct Run {
    /// Time from the first arrival to the last completion.
    pub(crate) elapsed_ns: u64,
    /// Response time of each request, in order of completion.
    pub(crate) responses_ns: Vec<u64>,
}

impl Run {
    pub(crate) fn mean_ms(&self) -> f64 {
        self.responses_ns.iter().sum::<u64>() as f64 / self.responses_ns.len() as f64 / 1e6
    }

    pub(crate) fn requests_per_s(&self) -> f64 {
        self.responses_ns.len() as f64 * 1e9 / self.elapsed_ns as f64
    }

    pub(crate) fn megabytes_per_s(&self, request_bytes: u64) -> f64 {
        self.requests_per_s() * request_bytes as f64 / 1e6
    }
}

/// Issues all requests from `now_ns` on, `depth` at a time; each completion issues the next.
pub(crate) fn run_at_depth(
    device: &mut impl Timing,
    now_ns: u64,
    depth: usize,
    requests: impl IntoIterator<Item = (TimedOperation, u64, u64)>,
) -> Run {
    let mut requests = requests.into_iter().zip(0..);
    let mut arrived_ns = Vec::new();
    let mut issue = |device: &mut dyn Timing, arrived_ns: &mut Vec<u64>, at_ns: u64| {
        if let Some(((operation, offset_bytes, length_bytes), id)) = requests.next() {
            arrived_ns.push(at_ns);
            device.arrive(at_ns, TimedRequest { id, operation, offset_bytes, length_bytes });
        }
    };
    for _ in 0..depth {
        issue(device, &mut arrived_ns, now_ns);
    }
    let mut completed = Vec::new();
    let mut run = Run { elapsed_ns: 0, responses_ns: Vec::new() };
    while run.responses_ns.len() < arrived_ns.len() {
        let next_ns = device.next_event_ns().expect("a device with requests in flight has something to do");
        device.advance(next_ns, &mut completed);
        for done in completed.drain(..) {
            run.responses_ns.push(done.completed_ns - arrived_ns[usize::try_from(done.id).unwrap()]);
            run.elapsed_ns = done.completed_ns - now_ns;
            issue(device, &mut arrived_ns, done.completed_ns);
        }
    }
    run
}

/// Offsets of `count` random blocks below `range_bytes` (a 64-bit linear congruential generator,
/// Knuth's constants).
pub(crate) fn random_offsets(count: usize, range_bytes: u64, block_bytes: u64) -> Vec<u64> {
    let mut state = 20_240_229_u64;
    let blocks = range_bytes / block_bytes;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let scaled = (u128::from(state) * u128::from(blocks)) >> 64;
        u64::try_from(scaled).unwrap() * block_bytes
    };
    std::iter::repeat_with(next).take(count).collect()
}
