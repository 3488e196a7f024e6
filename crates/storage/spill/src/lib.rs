//! External sort and join in a stated memory, on temporary space whose request sizes, depth and fan-in follow from what a device was
//! measured to do. Rows are bytes: a [key](keys) that sorts by `memcmp`, and a payload. It must never take more memory than its
//! [`Budget`], read the system's clock, or leave anything behind.

mod budget;
mod costs;
mod error;
mod join;
pub mod keys;
mod merge;
mod rows;
mod sort;
mod space;

pub use budget::{BUDGET_BYTES_MIN, Budget};
pub use costs::{ReadCost, SpillCosts};
pub use error::SpillError;
pub use join::{
    JoinKind, JoinOptions, JoinPlan, JoinReport, JoinSink, Joiner, MergeJoinReport, Probing, merge_join,
    share_of,
};
pub use merge::MergePlan;
pub use rows::Row;
pub use sort::{Combine, Finished, ParallelSort, SortOptions, SortReport, Sorted, SortedPart, Sorter};
pub use space::Place;
