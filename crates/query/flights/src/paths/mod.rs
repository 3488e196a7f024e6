//! Ways to a cube: from a table's columns, counted ([`scan_cube`]), from a projection that is sorted by the cube's columns
//! ([`sorted_cube`]), and from a covering B-tree's leaves, one page after the other
//! ([`Btree::recorded`](crate::Btree::recorded)). Each makes a [`RecordedQuery`](nandle_reads::recording::RecordedQuery), by which it can be
//! played on another device.

mod domain;
mod error;
mod metered;
mod part;
mod report;
mod results;
mod scan;
mod sorted;
mod tables;
mod tally;
mod workers;

pub use self::error::CubeError;
pub use self::report::CubeRun;
pub use self::results::CubeResults;
pub use self::scan::{Counting, CubeReads, TemporarySpace, column_chunks, scan_cube};
pub use self::sorted::sorted_cube;

use nandle_io::Nanos;

/// Processor time of the calling thread since some moment. Libraries don't read clocks; who calls them has one.
pub type ThreadClock = fn() -> Nanos;
