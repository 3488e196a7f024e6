//! External merge sort.
//!
//! ```text
//! a single sorter:  rows ─► workspace ─(full)─► sorted ─► run on the device ┐
//!                           second workspace, being filled meanwhile         ├─► merge ─► … ─► last merge ─► rows in order
//! several threads:  rows ─► workspace of one ─(full)─► sorted ─► run         │             or parts of it, by key range
//!                    └────► workspace of the next one, filled meanwhile ─► … ┘
//! ```

mod condense;
mod division;
mod finish;
mod memory;
mod options;
mod order;
mod parallel;
mod parts;
mod pending_run;
mod runs;
mod shared;
mod sorted;
mod sorter;
mod spill;
mod workspace;

pub use self::finish::SortOutput;
pub(crate) use self::memory::MemoryRows;
pub use self::options::{Combine, SortOptions};
pub use self::parallel::ParallelSort;
pub use self::parts::SortedPart;
pub use self::sorted::{SortReport, Sorted};
pub use self::sorter::Sorter;
pub(crate) use self::workspace::Workspace;
