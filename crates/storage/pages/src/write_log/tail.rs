//! Tracks the durable end of the chain, and flushes it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::chain::Chain;
use super::context::Context;
use crate::PageError;
use crate::defects::Defect;

/// Maximum extents in flight, enough for any device, which bounds memory.
const EXTENTS_IN_FLIGHT: u64 = 64;

/// See the [module](self).
pub(crate) struct DurableTail {
    context: Rc<Context>,
    /// Maximum volatile pages, except for a single larger group. An opening has room to rewrite
    /// them.
    at_risk_max: usize,
    /// True while a background task makes the chain durable.
    is_flushing_ahead: Cell<bool>,
    chain: RefCell<Chain>,
}

/// Place of an extent in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub(crate) sequence: u64,
    /// Sequence up to which all extents are durable.
    pub(crate) durable: u64,
}

impl DurableTail {
    pub(super) fn new(context: &Rc<Context>, at_risk_max: usize, chain: Chain) -> Rc<Self> {
        debug_assert!(at_risk_max > 0, "nothing could ever be written");
        let (is_flushing_ahead, chain) = (Cell::default(), RefCell::new(chain));
        Rc::new(Self { context: Rc::clone(context), at_risk_max, is_flushing_ahead, chain })
    }

    /// Last sequence assigned.
    pub(crate) fn assigned(&self) -> u64 {
        self.chain.borrow().assigned()
    }

    /// End of the last group in flight as a whole.
    pub(crate) fn assigned_groups(&self) -> u64 {
        self.chain.borrow().assigned_groups()
    }

    /// Sequence up to which all extents are written.
    pub(crate) fn written(&self) -> u64 {
        self.chain.borrow().written()
    }

    /// End of the last completely written group.
    pub(crate) fn written_groups(&self) -> u64 {
        self.chain.borrow().written_groups()
    }

    /// End up to which all groups are durable.
    pub(crate) fn durable(&self) -> u64 {
        self.chain.borrow().durable()
    }

    /// Assigns the next place to an extent with `changes` changes.
    pub(crate) fn assign(&self, changes: usize, is_last: bool) -> Assigned {
        let chain = &mut *self.chain.borrow_mut();
        let durable = chain.durable();
        let sequence = chain.assign(changes, is_last);
        debug_assert!(durable < sequence, "an extent isn't durable before it is written");
        Assigned { sequence, durable }
    }

    /// Records the write of an extent. `is_durable`: its write made it and everything before it
    /// durable.
    pub(super) fn wrote(&self, sequence: u64, is_durable: bool) {
        let chain = &mut *self.chain.borrow_mut();
        chain.wrote(sequence);
        if is_durable {
            chain.flushed(sequence);
            debug_assert!(
                chain.durable() >= sequence,
                "{sequence} was a group, all before it durable: {chain:?}"
            );
        }
    }

    /// Records a successful flush that began when everything up to `written` was written. Returns
    /// the durable end.
    pub(crate) fn flushed(&self, written: u64) -> u64 {
        let chain = &mut *self.chain.borrow_mut();
        chain.flushed(written);
        chain.durable()
    }

    /// Marks the writes of a renewal as durable. Later extents continue them. Returns the last
    /// sequence.
    pub(crate) fn continue_behind_renewal(&self) -> u64 {
        let chain = &mut *self.chain.borrow_mut();
        debug_assert!(
            chain.assigned() == chain.written() || self.context.disk.check_writable().is_err(),
            "a renewal is written before it counts: {chain:?}"
        );
        *chain = Chain::after(chain.assigned());
        chain.assigned()
    }

    /// Makes all groups durable up to the one with this sequence.
    pub(crate) async fn make_durable(&self, target: u64) -> Result<(), PageError> {
        debug_assert!(target <= self.assigned(), "{target} was assigned: {:?}", self.chain.borrow());
        loop {
            self.context.disk.check_writable()?;
            if self.durable() >= target {
                return Ok(());
            }
            if self.written_groups() < target {
                self.context.wait_until(|| self.written_groups() >= target).await?;
                continue;
            }
            let written = self.written();
            if !Defect::SkippedFlush.is_seeded() {
                self.context.disk.flush().await?;
            }
            let durable = self.flushed(written);
            debug_assert!(durable >= target, "a flush of {written} covers {target}");
            self.context.changed.notify();
        }
    }

    pub(crate) async fn wait_until_written(&self, sequence: u64) -> Result<(), PageError> {
        self.context.wait_until(|| self.written() >= sequence).await
    }

    /// Number of extents in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.assigned() - self.written()
    }

    /// Returns true if another extent may be sent.
    pub(crate) fn may_send(&self) -> bool {
        self.in_flight() < EXTENTS_IN_FLIGHT
    }

    /// Waits until another extent may be sent.
    pub(crate) async fn wait_for_flight(&self) -> Result<(), PageError> {
        self.context.wait_until(|| self.may_send()).await
    }

    /// Returns true if `changes` more would make more data volatile than an opening has room to
    /// rewrite.
    pub(crate) fn is_too_much_at_risk(&self, changes: usize) -> bool {
        let at_risk = self.chain.borrow().pages_at_risk();
        at_risk > 0 && at_risk + changes > self.at_risk_max
    }

    /// Makes all groups in flight durable if `changes` more would exceed the limit.
    pub(crate) async fn limit_what_is_at_risk(&self, changes: usize) -> Result<(), PageError> {
        if !self.is_too_much_at_risk(changes) {
            return Ok(());
        }
        let groups = self.assigned_groups();
        self.make_durable(groups).await
    }

    /// Starts to make the chain durable in the background at half of the limit, so that no client
    /// has to wait.
    pub(crate) fn flush_ahead(self: &Rc<Self>) {
        let (changes, groups) = (self.chain.borrow().pages_at_risk(), self.assigned_groups());
        if 2 * changes <= self.at_risk_max || self.is_flushing_ahead.replace(true) {
            return;
        }
        let tail = Rc::clone(self);
        self.context.disk.handle().spawn_named("page store: flushing ahead", async move {
            // An error here has stopped the store, so every caller receives it.
            _ = tail.make_durable(groups).await;
            tail.is_flushing_ahead.set(false);
        });
    }
}
