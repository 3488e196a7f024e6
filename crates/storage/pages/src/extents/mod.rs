//! What all policies share that write extents: one header block and the pages that it describes, each extent one more in
//! a chain of sequence numbers.

mod chain;
mod copies;
mod gather;
mod rotation;
mod scan;

pub(crate) use chain::Chain;
pub(crate) use copies::{write_copy, write_first};
pub(crate) use gather::Gather;
pub(crate) use rotation::{Counts, Rotation, Stamp};
pub(crate) use scan::{Followed, Link, Scan};
