use nandle_io::{IoError, Nanos};
use nandle_profile::LatencySummary;
use nandle_trace::{Operation, Record};

use super::file::{Compared, OperationPlayed, PlayedDistribution, QuantilePoint, ScheduleKept};
use super::pairs::Pairs;
use crate::times::Times;

const DIGITS: u8 = 3;
/// Later than this, and a request is counted as late: twice what a timer may be.
const LATE_NS: u64 = 200_000;
/// A quantile is told only where so many observations lie beyond it.
const BEYOND: f64 = 10.0;

/// What playing a trace took.
#[derive(Debug, Clone)]
pub struct Played {
    /// From the first request's due time to the last completion.
    pub elapsed: Nanos,
    /// The first failure, in words.
    pub first_error: Option<String>,
    /// Requests that were cut, because they are longer than one may be, or fold at the device's end.
    pub cut: u64,
    /// Requests that were widened to whole logical blocks.
    pub widened: u64,
    /// Requests of which a part was folded back into the device.
    pub folded: u64,
    /// Discards that ask for nothing here: of less than a logical block, or on a device that takes none.
    pub passed_over: u64,
    /// From when requests were due until they were sent, of those that there was room for.
    lag: Times,
    late: u64,
    /// How long requests were held that were due while there was no room for them.
    held: Times,
    kinds: [Kind; Operation::ALL.len()],
}

/// The requests of one operation.
#[derive(Debug, Clone)]
struct Kind {
    failed: u64,
    bytes: u64,
    response: Times,
    service: Times,
    pairs: Option<Box<Pairs>>,
}

/// A request that is done.
pub(super) struct Done<'a> {
    pub(super) record: &'a Record,
    pub(super) due: Nanos,
    pub(super) sent: Nanos,
    pub(super) completed: Nanos,
    pub(super) failure: Option<&'a IoError>,
}

impl Played {
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
            kinds: std::array::from_fn(|_| Kind::new()),
        }
    }

    /// A request was sent so long after it was due, because it was held or because the host was late.
    pub(super) fn sent(&mut self, lag: Nanos, was_held: bool) {
        if was_held {
            self.held.add(lag.0);
        } else {
            self.lag.add(lag.0);
            self.late += u64::from(lag.0 > LATE_NS);
        }
    }

    pub(super) fn add(&mut self, done: &Done) {
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

    /// What each kind of request took, after all of them together; kinds that the trace doesn't have are left out.
    pub fn operations(&self) -> Vec<OperationPlayed> {
        let all = self.all();
        let kinds = Operation::ALL.into_iter().zip(&self.kinds).filter(|(_, kind)| kind.is_there());
        let kinds: Vec<_> = kinds.map(|(operation, kind)| kind.played(Some(operation))).collect();
        std::iter::once(all.played(None)).filter(|_| !kinds.is_empty()).chain(kinds.iter().cloned()).collect()
    }

    /// How the trace's own times differ, for all requests together and for each kind; empty where it has none.
    pub fn comparison(&self) -> Vec<Compared> {
        let mut all = Pairs::default();
        let pairs = Operation::ALL.into_iter().zip(&self.kinds);
        let pairs: Vec<_> =
            pairs.filter_map(|(operation, kind)| Some((operation, kind.pairs.as_deref()?))).collect();
        for (_, pairs) in &pairs {
            all.extend(pairs);
        }
        let each = pairs.iter().filter_map(|(operation, pairs)| compared(Some(*operation), pairs));
        compared(None, &all).into_iter().chain(each).collect()
    }

    /// How the times are distributed, for all requests together and for each kind.
    pub fn distributions(&self) -> Vec<PlayedDistribution> {
        let all = self.all();
        let kinds =
            Operation::ALL.into_iter().zip(&self.kinds).map(|(operation, kind)| (Some(operation), kind));
        let there = std::iter::once((None, &all)).chain(kinds).filter(|(_, kind)| kind.response.count() > 0);
        there.map(|(operation, kind)| kind.distribution(operation)).collect()
    }

    fn all(&self) -> Kind {
        let mut all = Kind::new();
        for kind in &self.kinds {
            all.extend(kind);
        }
        all
    }

    /// How well the times at which requests were due were kept.
    pub fn schedule(&self) -> ScheduleKept {
        ScheduleKept {
            late_requests: self.late,
            late_after_ns: LATE_NS,
            lag_ns: self.lag.summary(),
            held_requests: self.held.count(),
            held_ns: self.held.summary(),
        }
    }
}

fn kind_of(kinds: &mut [Kind; Operation::ALL.len()], operation: Operation) -> Option<&mut Kind> {
    let index = Operation::ALL.iter().position(|one| *one == operation)?;
    kinds.get_mut(index)
}

fn compared(operation: Option<Operation>, pairs: &Pairs) -> Option<Compared> {
    let (recorded, played) = (pairs.recorded.mean_ns()?, pairs.played.mean_ns()?);
    let demerit_ns = pairs.demerit_ns()?;
    Some(Compared {
        operation,
        requests: pairs.recorded.count(),
        recorded_ns: pairs.recorded.summary(),
        played_ns: pairs.played.summary(),
        mean_ratio: (recorded > 0.0).then(|| played / recorded),
        demerit_ns,
        demerit_ratio: (recorded > 0.0).then(|| demerit_ns / recorded),
    })
}

impl Kind {
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

    fn played(&self, operation: Option<Operation>) -> OperationPlayed {
        let summary = |times: &Times| -> LatencySummary { times.summary() };
        OperationPlayed {
            operation,
            requests: self.response.count(),
            failed_requests: self.failed,
            bytes: self.bytes,
            response_ns: summary(&self.response),
            service_ns: summary(&self.service),
        }
    }

    fn distribution(&self, operation: Option<Operation>) -> PlayedDistribution {
        // Recorded times are compared with those of the same requests.
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
        PlayedDistribution { operation, quantiles: told.map(point).collect() }
    }
}
