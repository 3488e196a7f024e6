//! Tables: which files they are, how those are opened, and what the engine is told of them.

mod open;
mod provider;
mod pumped;
mod schema;
mod source;

pub(crate) use open::TableFiles;
pub(crate) use provider::{FileOf, PlannedTable};
pub use source::Source;
