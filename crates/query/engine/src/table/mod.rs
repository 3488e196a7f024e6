//! Tables: their files, how these are opened, and their metadata for the engine.

mod digest;
mod open;
mod owners;
mod partitions;
mod path;
mod pins;
mod provider;
mod pumped;
mod schema;
mod source;
mod version;

pub(crate) use open::{Access, TableFiles};
pub(crate) use owners::Owners;
pub use owners::ReadsState;
pub use partitions::Partitions;
pub(crate) use partitions::with_values;
pub(crate) use pins::{CurrentTables, pinned, unpinned};
pub(crate) use provider::{FileOf, PlannedTable};
pub use source::Source;
pub use version::Version;
