//! Tables of Parquet files that are laid out for a device and read by plan. [`Table`] is a
//! directory of such files with snapshots. A [`ScanPlan`] lists the bytes that a scan of columns
//! and predicates needs. [`BatchDecoder`] and [`CodeDecoder`] decode rows from these bytes,
//! whichever way they were read. Parquet of other writers is read in place. The crate must never
//! read the system's clock.

mod directory;
mod error;
mod files;
mod guard;
mod layout;
mod number;
mod read;
mod sums;
mod table;

pub use self::directory::{ColumnSpec, FileEntry, Manifest, ProfileIdentity, Projection, Run, SumsEntry};
pub use self::error::{ColumnsError, Place};
pub use self::files::{Files, Held, ReadAt, RealFiles, Sharing, Stopped, Watch, WatchedFiles, WriteFile};
pub use self::guard::{catch_panic, panic_is_caught};
pub use self::layout::{Clustering, ColumnLayout, Layout, LayoutFigures};
pub use self::read::{
    BatchDecoder, CodeBatch, CodeColumn, CodeDecoder, CodeRun, Codes, DirectBytes, NULL_CODE, ParquetFile,
    Predicate, PumpedBytes, ScanPlan, ScanSpec, StepBytes, StepData, StreamedBytes, for_text, greatest_code,
};
pub use self::sums::{BLOCK_BYTES, SumMismatch, Sums};
pub use self::table::{
    AdoptOptions, Adoption, Commit, Snapshot, Table, TableOptions, TableProfile, TableWriter,
};
