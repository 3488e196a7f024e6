use nandle_io::{IoError, Nanos};
use nandle_profile::LatencySummary;
use nandle_trace::{Operation, Record};

use super::file::{OperationFigures, PlayDistribution, QuantilePoint, RecordedComparison, ScheduleFigures};
use super::pairs::LatencyPairs;
use crate::times::Times;

const DIGITS: u8 = 3;
/// Delay from which a request counts as late, in nanoseconds: twice the tolerance of a timer.
const LATE_NS: u64 = 200_000;
/// Minimum observations beyond a quantile for it to be reported.
const BEYOND: f64 = 10.0;

/// Measurements of a play.
#[derive(Debug, Clone)]
pub struct PlaySummary {
    /// Time from the first request's due time to the last completion.
    pub elapsed: Nanos,
    /// Message of the first failure.
    pub first_error: Option<String>,
    /// Requests that were split, because they are too long or cross the end of a folded device.
    pub cut: u64,
    /// Requests that were extended to whole logical blocks.
    pub widened: u64,
    /// Requests that were folded back in part.
    pub folded: u64,
    /// Discards that were skipped: shorter than a block, or unsupported by the device.
    pub passed_over: u64,
    /// Delays from due time to sending, of requests that weren't held.
    lag: Times,
    late: u64,
    /// Delays of requests that were held while the queue was full.
    held: Times,
    kinds: [OperationTimes; Operation::ALL.len()],
}

/// Measurements of one kind of request.
#[derive(Debug, Clone)]
struct OperationTimes {
    failed: u64,
    bytes: u64,
    response: Times,
    service: Times,
    pairs: Option<Box<LatencyPairs>>,
}

/// A completed request.
pub(super) struct CompletionTimes<'a> {
    pub(super) record: &'a Record,
    pub(super) due: Nanos,
    pub(super) sent: Nanos,
    pub(super) completed: Nanos,
    pub(super) failure: Option<&'a IoError>,
}

impl PlaySummary {
    pub(super) fn new() -> Self {
        Self {
            elapsed: Nanos::ZERO,
            first_error: None,
            cut: 0,
            widened: 0,
            folded: 0,
            passed_over: 0,
            lag: Times::to_digits(DIGITS),
            late: 0,
            held: Times::to_digits(DIGITS),
            kinds: std::array::from_fn(|_| OperationTimes::new()),
        }
    }

    /// Records the delay of a request, caused by a full queue or by the host.
    pub(super) fn sent(&mut self, lag: Nanos, was_held: bool) {
        if was_held {
            self.held.add(lag.0);
        } else {
            self.lag.add(lag.0);
            self.late += u64::from(lag.0 > LATE_NS);
        }
    }

    pub(super) fn add(&mut self, done: &CompletionTimes) {
        let Some(kind) = kind_of(&mut self.kinds, done.record.operation) else { return };
        if let Some(failure) = done.failure {
            kind.failed += 1;
            self.first_error.get_or_insert_with(|| failure.to_string());
            return;
        }
        let response_ns = done.completed.since(done.due).0;
        if done.record.operation.moves_data() {
            kind.bytes = kind.bytes.saturating_add(done.record.length_bytes);
        }
        kind.response.add(response_ns);
        kind.service.add(done.completed.since(done.sent).0);
        if let Some(recorded_ns) = done.record.latency_ns {
            kind.pairs.get_or_insert_default().add(recorded_ns, response_ns);
        }
    }

    /// Requests that succeeded.
    pub fn requests(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.response.count()).sum()
    }

    /// Requests that failed.
    pub fn failed(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.failed).sum()
    }

    /// Figures of all requests together, then of each kind that occurred.
    pub fn operations(&self) -> Vec<OperationFigures> {
        let all = self.all();
        let kinds = Operation::ALL.into_iter().zip(&self.kinds).filter(|(_, kind)| kind.is_there());
        let kinds: Vec<_> = kinds.map(|(operation, kind)| kind.played(Some(operation))).collect();
        std::iter::once(all.played(None)).filter(|_| !kinds.is_empty()).chain(kinds.iter().cloned()).collect()
    }

    /// Comparison with recorded times, for all requests together, then each kind; empty if the
    /// trace has none.
    pub fn comparison(&self) -> Vec<RecordedComparison> {
        let mut all = LatencyPairs::default();
        let pairs = Operation::ALL.into_iter().zip(&self.kinds);
        let pairs: Vec<_> =
            pairs.filter_map(|(operation, kind)| Some((operation, kind.pairs.as_deref()?))).collect();
        for (_, pairs) in &pairs {
            all.extend(pairs);
        }
        let each = pairs.iter().filter_map(|(operation, pairs)| compared(Some(*operation), pairs));
        compared(None, &all).into_iter().chain(each).collect()
    }

    /// Quantiles for all requests together, then for each kind.
    pub fn distributions(&self) -> Vec<PlayDistribution> {
        let all = self.all();
        let kinds =
            Operation::ALL.into_iter().zip(&self.kinds).map(|(operation, kind)| (Some(operation), kind));
        let there = std::iter::once((None, &all)).chain(kinds).filter(|(_, kind)| kind.response.count() > 0);
        there.map(|(operation, kind)| kind.distribution(operation)).collect()
    }

    fn all(&self) -> OperationTimes {
        let mut all = OperationTimes::new();
        for kind in &self.kinds {
            all.extend(kind);
        }
        all
    }

    /// Adherence to the schedule.
    pub fn schedule(&self) -> ScheduleFigures {
        ScheduleFigures {
            late_requests: self.late,
            late_after_ns: LATE_NS,
            lag_ns: self.lag.summary(),
            held_requests: self.held.count(),
            held_ns: self.held.summary(),
        }
    }
}

fn kind_of(
    kinds: &mut [OperationTimes; Operation::ALL.len()],
    operation: Operation,
) -> Option<&mut OperationTimes> {
    let index = Operation::ALL.iter().position(|one| *one == operation)?;
    kinds.get_mut(index)
}

fn compared(operation: Option<Operation>, pairs: &LatencyPairs) -> Option<RecordedComparison> {
    let (recorded, played) = (pairs.recorded.mean_ns()?, pairs.played.mean_ns()?);
    let demerit_ns = pairs.demerit_ns()?;
    Some(RecordedComparison {
        operation,
        requests: pairs.recorded.count(),
        recorded_ns: pairs.recorded.summary(),
        played_ns: pairs.played.summary(),
        mean_ratio: (recorded > 0.0).then(|| played / recorded),
        demerit_ns,
        demerit_ratio: (recorded > 0.0).then(|| demerit_ns / recorded),
    })
}

impl OperationTimes {
    fn new() -> Self {
        let times = || Times::to_digits(DIGITS);
        Self { failed: 0, bytes: 0, response: times(), service: times(), pairs: None }
    }

    fn is_there(&self) -> bool {
        self.failed > 0 || self.response.count() > 0
    }

    fn extend(&mut self, other: &Self) {
        self.failed += other.failed;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.response.extend(&other.response);
        self.service.extend(&other.service);
        if let Some(pairs) = &other.pairs {
            self.pairs.get_or_insert_default().extend(pairs);
        }
    }

    fn played(&self, operation: Option<Operation>) -> OperationFigures {
        let summary = |times: &Times| -> LatencySummary { times.summary() };
        OperationFigures {
            operation,
            requests: self.response.count(),
            failed_requests: self.failed,
            bytes: self.bytes,
            response_ns: summary(&self.response),
            service_ns: summary(&self.service),
        }
    }

    fn distribution(&self, operation: Option<Operation>) -> PlayDistribution {
        // Recorded times are comparable only if every request has one.
        let complete = self.pairs.as_ref().filter(|pairs| pairs.recorded.count() == self.response.count());
        let count = self.response.count() as f64;
        let shares = (1..100).map(|percent| f64::from(percent) / 100.0).chain([0.995, 0.999, 0.9995, 0.9999]);
        let told = shares.filter(|share| count * (1.0 - share) >= BEYOND && count * share >= BEYOND);
        let point = |share| QuantilePoint {
            share,
            response_ns: self.response.quantile_ns(share),
            service_ns: self.service.quantile_ns(share),
            recorded_ns: complete.map(|pairs| pairs.recorded.quantile_ns(share)),
        };
        PlayDistribution { operation, quantiles: told.map(point).collect() }
    }
}
