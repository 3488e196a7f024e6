//! What is stored on a modelled device, what of it is still volatile, and everything that can go wrong with it.
//! Media knows no time: a world tells it when an operation [begins](Media::begin) and
//! [completes](Media::complete), and [timing](crate::timing) decides when that is. A run that only wants timing
//! makes no media at all.
//!
//! - [`Contents`] are blocks, copy-on-write: a clone is a snapshot and costs as much as a counter.
//! - [`Media`] is a device's contents under operations, with the faults of a [`FaultPlan`]. The
//!   [fault model](faults) is written out in full at the top of its file.
//! - A [`Recording`] holds what a run did to the media, once. [`CrashImages`] makes of it what each power cut could
//!   have left, without running again. An image is [`Contents`]: recovery runs on [`Media`] made of it, which is
//!   recorded, and cut, like any other.
//! - [`MediaWorld`] puts media behind the [`Io`](nandle_io::Io) interface, around any world that knows the time.
//!   [`MediaWorld::modelled`] is the one for modelled drives.
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
