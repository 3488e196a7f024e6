//! Hybrid hash join and merge join of rows with equal keys.
//!
//! ```text
//! build rows ─► hybrid: table in memory ─► probe rows of resident partitions ───────────────────► rows of the result
//!                 │ written partitions              │ probe rows of written partitions             ▲
//!                 ▼                                 ▼                                              │
//!               partition of the build side + partition of the probe side = pair ─► in memory, in pieces, or divided again
//! ```

mod decision;
mod env;
mod estimate;
mod filter;
mod hashing;
mod hybrid;
mod joiner;
mod matching;
mod merge_join;
mod options;
mod pairs;
mod partition;
mod pieces;
mod plan;
mod report;
mod sink;
mod table;

pub use self::hashing::share_of;
pub use self::joiner::{Joiner, Probing};
pub use self::merge_join::{MergeJoinReport, merge_join};
pub use self::options::{JoinKind, JoinOptions};
pub use self::plan::JoinPlan;
pub use self::report::JoinReport;
pub use self::sink::JoinSink;
