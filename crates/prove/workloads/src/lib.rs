//! Database workloads that use temporary space: a sort and a join of generated rows, on any
//! devices. Input and output are sequential; the temporary data between them is managed by
//! `nandle-spill`. A run depends only on its arguments and on the devices' times. It must never
//! read a clock of its own, name a target, or print.
//!
//! The experiment follows Lee, Moon, Park, Kim and Kim, "A Case for Flash Memory SSD in Enterprise
//! Database Applications" (SIGMOD 2008), section 5. It sorts 2 million rows of 100 bytes, and joins
//! two tables of 200 MB, in 2 MB of memory.
//!
//! Only requests take time. On modelled drives time is virtual, and includes processor time only as
//! the host's cost of a request. A device that keeps no contents can't return rows to sort. For
//! such devices, rows are generated from the seed while the reads of the input take their time
//! ([`InputContents::Generated`]). Every result is checked for order, count, and a checksum of all
//! rows.

mod areas;
mod costs;
mod data;
mod devices;
mod error;
mod input;
mod joining;
mod outcome;
mod output;
mod pattern;
mod place;
mod recorder;
mod run;
mod sorting;
mod workload;

pub use areas::{AREA_GRAIN_BYTES, Areas};
pub use costs::measure_costs;
pub use devices::{Area, InputContents, Role, World};
pub use error::WorkloadError;
pub use outcome::{
    AreaFigures, JoinFigures, Outcome, Phase, SortFigures, WORKLOAD_SCHEMA_VERSION, WorkloadFile, WorkloadRun,
};
pub use pattern::{PATTERN_POINTS_MAX, Pattern, PatternPoint};
pub use place::{
    ClusterCell, ClusterRow, Finding, PLACE_SCHEMA_VERSION, PlaceFile, Placement, PlacementRow, findings,
};
pub use run::{fill, run};
pub use workload::{Operator, Workload, cluster_sizes};
