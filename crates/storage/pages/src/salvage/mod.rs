//! Examines a store that may be damaged anywhere, and saves what is sound of it.
//!
//! An opening stops at the first damage that it can't pass over. An [`Inspection`] goes on: it looks at each copy of each
//! structure by itself, block by block where the device can't read, puts together what is left of them, and then holds every
//! page against its checksum. It goes in steps, each a request of a megabyte or less, so that the caller decides on the pace
//! and can stop. It never writes to the store that it examines.
//!
//! ```text
//! labels ──► ledgers, close marks ──► checksums │ saved map ──► headers of the area ──► pages
//!                                          (what each says is put together here) ──┘
//! ```
//!
//! A page's contents come from where the newest version lies that is known. If those aren't whole, any other place will do that
//! holds the same, and else an older version that is whole. Where extents that were durable are missing, any page that they
//! may have held is doubtful: its newest known contents are whole, and may be older than the last commit.
//!
//! Memory: four bytes for each page that there is room for, and about 40 for each version of a page in the staging area; of an
//! out-of-place store, about 200 bytes for each page.

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
