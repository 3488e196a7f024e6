//! External sort and hash join within a fixed memory budget. Request sizes, queue depth and fan-in
//! on temporary space are chosen from the measured performance of the device. Rows are bytes: a
//! [key](keys) that sorts by `memcmp`, and a payload. It must never use more memory than its
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
pub use sort::{Combine, ParallelSort, SortOptions, SortOutput, SortReport, Sorted, SortedPart, Sorter};
pub use space::Place;
