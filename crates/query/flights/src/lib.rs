//! Flight records: loading, generating, and the 69 cubes of the Dashboard paper. The crate must
//! never exceed its memory, or drop a bad row silently.
//!
//! Flights have [one schema](flight_schema) for all sources: [`CsvFlights`] reads both generations
//! of the publisher's files. A [`CubeQuery`] is one of the cubes; a [`Counter`] counts its groups
//! on packed codes.

mod btree;
mod columns;
mod count;
mod csv;
mod cubes;
mod error;
mod generate;
mod ipc;
mod paths;
mod rejects;
mod schema;

pub use btree::{Btree, BtreeError, BtreeOptions, IndexKind, Leaves, turning_share, with_jumps};
pub use count::{
    CodeBatch, CodeColumn, CountError, CountMethod, CountReport, Counter, Counts, KeySpace, MemoryCounter,
    MemoryCounts, Shifted, SortedCounter,
};
pub use csv::{CsvFlights, CsvOptions, CsvWriter, LoadReport, Source};
pub use cubes::{CubeQuery, Dimension, Fact, UnknownCube};
pub use error::LoadError;
pub use generate::{CubeCodes, Generator, LearnedError};
pub use ipc::{ArrowFile, ArrowFileError};
pub use paths::{
    Counting, CubeError, CubeReads, CubeResults, CubeRun, TemporarySpace, ThreadClock, column_chunks,
    scan_cube, sorted_cube,
};
pub use rejects::{BadRow, Reject, Rejects};
pub use schema::{Column, flight_schema};
