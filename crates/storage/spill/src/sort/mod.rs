//! External sorting.
//!
//! ```text
//! a sorter alone:   rows ─► workspace ─(full)─► sorted ─► run on the device ┐
//!                           the other one, being filled meanwhile            ├─► merge ─► … ─► the last merge ─► rows in order
//! several threads:  rows ─► workspace of one ─(full)─► sorted ─► run         │                or parts of it, by ranges of keys
//!                    └────► workspace of the next one, filled meanwhile ─► … ┘
//! ```

mod condense;
mod division;
mod finish;
mod full;
mod memory;
mod options;
mod order;
mod parallel;
mod parts;
mod runs;
mod shared;
mod sorted;
mod sorter;
mod spill;
mod workspace;

pub use self::finish::Finished;
pub(crate) use self::memory::MemoryRows;
pub use self::options::{Combine, SortOptions};
pub use self::parallel::ParallelSort;
pub use self::parts::SortedPart;
pub use self::sorted::{SortReport, Sorted};
pub use self::sorter::Sorter;
pub(crate) use self::workspace::Workspace;
