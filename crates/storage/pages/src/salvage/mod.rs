//! Inspects a store with any damage, and salvages its intact pages.
//!
//! An opening stops at the first damage that it can't tolerate. An [`Inspection`] continues: it
//! reads each copy of each structure separately, block by block around media errors, combines what
//! remains, and checks every page against its checksum. It proceeds in steps of at most one request
//! of a megabyte, so that the caller controls the pace and can stop. It never writes to the
//! inspected store.
//!
//! ```text
//! labels ──► ledgers, close marks ──► checksums │ saved map ──► headers of the area ──► pages
//!                                          (what each says is put together here) ──┘
//! ```
//!
//! A page's contents come from the place of its newest known version. If that is damaged, any other
//! place with the same version is used, otherwise an intact older version. If durable extents are
//! missing, all pages that they may have held are doubtful: their newest known contents are intact,
//! but may be older than the last commit.
//!
//! Memory: four bytes per possible page, and about 40 per version of a page in the staging area;
//! about 200 bytes per page of an out-of-place store.

mod evidence;
mod file;
mod finding;
mod inspection;
mod judge;
mod labels;
mod like;
mod page_set;
mod piece;
mod report;
mod tasks;

pub(crate) use evidence::{
    CopyState, Doubt, Resolved, TailExtent, Version, at_block, finding, ledger_findings, newest,
};
pub use file::{FileInspection, Salvage};
pub use finding::{Finding, Problem, Severity, Structure};
pub use inspection::{InspectOptions, Inspection, Stepped};
pub(crate) use like::like;
pub use page_set::PageSet;
pub(crate) use piece::problem_of;
pub use report::{PageState, Report};
