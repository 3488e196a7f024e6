//! Write log, shared by the staging area and `out-of-place`: turns batches into extents, and makes
//! them durable.
//!
//! ```text
//! write → gather (memory) ─group→ extents, each one more in a chain of sequences ─flush→ durable
//!            accept, commit            begin_group, assign, seal, send              DurableTail
//! ```
//!
//! | what | shared | the staging area's | `out-of-place`'s |
//! |---|---|---|---|
//! | gather, group | [`Gather`]: a page once, with its last change | a group goes piecewise, as room comes | all at once |
//! | sequences | [`Chain`], [`DurableTail`] | | |
//! | where an extent goes | | slots | zones, by lifetimes |
//! | header | [`ExtentHeader`] | with an epoch | with lengths, and the zone that is next |
//! | contents | buffers | pages | pages, compressed ones packed |
//! | newest version | [`Versions`] | a table of staged pages | a map of all pages |
//! | limit of volatile changes | [`Limits`] | a quarter of the area | the zones kept for a renewal |
//! | when it is durable | | destaged, then reclaimed by a ledger | its older versions die, zones by a ledger |
//!
//! Commits are grouped in two layers, for two savings. Here they share *extents*: while the maximum
//! of [`CommitGroups`] is in flight, later commits gather, so that one request and one header carry
//! many. On the [disk](crate::disk) they share *flushes*: each call that needs one, including
//! reclamations and in-place commits, uses any that covers its writes.

mod chain;
mod commits;
mod context;
mod gather;
#[cfg(test)]
pub(crate) mod headers;
mod log;
mod tail;
mod versions;

pub(crate) use chain::Chain;
pub(crate) use context::Context;
pub(crate) use log::{Changes, Limits, WriteLog};
pub(crate) use tail::Assigned;
pub(crate) use versions::{ExtentHeader, Found, From, Stored, Versions};
