//! A page store that a database engine can sit on: atomic, durable [batches](Batch) of page writes over any device,
//! with the way of writing as a [policy](PolicyKind), so that ways of writing to flash can be compared on the same
//! pages. It knows a device only through [`nandle_io`]; it must never open a file, read the system's clock, print, or
//! acknowledge what a power cut could take away.
//!
//! ```
//! use nandle_io::runtime::Runtime;
//! use nandle_io::{Io, Nanos, conformance::MemoryWorld};
//! use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
//!
//! let mut world = MemoryWorld::new(32, Nanos::from_micros(50));
//! let device = world.add(16 << 20, 4096);
//! let runtime = Runtime::new(Box::new(world));
//! let handle = runtime.handle();
//! runtime.block_on(async move {
//!     let options = CreateOptions::new(PolicyKind::StableBuffer, 4096, 1000).with_buffer_bytes(1 << 20);
//!     let store = Store::create(&handle, device.id, &options, OpenOptions::default()).await?;
//!     let mut batch = Batch::new();
//!     for number in [7, 3, 900] {
//!         let mut page = store.buffer()?;
//!         page.fill(number as u8);
//!         batch.put(PageNumber(number), page.freeze());
//!     }
//!     store.commit(batch).await?; // all three, or none of them, survive a power cut from here on
//!     assert_eq!(store.read(PageNumber(3)).await?[0], 3);
//!     store.close().await
//! })?;
//! # Ok::<(), nandle_pages::PageError>(())
//! ```
//!
//! # In an engine of one's own
//!
//! Depend on this crate and on `nandle-io` (devices, memory), by path or from the repository: neither is on crates.io.
//! [`Store`] runs in an engine that is written for [`nandle_io::runtime`], [`BlockingStore`] in any other: a thread of its
//! own, and handles that threads share. `examples/key_value.rs` is a whole engine on the latter in one file, and the
//! documentation of [`BlockingStore`] shows a first program.
//!
//! 1. Choose a policy. `nandle replay` with a trace of one's own on one's own disk says what each costs:
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
//! 2. Make a store once: [`CreateOptions`] say its policy, page length and number of pages, which never change, and
//!    [`CreateOptions::device_bytes`] how long the file must be; a file should have its blocks (`fallocate`), or a full disk
//!    stops the store later. It keeps them when pages are discarded, unless [`nandle_io::FileOptions::punch_holes`] is set.
//!    A store may be made over an older one: its [`id`](CreateOptions::id) is another.
//! 3. From then on open it. Opening recovers: there is nothing else to do after a crash. What it finds is in
//!    [`Promises`] for the store's policy.
//! 4. Pages that were never written may hold anything, so the engine notes which it uses, in a page of the store. With a policy
//!    that has atomic batches, reading a page that isn't what was written last is an error, whatever the device did to it
//!    ([`Promises::checks_pages`]); with `Direct` and `Auto` only until the store is closed, so the engine's pages need
//!    checksums of their own.
//! 5. Change pages in batches, one for each change that must be whole. [`commit`](Store::commit) for what must be durable
//!    now, [`write`](Store::write) for what the next commit or [`sync`](Store::sync) makes durable; writers that commit at the
//!    same time share a flush. The store has no locks on pages: two who change one page agree among themselves.
//! 6. After [`PageError::Latched`] drop the store and open it again. Where the policy promises atomic batches that is enough
//!    even after a failed flush; with the others the power should go off first, since what can be read then may yet be lost.
//!    Every other error concerns the call alone.
//!
//! How a batch travels is in the documentation of [`policy`](PolicyKind); the formats are specified at the top of the
//! files that encode them: `label.rs`, `home_sums/format.rs`, `staging/header.rs`, `staging/ledger.rs`, `staging/close.rs`, `policy/out_of_place/header.rs`,
//! `policy/out_of_place/ledger.rs`.

mod batch;
mod blocking;
mod costs;
mod defects;
mod disk;
mod error;
mod extents;
mod fields;
mod home;
mod home_sums;
mod identity;
mod index;
mod label;
#[cfg(feature = "measure")]
mod measure;
mod options;
mod page;
mod parts;
mod policy;
mod queue;
mod signal;
mod staging;
mod stats;
mod store;
mod sums;
mod turns;

pub use batch::Batch;
pub use blocking::{BlockingStore, Ticket};
pub use costs::WriteCosts;
#[cfg(feature = "defects")]
pub use defects::{Defect, seed_defect};
pub use error::PageError;
#[cfg(feature = "measure")]
pub use measure::Exchange;
#[doc(hidden)]
pub use options::Experiments;
pub use options::{CreateOptions, OpenOptions};
pub use page::{BLOCK_BYTES, PageNumber};
pub use policy::{PolicyKind, Promises, UnknownPolicy};
pub use stats::{AutoStats, Instances, Stats};
pub use store::Store;
