//! Scans that leave this process. Where a query is planned a scan becomes parts ([`ScanLeaf`]): the engine's own Parquet source over stretches of files
//! that are called by their table, its state and their number. Where a part arrives ([`Host`]) these names become that machine's files, if they are the
//! same data, and the scan is planned anew by what that machine's device costs. Nothing here knows how plans travel.

mod admitted;
mod host;
mod leaf;
mod name;
mod state;

pub use host::Host;
pub use leaf::{ScanLeaf, ScanPart};
pub(crate) use name::FileName;
pub(crate) use state::DataState;
