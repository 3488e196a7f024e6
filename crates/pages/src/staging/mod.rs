//! What the policies with a staging area share.
//!
//! ```text
//! write → gather (memory) ─push→ extent: [header][page][page]… in the staging area ─flush→ durable
//!                                        │ table: page → slot
//!                      order (a policy's) ▼
//!         drain: instance of pages ─read slots→ write home ─┐
//!         settle: flush (homes) → ledger → flush → slots are free
//! ```
//!
//! Rules, and what each of them prevents:
//! - A slot that a durable extent holds is never overwritten before a durable ledger says that it is dead. So a torn
//!   write never hits an acknowledged copy.
//! - A slot is dead when its page was written home *and flushed*, or when a newer version of its page is durable. So
//!   an older version can't come back while a newer one is gone.
//! - A page goes home only when its batch is durable as a whole. So home never has half a batch.
//! - Extents form a chain by sequence numbers; after a power cut the chain ends before its first gap, and at the end of
//!   a group of batches. So no batch is there without those before it.
//! - What an opening finds and nobody knows to be durable is [written once more](renew), and counts from the new copy. So
//!   what a drive shows after a failed flush, and loses later, is nothing that anybody relies on.
//! - Opening begins a new epoch, recorded in the ledger before anything is written. So what a cut-off chain left behind
//!   never becomes part of a later one.

mod append;
mod drain;
mod engine;
mod format;
mod header;
mod ledger;
mod order;
mod recover;
mod renew;
mod settle;
mod space;
mod table;

pub(crate) use engine::{Draining, Staging, Way};
pub(crate) use format::{areas, format, largest_group};
pub(crate) use order::{Instance, Order};
pub(crate) use space::Placement;
#[cfg(feature = "measure")]
pub(crate) use space::Slot;
#[cfg(feature = "measure")]
pub(crate) use table::{Entry, Table};
