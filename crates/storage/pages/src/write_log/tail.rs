//! How far the chain of extents is durable, and what makes it so.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::chain::Chain;
use super::context::Context;
use crate::PageError;
use crate::defects::Defect;

/// Extents that may be on their way at once. Deep enough for any device, and a bound on memory.
const EXTENTS_IN_FLIGHT: u64 = 64;

/// See the [module](self).
pub(crate) struct DurableTail {
    context: Rc<Context>,
    /// The most pages that may be volatile, but for a single group with more: an opening has room to write so many once more.
    at_risk_max: usize,
    /// A task in the background makes durable what is at risk.
    is_flushing_ahead: Cell<bool>,
    chain: RefCell<Chain>,
}

/// The place of an extent in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub(crate) sequence: u64,
    /// All extents up to this sequence are durable.
    pub(crate) durable: u64,
}

impl DurableTail {
    pub(super) fn new(context: &Rc<Context>, at_risk_max: usize, chain: Chain) -> Rc<Self> {
        debug_assert!(at_risk_max > 0, "nothing could ever be written");
        let (is_flushing_ahead, chain) = (Cell::default(), RefCell::new(chain));
        Rc::new(Self { context: Rc::clone(context), at_risk_max, is_flushing_ahead, chain })
    }

    /// The last sequence that was assigned.
    pub(crate) fn assigned(&self) -> u64 {
        self.chain.borrow().assigned()
    }

    /// The end of the last group that is on its way as a whole.
    pub(crate) fn assigned_groups(&self) -> u64 {
        self.chain.borrow().assigned_groups()
    }

    /// All extents up to this sequence have been written.
    pub(crate) fn written(&self) -> u64 {
        self.chain.borrow().written()
    }

    /// The end of the last group that is written as a whole.
    pub(crate) fn written_groups(&self) -> u64 {
        self.chain.borrow().written_groups()
    }

    /// All groups up to this end are durable.
    pub(crate) fn durable(&self) -> u64 {
        self.chain.borrow().durable()
    }

    /// The next place, for an extent with so many changes.
    pub(crate) fn assign(&self, changes: usize, is_last: bool) -> Assigned {
        let chain = &mut *self.chain.borrow_mut();
        let durable = chain.durable();
        let sequence = chain.assign(changes, is_last);
        debug_assert!(durable < sequence, "an extent isn't durable before it is written");
        Assigned { sequence, durable }
    }

    /// An extent is on the device, durably if its own write made it and all before it so.
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

    /// A flush that began when all up to `written` had been written succeeded. Returns up to where all is durable.
    pub(crate) fn flushed(&self, written: u64) -> u64 {
        let chain = &mut *self.chain.borrow_mut();
        chain.flushed(written);
        chain.durable()
    }

    /// What a renewal wrote is durable, and what is assigned from now on continues it. Returns the last sequence.
    pub(crate) fn continue_behind_renewal(&self) -> u64 {
        let chain = &mut *self.chain.borrow_mut();
        debug_assert!(
            chain.assigned() == chain.written() || self.context.disk.check_writable().is_err(),
            "a renewal is written before it counts: {chain:?}"
        );
        *chain = Chain::after(chain.assigned());
        chain.assigned()
    }

    /// Makes durable all groups up to the one with this sequence.
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

    /// Extents on their way to the device.
    pub(crate) fn in_flight(&self) -> u64 {
        self.assigned() - self.written()
    }

    /// Whether another extent may set out.
    pub(crate) fn may_send(&self) -> bool {
        self.in_flight() < EXTENTS_IN_FLIGHT
    }

    /// Waits until another extent may set out.
    pub(crate) async fn wait_for_flight(&self) -> Result<(), PageError> {
        self.context.wait_until(|| self.may_send()).await
    }

    /// Whether more would be volatile with so many changes than an opening has room to write once more.
    pub(crate) fn is_too_much_at_risk(&self, changes: usize) -> bool {
        let at_risk = self.chain.borrow().pages_at_risk();
        at_risk > 0 && at_risk + changes > self.at_risk_max
    }

    /// Where so many more changes would be too much, makes all groups that are on their way durable first.
    pub(crate) async fn limit_what_is_at_risk(&self, changes: usize) -> Result<(), PageError> {
        if !self.is_too_much_at_risk(changes) {
            return Ok(());
        }
        let groups = self.assigned_groups();
        self.make_durable(groups).await
    }

    /// Makes it durable in the background when half as much is at risk as may be, so that no client has to wait for it.
    pub(crate) fn flush_ahead(self: &Rc<Self>) {
        let (changes, groups) = (self.chain.borrow().pages_at_risk(), self.assigned_groups());
        if 2 * changes <= self.at_risk_max || self.is_flushing_ahead.replace(true) {
            return;
        }
        let tail = Rc::clone(self);
        self.context.disk.handle().spawn_named("page store: flushing ahead", async move {
            // What fails here has stopped the store, so every caller learns of it.
            _ = tail.make_durable(groups).await;
            tail.is_flushing_ahead.set(false);
        });
    }
}
