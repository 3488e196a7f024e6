//! Oracle: contents that a store may hold after a power cut, derived from its contract and replies
//! alone.
//!
//! - **Acknowledged**: once a `sync` returns, all batches whose `write` returned before the `sync`
//!   was called are durable.
//! - **Atomic** (policies that promise it): a whole prefix of each client's batches is present. A
//!   batch is present only with all batches of all clients that returned before it was called. Each
//!   client writes its own pages, so its prefix follows from its pages, whatever the order of
//!   concurrent batches.
//! - **Whole pages** (policies that promise it): a page holds one version. Otherwise a page written
//!   after the last promise may hold anything, and every other page holds its promised contents.
//! - **Discarded** pages may hold any version that they ever held, zeros, or a mixture, but nothing
//!   of an aborted batch. If the policy passes discards on, they may hold whatever the device
//!   returns.
//! - **Numbered**: an opening never reports an earlier last batch than a commit or an opening
//!   before it. Each commit has a greater number than all commits that returned before it was
//!   called.
//! - **Dropped** calls leave a whole batch or nothing (policies that promise atomic batches). A
//!   batch that they leave counts as accepted by a `write`.
//! - **Of one state**: one read of many pages shows a state that a recovery could show, with all
//!   batches that returned before the read began.
//! - **Stopped**: after a call fails with a device error, every call fails, reads included.
//! - **Grown**: the store has its last acknowledged number of pages, or one requested later. New
//!   pages hold the device's contents.
//! - **Aborted** batches, those missing after a recovery, never return: the next life begins with
//!   the recovered contents.

mod growth;
mod held;
mod judge;
mod record;

pub(crate) use growth::Growth;
pub(crate) use held::Page;
pub(crate) use judge::{Looked, judge};
pub(crate) use record::{Change, Promise, Record};
