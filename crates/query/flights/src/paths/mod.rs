//! Paths to a cube: counting the columns of a table ([`scan_cube`]), counting a projection sorted
//! by the cube's columns ([`sorted_cube`]), and reading the leaves of a covering B-tree one by one
//! ([`Btree::recorded`](crate::Btree::recorded)). Each produces a
//! [`RecordedQuery`](nandle_reads::recording::RecordedQuery), which can be replayed on another
//! device.

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

/// Processor time of the calling thread from an arbitrary origin. Libraries don't read clocks;
/// callers provide them.
pub type ThreadClock = fn() -> Nanos;
