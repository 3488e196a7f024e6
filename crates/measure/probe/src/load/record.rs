use nandle_io::{Completion, Nanos};
use nandle_profile::SecondSample;

use super::{Latencies, LoadError};

/// Result of a run. [`merge`](Measurement::merge) adds parallel threads;
/// [`extend`](Measurement::extend) adds consecutive slices.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Completed requests that were counted.
    pub requests: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Requests moved in `elapsed`. Requests in flight at its ends count in part.
    pub moved_requests: f64,
    /// Time over which requests were counted.
    pub elapsed: Nanos,
    /// Latency of each request, in nanoseconds.
    pub latency_ns: Latencies,
    /// Result of each second of the run.
    pub seconds: Vec<SecondSample>,
    /// Time-weighted sum of the requests outstanding (request × nanosecond).
    pub outstanding_ns: f64,
    /// Processor time of the process during the run.
    pub cpu: Nanos,
    /// Requests that `cpu` covers: all that completed, counted or not.
    pub cpu_requests: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Reads that succeeded with wrong contents.
    pub damaged: u64,
    /// Message of the first failure.
    pub first_error: Option<String>,
}

impl Measurement {
    /// Creates an empty result.
    pub fn new() -> Self {
        Self {
            requests: 0,
            bytes: 0,
            moved_requests: 0.0,
            elapsed: Nanos::ZERO,
            latency_ns: Latencies::new(),
            seconds: Vec::new(),
            outstanding_ns: 0.0,
            cpu: Nanos::ZERO,
            cpu_requests: 0,
            failed: 0,
            damaged: 0,
            first_error: None,
        }
    }

    /// Adds a later slice: times add up.
    pub fn extend(&mut self, later: &Self) {
        self.elapsed += later.elapsed;
        self.cpu += later.cpu;
        self.seconds.extend(&later.seconds);
        self.add_counts(later);
    }

    /// Adds a parallel thread: rates add up. `cpu` covers the whole process, so the larger value is
    /// kept.
    pub fn merge(&mut self, beside: &Self) {
        self.elapsed = self.elapsed.max(beside.elapsed);
        self.cpu = self.cpu.max(beside.cpu);
        if self.seconds.len() < beside.seconds.len() {
            self.seconds.resize(beside.seconds.len(), EMPTY_SECOND);
        }
        for (here, there) in self.seconds.iter_mut().zip(&beside.seconds) {
            here.requests += there.requests;
            here.bytes += there.bytes;
            here.latency_ns_max = here.latency_ns_max.max(there.latency_ns_max);
        }
        self.add_counts(beside);
    }

    fn add_counts(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.moved_requests += other.moved_requests;
        self.latency_ns.add(&other.latency_ns);
        self.outstanding_ns += other.outstanding_ns;
        self.cpu_requests += other.cpu_requests;
        self.failed += other.failed;
        self.damaged += other.damaged;
        if self.first_error.is_none() {
            self.first_error.clone_from(&other.first_error);
        }
    }

    /// Bytes moved per second; 0 if no time passed.
    pub fn bandwidth_bytes_per_s(&self) -> f64 {
        rate(self.moved_bytes(), self.elapsed)
    }

    /// Requests moved per second; 0 if no time passed.
    pub fn iops(&self) -> f64 {
        rate(self.moved_requests, self.elapsed)
    }

    /// Bytes moved in `elapsed`. Requests in flight at its ends count in part.
    pub fn moved_bytes(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.bytes as f64 / self.requests as f64 * self.moved_requests }
    }

    /// Time-weighted mean of the requests outstanding.
    pub fn mean_outstanding(&self) -> f64 {
        if self.elapsed == Nanos::ZERO { 0.0 } else { self.outstanding_ns / self.elapsed.0 as f64 }
    }

    /// Processor time per request.
    pub fn cpu_ns_per_request(&self) -> f64 {
        if self.cpu_requests == 0 { 0.0 } else { self.cpu.0 as f64 / self.cpu_requests as f64 }
    }

    /// Counts a success.
    pub(super) fn count(&mut self, began: Nanos, from: Nanos, completed_at: Nanos, bytes: u64) {
        let latency_ns = completed_at.since(from).0;
        self.requests += 1;
        self.moved_requests += 1.0;
        self.bytes += bytes;
        self.latency_ns.record(latency_ns);
        let second = usize::try_from(completed_at.since(began).0 / 1_000_000_000).unwrap_or(usize::MAX);
        if second >= self.seconds.len() {
            self.seconds.resize(second.saturating_add(1), EMPTY_SECOND);
        }
        if let Some(sample) = self.seconds.get_mut(second) {
            sample.requests += 1;
            sample.bytes += bytes;
            sample.latency_ns_max = sample.latency_ns_max.max(latency_ns);
        }
    }

    /// Returns the result, or an error if all requests failed. Any success counts, even one outside
    /// the window.
    pub(super) fn unless_all_failed(self) -> Result<Self, LoadError> {
        let failures = self.failed + self.damaged;
        match self.first_error {
            Some(first) if failures == self.cpu_requests => {
                Err(LoadError::AllFailed { requests: failures, first })
            }
            _ => Ok(self),
        }
    }

    /// Counts a failure.
    pub(super) fn count_failure(&mut self, completion: &Completion) {
        self.failed += 1;
        if self.first_error.is_none() {
            self.first_error = completion.result.as_ref().err().map(ToString::to_string);
        }
    }

    /// Counts a read with the wrong contents.
    pub(super) fn count_damage(&mut self, completion: &Completion) {
        self.damaged += 1;
        self.first_error.get_or_insert_with(|| {
            let (offset, length) = (completion.operation.offset_bytes(), completion.operation.length_bytes());
            format!("read of {length} bytes at offset {offset}: the contents are not what was written there")
        });
    }
}

impl Default for Measurement {
    fn default() -> Self {
        Self::new()
    }
}

const EMPTY_SECOND: SecondSample = SecondSample { requests: 0, bytes: 0, latency_ns_max: 0 };

fn rate(amount: f64, time: Nanos) -> f64 {
    if time == Nanos::ZERO { 0.0 } else { amount / time.as_secs_f64() }
}
