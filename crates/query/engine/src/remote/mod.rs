//! Scans on other machines. The planning machine divides a scan into parts ([`ScanLeaf`]): the
//! engine's Parquet source over ranges of files, which are named by table, state and number. The
//! receiving machine ([`Host`]) resolves the names to local files, if these have the same data, and
//! plans the scan for its own device. This module doesn't depend on how plans are transferred.

mod admitted;
mod host;
mod leaf;
mod name;
mod state;

pub use host::Host;
pub use leaf::{ScanLeaf, ScanPart};
pub(crate) use name::FileName;
pub(crate) use state::DataState;
