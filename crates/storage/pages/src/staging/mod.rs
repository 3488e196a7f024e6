//! Staging area, shared by several policies.
//!
//! ```text
//! write → gather (memory) ─push→ extent: [header][page][page]… in the staging area ─flush→ durable
//!                                        │ table: page → slot
//!                      order (a policy's) ▼
//!       destage: instance of pages ─read slots→ write home ─┐
//!       reclaim: flush (homes) → ledger → flush → slots are free
//! ```
//!
//! Rules, and the failures that they prevent:
//! - A live slot of a durable extent is never overwritten before a durable ledger declares it dead.
//!   A torn write therefore never destroys an acknowledged copy.
//! - A slot is dead once its page is home *and flushed*, or once a newer version of its page is
//!   durable. An older version therefore never returns while a newer one is lost.
//! - A page is destaged only once its whole batch is durable. Home therefore never holds half a
//!   batch.
//! - Extents form a chain by sequence numbers. After a power cut the chain ends before its first
//!   gap, at the end of a group of batches. A batch is therefore never present without its
//!   predecessors.
//! - Extents found by an opening that may be volatile are [rewritten](renew), and the new copy
//!   counts. Nothing therefore depends on data that a drive shows after a failed flush and loses
//!   later.
//! - The checksum of a destaged page is durable before the ledger that declares its slot dead. A
//!   damaged page is therefore always detected, by the slot's checksum first and the home checksum
//!   afterwards.
//! - A close marks the end of all writes. Damage to the last writes is therefore not mistaken for a
//!   power cut. The close also writes the ledger twice and the headers again, in a [directory]. A
//!   single bad block of a closed store therefore costs only pages in it.
//! - Opening begins a new epoch, recorded in the ledger before any other write. The remains of an
//!   interrupted chain therefore never become part of a later one.
//!
//! Three owners hold disjoint state: the [write log](crate::write_log) of gathered, written and
//! durable batches, shared with `out-of-place`, with the [table](log) of staged pages; the
//! [reclaimer](reclaim) of the area's blocks; and the [destager](destage). The log depends on
//! neither of the others, and the reclaimer not on the destager. Operations that involve all of
//! them are in [`engine`].

mod close;
mod config;
mod context;
mod destage;
mod directory;
mod engine;
mod format;
mod header;
mod inspect;
mod ledger;
mod log;
mod order;
mod policy;
mod read_back;
mod reclaim;
mod recover;
mod renew;
mod space;
mod table;
mod urgency;

pub(crate) use config::{StagingConfig, Thresholds};
pub(crate) use format::{areas, format, largest_group};
pub(crate) use inspect::StagedEvidence;
pub(crate) use order::{Instance, Order};
pub(crate) use policy::Staging;
pub(crate) use space::Placement;
#[cfg(feature = "measure")]
pub(crate) use space::Slot;
#[cfg(feature = "measure")]
pub(crate) use table::{Entry, Table};
