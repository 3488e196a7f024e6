//! Fake device in virtual time for this crate's tests. A [`Timing`] alone decides its completion
//! times, so tests can compare drivers and searches with exact arithmetic. A [`Ledger`] records the
//! requests.

mod drive;
mod ledger;
mod servers;
mod world;

pub(crate) use drive::{Drive, SpeedVariation};
pub(crate) use ledger::Ledger;
pub(crate) use servers::Servers;
pub(crate) use world::{FakeWorld, Fault};

use nandle_io::{Nanos, Operation};

/// Completion times of requests.
pub(crate) trait Timing {
    /// Returns the completion time of a request submitted now, after `outstanding` others.
    fn done_at(&mut self, now: Nanos, operation: &Operation, outstanding: usize) -> Nanos;
}
