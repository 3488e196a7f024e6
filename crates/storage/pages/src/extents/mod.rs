//! What all policies share that write extents: the copies of their ledger, and what an opening reads.

mod copies;
mod fit;
mod rotation;
mod scan;

pub(crate) use copies::{write_copy, write_first};
pub(crate) use fit::fitting_pages;
pub(crate) use rotation::{Counts, Rotation, Stamp};
pub(crate) use scan::{ChainLink, Followed, Link, Scan};
