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
//! How a batch travels is in the documentation of [`policy`](PolicyKind); the formats are specified at the top of the
//! files that encode them: `label.rs`, `staging/header.rs`, `staging/ledger.rs`.

mod batch;
mod blocking;
mod costs;
mod defects;
mod disk;
mod error;
mod extents;
mod fields;
mod home;
mod index;
mod label;
#[cfg(feature = "measure")]
mod measure;
mod options;
mod page;
mod parts;
mod policy;
mod signal;
mod staging;
mod stats;
mod store;
mod sums;
mod turns;

pub use batch::Batch;
pub use blocking::BlockingStore;
pub use costs::WriteCosts;
#[cfg(feature = "defects")]
pub use defects::{Defect, seed_defect};
pub use error::PageError;
#[cfg(feature = "measure")]
pub use measure::Exchange;
pub use options::{CreateOptions, OpenOptions};
pub use page::{BLOCK_BYTES, PageNumber};
pub use policy::{PolicyKind, Promises, UnknownPolicy};
pub use stats::{Instances, Stats};
pub use store::Store;
