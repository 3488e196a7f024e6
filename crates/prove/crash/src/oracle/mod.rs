//! What a store may hold after a power cut, by its contract and by what it answered; it knows nothing of how a store
//! does it.
//!
//! - **Acknowledged**: what a `sync` promised, all batches whose `write` had returned before the `sync` was called, is
//!   there from the event on at which the `sync` returned.
//! - **Atomic** (policies that promise it): of each client's batches some prefix is there, whole; and a batch is only
//!   there with all batches that had returned, to anybody, before it was called. Each client writes to pages of its own,
//!   so its prefix can be read off its pages, whatever order the store gave to batches that were under way together.
//! - **Whole pages** (policies that promise it): a page holds one version. Otherwise a page that is written after what
//!   was promised may hold anything, and every other page what was promised.
//! - **Discarded** pages may hold any version that they ever held, zeros, or a mixture, but none of an aborted batch;
//!   and what the device gives for them, where the policy passes discards on.
//! - **Numbered**: no opening tells of an earlier last batch than a commit or an opening before it did, and each commit has a
//!   greater number than those that had returned before it was called.
//! - **Dropped** calls leave a batch as a whole or nothing of it (policies that promise atomic batches), and what they leave is
//!   there as what a `write` accepted.
//! - **Of one state**: what one read of many pages shows is explained as what a recovery shows, with all batches that had
//!   returned when it began.
//! - **Stopped**: after a call has failed because the device did, no call succeeds, no read either.
//! - **Grown**: the store has the number of pages that it acknowledged last, or one that it was asked for afterwards. The new
//!   ones hold what the device held.
//! - **Aborted** batches, those that a recovery didn't find, never come back: what a recovery found is what the next
//!   life begins with.

mod growth;
mod held;
mod judge;
mod record;

pub(crate) use growth::Growth;
pub(crate) use held::Page;
pub(crate) use judge::{Looked, judge};
pub(crate) use record::{Change, Promise, Record};
