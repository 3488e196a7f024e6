//! A page store for database engines: atomic, durable commits of pages in a file or on any device.
//! Its write [policy](PolicyKind) is exchangeable, so that ways of writing to flash can be compared
//! on the same pages. The store must never read the system's clock, print, or acknowledge writes
//! that a power cut could undo.
//!
//! ```
//! use nandle_pages::{PageOptions, PageStore};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("pages.db");
//!
//! let mut store = PageStore::create(&path, PageOptions::new(1000))?; // 1000 pages of 4 KiB
//! store.put(7, &[1; 4096])?;
//! store.put(8, &[2; 4096])?;
//! store.commit()?; // both, or neither, survive a power cut
//! assert_eq!(store.read(8)?, [2; 4096]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Later programs call [`PageStore::open`]; [`PageStore::open_or_create`] combines both. There are
//! three interfaces to the same store:
//!
//! | interface | input | suits |
//! |---|---|---|
//! | [`PageStore`] | a path, bytes | a program with pages in a file; only this interface opens files |
//! | [`BlockingStore`] | a device, the store's memory | an engine with threads that fills pages in place and has several requests in flight |
//! | [`Store`] | a device of a [`nandle_io::runtime`] | an engine with a thread per world of devices, real or modelled |
//!
//! # In an engine
//!
//! Depend on this crate and on `nandle-io` (devices, memory), by path or from the repository:
//! neither is on crates.io. `examples/key_value.rs` is a complete engine on [`PageStore`] in one
//! file. The following also applies to the two lower interfaces.
//!
//! 1. Choose a policy. `nandle replay` measures each with the engine's own trace on its own disk.
//!    `nandle advise --for pages` predicts each from a profile of the disk, and
//!    [`PageOptions::with_quickest_policy`] selects the best prediction:
//!
//!    | policy | after a power cut | writes | suits |
//!    |---|---|---|---|
//!    | [`Direct`](PolicyKind::Direct) | torn pages and partial batches | every page once | engines with a journal and full-page images of their own |
//!    | [`DoubleWrite`](PolicyKind::DoubleWrite) | whole batches | every page twice, the second time at once | comparisons |
//!    | [`StableBuffer`](PolicyKind::StableBuffer) | whole batches | every page twice, destaged in the background in patterns that suit the drive | old flash: a staging area as small as the drive's focused area |
//!    | [`StableRing`](PolicyKind::StableRing) | whole batches | every page twice, destaged by a sweep | drives with expensive random writes; the larger the ring, the better |
//!    | [`OutOfPlace`](PolicyKind::OutOfPlace) | whole batches | every page once, compressed, and cleaning; 64 bytes of memory per page | drives that wear, compressible pages |
//!    | [`Auto`](PolicyKind::Auto) | as `Direct` | the cheaper of `Direct` and `StableRing` | unknown drives |
//!
//! 2. Create a store once. [`CreateOptions`] set its policy and page length, which never change,
//!    and its number of pages, which can [grow](Store::grow). [`CreateOptions::device_bytes`] is
//!    the required length of the file, whose blocks should be reserved (`fallocate`), or a full
//!    disk stops the store later. Discarded pages keep their blocks unless
//!    [`nandle_io::FileOptions::punch_holes`] is set. A store may be created over an older one: its
//!    [`id`](CreateOptions::id) differs.
//! 3. Open it from then on. Opening recovers the store; nothing else is needed after a crash. The
//!    [`Promises`] of the store's policy define the result.
//! 4. Unwritten pages may hold anything, so the engine records the pages in use, in a page of the
//!    store. The number of that page, and anything else it needs first, belongs in the store's
//!    [header](Batch::set_header), which changes in the same batch. With a policy that has atomic
//!    batches, reading contents other than the last write is an error, whatever the device did
//!    ([`Promises::checks_pages`]). With `Direct` and `Auto` this holds only until the store is
//!    closed, so the engine's pages need checksums of their own.
//! 5. Change pages in batches, one per atomic change. [`commit`](Store::commit) makes a batch
//!    durable now; [`write`](Store::write) leaves that to the next commit or [`sync`](Store::sync).
//!    Concurrent commits share a flush. [`read_many`](Store::read_many) reads pages as of one state
//!    while others commit. The store has no page locks: writers of the same page need a lock of
//!    their own.
//! 6. After an error that [is fatal](PageError::is_fatal), such as [`PageError::Latched`], every
//!    call fails, reads included: [`reopen`](BlockingStore::reopen) the store, or close and open
//!    it. If the policy promises atomic batches, that suffices even after a failed flush; with
//!    others the power should be cut first, since readable data may yet be lost. Every other error
//!    concerns only its call. If it [is retryable](PageError::is_retryable), repeat the call.
//! 7. An engine with a log or a copy outside the store records the [number](BatchNumber) of a
//!    commit there. After an opening [`last_durable_batch`](Store::last_durable_batch) shows which
//!    of its batches the store holds.
//!
//! A bad block costs only the pages in it. A closed store opens with any one block unreadable or
//! zeroed, also read-only. Reads of a page in that block fail until it is rewritten. Destaging and
//! cleaning leave such a page in place, and [`checkpoint`](Store::checkpoint) reports it. After a
//! power cut a bad block may hold the only record of acknowledged pages; the store is then refused.
//!
//! For the path of a batch see [`policy`](PolicyKind). The formats are specified at the top of the
//! files that encode them: `label.rs`, `home_sums/format.rs`, `staging/header.rs`,
//! `staging/ledger.rs`, `staging/close.rs`, `staging/directory.rs`,
//! `policy/out_of_place/header.rs`, `policy/out_of_place/ledger.rs`.

mod batch;
mod batch_number;
mod blocking;
mod choice;
mod costs;
mod defects;
mod disk;
mod error;
mod error_kinds;
mod extents;
mod fields;
mod file_store;
mod home;
mod home_sums;
mod identity;
mod index;
mod label;
#[cfg(feature = "measure")]
mod measure;
mod memory;
mod options;
mod page;
mod parts;
mod policy;
mod queue;
mod readable;
pub mod salvage;
mod signal;
mod size;
mod staging;
mod stats;
mod store;
mod sums;
mod turns;
mod wipe;
mod write_log;

pub use batch::Batch;
pub use batch_number::BatchNumber;
pub use blocking::{BlockingStore, Ticket};
pub use choice::{ExpectedUse, PageTimes, PredictedPolicy, predict_policies, quickest};
pub use costs::WriteCosts;
#[cfg(feature = "defects")]
pub use defects::{Defect, seed_defect};
pub use error::PageError;
pub use file_store::{PageOptions, PageStore, usual_buffer_bytes};
#[cfg(feature = "measure")]
pub use measure::Exchange;
#[doc(hidden)]
pub use options::Experiments;
pub use options::{CreateOptions, OpenOptions};
pub use page::{BLOCK_BYTES, HEADER_BYTES, PageNumber};
pub use policy::{PolicyKind, Promises, UnknownPolicy};
pub use stats::{AutoStats, Instances, Stats};
pub use store::Store;
