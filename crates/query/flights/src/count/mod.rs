//! Exact counting of rows by groups in a stated amount of memory.
//!
//! ```text
//! codes ─► keys ─┬─► few cells: an array ──────────────────────────────────────────┐
//!                ├─► partitions ─(limit)─► groups ─(memory full)─► sorted runs ────┤
//!                ├─► by values of a column (months), complete after its row groups ┤
//!                └─► sorted by the dimensions: one group at a time ────────────────┤
//!                                               batches of values and counts ◄─────┘
//! ```

mod by_value;
mod codes;
mod counter;
mod dense;
mod error;
mod memory;
mod partitions;
mod results;
mod shares;
mod sorted;
mod space;
mod table;

pub(crate) use self::by_value::{Finished, ValuePart, Values};
pub use self::codes::{CodeBatch, CodeColumn, Shifted};
pub use self::counter::{Counter, Counts};
pub use self::error::CountError;
pub use self::memory::MemoryCounter;
pub use self::results::{CountMethod, CountReport, MemoryCounts};
pub(crate) use self::shares::Shares;
pub use self::sorted::SortedCounter;
pub use self::space::KeySpace;

/// Approximate number of groups per batch of results.
const RESULT_GROUPS: usize = 1 << 13;
