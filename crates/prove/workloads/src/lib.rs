//! Workloads that use temporary space as databases do, on any devices: a sort and a join of rows that a seed makes. The input is read
//! and the result is written sequentially, and what lies between is `nandle-spill`'s. A run is a function of its arguments and of the
//! devices' times: this crate must never read a clock of its own, name a target, or print.
//!
//! The experiment is that of Lee, Moon, Park, Kim and Kim, "A Case for Flash Memory SSD in Enterprise Database Applications" (SIGMOD
//! 2008), section 5: 2 million rows of 100 bytes are sorted, and two tables of 200 MB joined, in 2 MB of memory.
//!
//! What takes time is requests. On modelled drives time is virtual and the processor's isn't in it, but for what a request costs the
//! host. A device that keeps no contents gives back nothing that could be sorted: rows are then made from the seed while the reads of
//! the input take their time ([`InputContents::Generated`]). Every result is checked: the order, the count, and a sum over all rows.

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
