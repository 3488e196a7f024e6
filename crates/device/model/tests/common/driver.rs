//! Closed loop in virtual time: keeps a fixed number of requests in flight on a drive.

use nandle_model::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

use super::patterns::{Offsets, Pattern};

/// Workload of a closed loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) operation: TimedOperation,
    pub(crate) pattern: Pattern,
    pub(crate) block_bytes: u64,
    /// Used part of the drive, from its start.
    pub(crate) area_bytes: u64,
    pub(crate) depth: usize,
    pub(crate) requests: u64,
    /// Requests at the start that the result excludes.
    pub(crate) warm_up: u64,
    /// Host processor time per request; one processor submits.
    pub(crate) host_ns: u64,
    pub(crate) seed: u64,
}

impl Load {
    /// Reads at depth 1 without host cost.
    pub(crate) fn read(pattern: Pattern, block_bytes: u64, area_bytes: u64) -> Self {
        Self {
            operation: TimedOperation::Read,
            pattern,
            block_bytes,
            area_bytes,
            depth: 1,
            requests: 1_000,
            warm_up: 0,
            host_ns: 0,
            seed: 1,
        }
    }

    /// Writes at depth 1 without host cost.
    pub(crate) fn write(pattern: Pattern, block_bytes: u64, area_bytes: u64) -> Self {
        Self {
            operation: TimedOperation::Write { durable: false },
            ..Self::read(pattern, block_bytes, area_bytes)
        }
    }
}

/// Result of a run.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) bytes_per_s: f64,
    pub(crate) requests_per_s: f64,
    pub(crate) mean_latency_ns: f64,
    pub(crate) max_latency_ns: u64,
    /// Completion of the last request.
    pub(crate) end_ns: u64,
}

impl Outcome {
    pub(crate) fn megabytes_per_s(&self) -> f64 {
        self.bytes_per_s / 1e6
    }

    pub(crate) fn mean_latency_ms(&self) -> f64 {
        self.mean_latency_ns / 1e6
    }

    pub(crate) fn max_latency_ms(&self) -> f64 {
        self.max_latency_ns as f64 / 1e6
    }
}

struct Loop<'a, T> {
    drive: &'a mut T,
    load: Load,
    offsets: Offsets,
    host_free_ns: u64,
    submitted: u64,
    submitted_ns: Vec<u64>,
    completed: u64,
    warm_ns: u64,
    latency_sum_ns: u64,
    latency_max_ns: u64,
}

/// Runs a load from `start_ns` on.
pub(crate) fn run<T: Timing>(drive: &mut T, load: Load, start_ns: u64) -> Outcome {
    let offsets = Offsets::new(load.pattern, load.block_bytes, load.area_bytes, load.seed);
    let mut state = Loop {
        drive,
        load,
        offsets,
        host_free_ns: start_ns,
        submitted: 0,
        submitted_ns: vec![0; usize::try_from(load.requests).unwrap()],
        completed: 0,
        warm_ns: start_ns,
        latency_sum_ns: 0,
        latency_max_ns: 0,
    };
    let end_ns = state.run();
    state.outcome(end_ns)
}

impl<T: Timing> Loop<'_, T> {
    fn run(&mut self) -> u64 {
        let mut completions: Vec<TimedCompletion> = Vec::new();
        let mut allowed = self.load.depth as u64;
        let mut now_ns = self.host_free_ns;
        while self.completed < self.load.requests {
            let arrival_ns = (self.submitted < allowed.min(self.load.requests))
                .then(|| now_ns.max(self.host_free_ns) + self.load.host_ns);
            match (arrival_ns, self.drive.next_event_ns()) {
                (Some(arrival_ns), event) if event.is_none_or(|event_ns| event_ns > arrival_ns) => {
                    self.submit(arrival_ns);
                }
                (_, Some(event_ns)) => {
                    self.drive.advance(event_ns, &mut completions);
                    now_ns = event_ns;
                    allowed += completions.len() as u64;
                    completions.drain(..).for_each(|completion| self.complete(completion));
                }
                (_, None) => panic!("the drive forgot a request"),
            }
        }
        now_ns
    }

    fn submit(&mut self, arrival_ns: u64) {
        let id = self.submitted;
        let offset_bytes = self.offsets.next().unwrap();
        let length_bytes = self.load.block_bytes;
        self.submitted_ns[usize::try_from(id).unwrap()] = arrival_ns - self.load.host_ns;
        self.host_free_ns = arrival_ns;
        self.submitted += 1;
        let request = TimedRequest { id, operation: self.load.operation, offset_bytes, length_bytes };
        self.drive.arrive(arrival_ns, request);
    }

    fn complete(&mut self, completion: TimedCompletion) {
        self.completed += 1;
        if self.completed <= self.load.warm_up {
            self.warm_ns = completion.completed_ns;
            return;
        }
        let latency_ns = completion.completed_ns - self.submitted_ns[usize::try_from(completion.id).unwrap()];
        self.latency_sum_ns += latency_ns;
        self.latency_max_ns = self.latency_max_ns.max(latency_ns);
    }

    fn outcome(&self, end_ns: u64) -> Outcome {
        let measured = (self.load.requests - self.load.warm_up) as f64;
        let seconds = (end_ns - self.warm_ns) as f64 / 1e9;
        Outcome {
            bytes_per_s: measured * self.load.block_bytes as f64 / seconds,
            requests_per_s: measured / seconds,
            mean_latency_ns: self.latency_sum_ns as f64 / measured,
            max_latency_ns: self.latency_max_ns,
            end_ns,
        }
    }
}
