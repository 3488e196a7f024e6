//! A page store that a database engine can sit on: atomic, durable commits of pages in a file or on any device, with the way of
//! writing as a [policy](PolicyKind), so that ways of writing to flash can be compared on the same pages. It must never read
//! the system's clock, print, or acknowledge what a power cut could take away.
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
//! From then on it is [`PageStore::open`]; [`PageStore::open_or_create`] is both. There are three interfaces to the same store:
//!
//! | interface | takes | for |
//! |---|---|---|
//! | [`PageStore`] | a path, bytes | a program that wants pages in a file; it alone opens files |
//! | [`BlockingStore`] | a device, the store's memory | an engine with threads, which fills pages in place and keeps several requests under way |
//! | [`Store`] | a device of a [`nandle_io::runtime`] | an engine with one thread for each world of devices, real or modelled |
//!
//! # In an engine
//!
//! Depend on this crate and on `nandle-io` (devices, memory), by path or from the repository: neither is on crates.io.
//! `examples/key_value.rs` is a whole engine on [`PageStore`] in one file. What follows holds for the two lower interfaces as well.
//!
//! 1. Choose a policy. `nandle replay` with the engine's own trace on its own disk says what each costs, `nandle advise --for pages`
//!    what each is predicted to cost by a profile of the disk, and [`PageOptions::with_quickest_policy`] takes the best of that:
//!
//!    | policy | after a power cut | takes | suits |
//!    |---|---|---|---|
//!    | [`Direct`](PolicyKind::Direct) | pages may be torn, batches there in part | every page once | engines with a journal and full-page images of their own |
//!    | [`DoubleWrite`](PolicyKind::DoubleWrite) | batches whole | every page twice, at once | a yardstick |
//!    | [`StableBuffer`](PolicyKind::StableBuffer) | batches whole | every page twice, home in the background in patterns that the drive likes | old flash: a staging area as small as the drive's focused area |
//!    | [`StableRing`](PolicyKind::StableRing) | batches whole | the same, home by a sweep | drives on which random writes cost much; the larger the ring, the better |
//!    | [`OutOfPlace`](PolicyKind::OutOfPlace) | batches whole | every page once, compressed, and cleaning; 64 bytes of memory a page | drives that wear, pages that compress |
//!    | [`Auto`](PolicyKind::Auto) | as `Direct` | what costs less of `Direct` and `StableRing` | unknown drives |
//!
//! 2. Make a store once: [`CreateOptions`] say its policy and page length, which never change, and its number of
//!    pages, to which more can be [added](Store::grow), and
//!    [`CreateOptions::device_bytes`] how long the file must be; a file should have its blocks (`fallocate`), or a full disk
//!    stops the store later. It keeps them when pages are discarded, unless [`nandle_io::FileOptions::punch_holes`] is set.
//!    A store may be made over an older one: its [`id`](CreateOptions::id) is another.
//! 3. From then on open it. Opening recovers: there is nothing else to do after a crash. What it finds is in
//!    [`Promises`] for the store's policy.
//! 4. Pages that were never written may hold anything, so the engine notes which it uses, in a page of the store. Which page that is, and what else it needs
//!    first, it keeps in the store's [header](Batch::set_header), which changes in the same batch. With a policy
//!    that has atomic batches, reading a page that isn't what was written last is an error, whatever the device did to it
//!    ([`Promises::checks_pages`]); with `Direct` and `Auto` only until the store is closed, so the engine's pages need
//!    checksums of their own.
//! 5. Change pages in batches, one for each change that must be whole. [`commit`](Store::commit) for what must be durable
//!    now, [`write`](Store::write) for what the next commit or [`sync`](Store::sync) makes durable; writers that commit at the
//!    same time share a flush. [`read_many`](Store::read_many) reads pages of one state while others commit. The store has no locks on pages: writers that change the same page take turns by a lock of their own.
//! 6. After an error that [is fatal](PageError::is_fatal), as [`PageError::Latched`] is, every call fails, reads too:
//!    [`reopen`](BlockingStore::reopen) the store, or close it and open it again. Where the policy promises atomic batches that is
//!    enough even after a failed flush; with the others the power should go off first, since what can be read then may yet be lost.
//!    Every other error concerns the call alone; one that [is retryable](PageError::is_retryable) may be gone when the call is made
//!    again.
//! 7. An engine that keeps a log or a copy of its own beside the store notes the [number](BatchNumber) of a commit in it. After an
//!    opening [`last_durable_batch`](Store::last_durable_batch) says which of its batches the store holds.
//!
//! A bad block costs the pages in it. A store that was closed opens with any one block unreadable or zeroed, for reading only too;
//! a page that lay in the block is an error when it is read, until it is written again. Destaging and cleaning leave such a page
//! where it is, and [`checkpoint`](Store::checkpoint) says which. After a power cut a bad block can be what tells where acknowledged
//! pages are: then the store is refused.
//!
//! How a batch travels is in the documentation of [`policy`](PolicyKind); the formats are specified at the top of the
//! files that encode them: `label.rs`, `home_sums/format.rs`, `staging/header.rs`, `staging/ledger.rs`, `staging/close.rs`,
//! `staging/directory.rs`, `policy/out_of_place/header.rs`,
//! `policy/out_of_place/ledger.rs`.

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
