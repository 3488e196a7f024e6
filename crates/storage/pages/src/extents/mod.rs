//! Parts shared by all policies that write extents: copies of the ledger, and scans by an opening.

mod copies;
mod fit;
mod rotation;
mod scan;

pub(crate) use copies::{write_copy, write_first};
pub(crate) use fit::fitting_pages;
pub(crate) use rotation::{Counts, Rotation, Stamp};
pub(crate) use scan::{ChainLink, Followed, Link, Scan};
