//! A made-up device in virtual time for this crate's own tests: what it answers, and when, follows from a [`Timing`] alone,
//! so drivers and searches can be held against exact arithmetic. It keeps a [`Ledger`] of what it was asked.

mod drive;
mod ledger;
mod servers;
mod world;

pub(crate) use drive::{Drive, Weather};
pub(crate) use ledger::Ledger;
pub(crate) use servers::Servers;
pub(crate) use world::{Fault, MadeUpWorld};

use nandle_io::{Nanos, Operation};

/// When requests are done.
pub(crate) trait Timing {
    /// When a request will be done that is taken now, with so many outstanding before it.
    fn done_at(&mut self, now: Nanos, operation: &Operation, outstanding: usize) -> Nanos;
}
