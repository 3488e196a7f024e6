//! Contents of a modelled device, their durability, and every possible fault. Media is independent
//! of time: a world [begins](Media::begin) and [completes](Media::complete) operations, and
//! [timing](crate::timing) decides when. A run that needs only timing has no media.
//!
//! - [`Contents`] are blocks, copy-on-write: a clone is a cheap snapshot.
//! - [`Media`] is a device's contents under operations, with the faults of a [`FaultPlan`]. The
//!   [fault model](faults) is specified at the top of its file.
//! - A [`Recording`] holds a run's effects on the media. [`CrashImages`] derives the possible
//!   outcomes of each power cut from it, without another run. An image is [`Contents`]: recovery
//!   runs on [`Media`] made of it, which can be recorded and cut like any other.
//! - [`MediaWorld`] puts media behind the [`Io`](nandle_io::Io) interface, around a world that
//!   provides the timing. [`MediaWorld::modelled`] is that of modelled drives.
//!
//! ```
//! use nandle_io::{Arena, Operation};
//! use nandle_model::media::{CrashImages, Media, PowerCut};
//!
//! let arena = Arena::new(1 << 20)?;
//! let mut media = Media::new(1 << 20, 4096).recorded();
//! for mut operation in [Operation::write(0, arena.allocate(4096)?.freeze()), Operation::Flush] {
//!     let id = media.begin(&operation)?;
//!     assert!(media.complete(id, &mut operation).result.is_ok());
//! }
//! let acknowledged = media.position();
//! let recordings = [media.recording().ok_or("it is recorded")?];
//! for image in CrashImages::new(&recordings, PowerCut { choices: 10, ..PowerCut::seeded(1) }) {
//!     let recovering = Media::on(image.contents[0].clone()).recorded();
//!     let must_be_there = image.cut >= acknowledged;
//!     # let _ = (recovering, must_be_there);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contents;
mod device;
mod dice;
pub mod faults;
mod images;
mod operate;
mod page;
mod pattern;
mod pending;
mod recording;
mod replay;
mod survivors;
mod trie;
mod world;

pub use contents::Contents;
pub use device::{AfterDiscard, Media, WriteCache};
pub use faults::{Fault, FaultFile, FaultFileError, FaultPlan, FaultRule, When};
pub use images::{CrashImage, CrashImages};
pub use pending::{OperationId, Outcome};
pub use recording::{Recording, Sequence};
pub use survivors::{PowerCut, Tearing};
pub use world::{MediaWorld, SharedMedia};
