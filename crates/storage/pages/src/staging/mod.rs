//! What the policies with a staging area share.
//!
//! ```text
//! write → gather (memory) ─push→ extent: [header][page][page]… in the staging area ─flush→ durable
//!                                        │ table: page → slot
//!                      order (a policy's) ▼
//!       destage: instance of pages ─read slots→ write home ─┐
//!       reclaim: flush (homes) → ledger → flush → slots are free
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
//! - What an opening finds and can't know to be durable is [written once more](renew), and counts from the new copy. So
//!   what a drive shows after a failed flush, and loses later, is nothing that anything relies on.
//! - The checksum of a page that was written home is durable before the ledger that calls its slot dead. So there is no time
//!   at which a damaged page could pass: first the slot counts, then the checksum.
//! - A close marks how far everything reached. So damage to what was written last doesn't look like a power cut. It writes the
//!   ledger twice and the headers once more, in a [directory]. So any one bad block of a closed store costs pages in it alone.
//! - Opening begins a new epoch, recorded in the ledger before anything is written. So what a cut-off chain left behind
//!   never becomes part of a later one.
//!
//! Three owners, each with a state that it alone changes: the [write log](crate::write_log) of what is gathered, written and
//! durable, which `out-of-place` shares, with the [table](log) of what is staged; the [reclaimer](reclaim) of the area's
//! blocks; the [destager](destage) that decides what goes home when. The log knows neither of the others, and the reclaimer
//! not the destager. What all take part in is in [`engine`].

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
