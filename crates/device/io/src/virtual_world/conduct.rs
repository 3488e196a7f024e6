use std::collections::BTreeMap;

use super::behaviour::{Arrival, Behaviour, Finished};
use crate::{Cause, DeviceId, Nanos, Operation};

/// Devices whose requests' fates are known when they are submitted.
pub trait Conduct {
    /// The world's name in its [`Backend`](crate::Backend).
    const NAME: &'static str;
    /// See [`Behaviour::HEARTBEAT`].
    const HEARTBEAT: Option<Nanos> = None;

    /// Decides about a request that arrives.
    fn fate(&mut self, now: Nanos, arrival: &Arrival<'_>) -> Fate;

    /// What a request does that succeeds, at the time when it completes. `key` is that of its arrival.
    fn take_effect(&mut self, key: usize, device: DeviceId, operation: &mut Operation);

    /// A span of time passes with so many requests in flight.
    fn time_passes(&mut self, span: Nanos, in_flight: usize) {
        let _ = (span, in_flight);
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// How long it is in flight; [`Nanos::MAX`]: it never completes.
    pub takes: Nanos,
    /// Why it fails, if it does.
    pub failure: Option<Cause>,
}

/// The [`Behaviour`] that follows from a [`Conduct`]: requests finish one by one, by their time and then in the order in
/// which they arrived.
#[derive(Debug)]
pub struct Scheduled<C> {
    conduct: C,
    due: BTreeMap<(Nanos, u64), Finished>,
    arrived: u64,
}

impl<C: Conduct> Scheduled<C> {
    /// Devices of this conduct.
    pub const fn new(conduct: C) -> Self {
        Self { conduct, due: BTreeMap::new(), arrived: 0 }
    }

    /// What tells them from others.
    pub const fn conduct(&self) -> &C {
        &self.conduct
    }

    /// As [`conduct`](Self::conduct), to change it.
    pub const fn conduct_mut(&mut self) -> &mut C {
        &mut self.conduct
    }
}

impl<C: Conduct> Behaviour for Scheduled<C> {
    const NAME: &'static str = C::NAME;
    const HEARTBEAT: Option<Nanos> = C::HEARTBEAT;

    fn arrive(&mut self, now: Nanos, arrival: Arrival<'_>) {
        let Fate { takes, failure } = self.conduct.fate(now, &arrival);
        self.arrived += 1;
        self.due.insert((now + takes, self.arrived), Finished { key: arrival.key, failure });
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.due.first_key_value().map(|((at, _), _)| *at).filter(|at| *at < Nanos::MAX)
    }

    fn advance(&mut self, at: Nanos, finished: &mut Vec<Finished>) {
        let first = self.due.pop_first();
        debug_assert!(first.as_ref().is_some_and(|((due, _), _)| *due == at), "an event is due at {at}");
        finished.extend(first.map(|(_, first)| first));
    }

    fn take_effect(&mut self, key: usize, device: DeviceId, operation: &mut Operation) {
        self.conduct.take_effect(key, device, operation);
    }

    fn time_passes(&mut self, span: Nanos, in_flight: usize) {
        self.conduct.time_passes(span, in_flight);
    }
}
