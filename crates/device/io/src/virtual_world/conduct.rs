use std::collections::BTreeMap;

use super::behaviour::{Arrival, Behaviour, Finished};
use crate::{Cause, DeviceId, Nanos, Operation};

/// Devices that decide a request's fate at its submission.
pub trait Conduct {
    /// Name in the world's [`Backend`](crate::Backend).
    const NAME: &'static str;
    /// See [`Behaviour::HEARTBEAT`].
    const HEARTBEAT: Option<Nanos> = None;

    /// Decides the fate of an arriving request.
    fn fate(&mut self, now: Nanos, arrival: &Arrival<'_>) -> Fate;

    /// Applies a successful request at its completion. `key` is that of its arrival.
    fn take_effect(&mut self, key: usize, device: DeviceId, operation: &mut Operation);

    /// Called when `span` passes with `in_flight` requests.
    fn time_passes(&mut self, span: Nanos, in_flight: usize) {
        let _ = (span, in_flight);
    }
}

/// Fate of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// Latency; [`Nanos::MAX`] if it never completes.
    pub takes: Nanos,
    /// Cause of its failure, if it fails.
    pub failure: Option<Cause>,
}

/// [`Behaviour`] derived from a [`Conduct`]: requests finish by time, then by arrival.
#[derive(Debug)]
pub struct Scheduled<C> {
    conduct: C,
    due: BTreeMap<(Nanos, u64), Finished>,
    arrived: u64,
}

impl<C: Conduct> Scheduled<C> {
    /// Behaviour of devices with this conduct.
    pub const fn new(conduct: C) -> Self {
        Self { conduct, due: BTreeMap::new(), arrived: 0 }
    }

    /// Conduct of the devices.
    pub const fn conduct(&self) -> &C {
        &self.conduct
    }

    /// Conduct of the devices, mutable.
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
