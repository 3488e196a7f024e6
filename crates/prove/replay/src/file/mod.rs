//! Result of a replay, as written by `nandle replay --json`: one JSON object, in which every key of
//! a figure ends in its unit.
//!
//! `schema_version` is the first key. It rises when a key changes its meaning or disappears. A key
//! may be added without a new version, if it is `null` for older files. Files of this version and
//! all earlier ones can be read; later ones are refused.

mod costs;
mod decision;
mod omitted;
pub(crate) mod policy_name;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod words;

use serde::{Deserialize, Serialize};

pub use self::costs::{CostFigure, WriteCostsUsed};
pub use self::decision::{PolicyDecision, PolicyTime};
pub use self::omitted::OmittedPolicy;
pub use self::read::{REPLAY_BYTES_MAX, ReplayFileError, ResultKind, read_play, read_replay};
#[cfg(feature = "schema")]
pub use self::schema::replay_schema;

use crate::{CompactionFigures, Durability, PolicyOutcome};

/// Schema version of a replay's JSON.
pub const REPLAY_SCHEMA_VERSION: u32 = 2;

/// A replay: its trace, its target, and the figures of each policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayFile {
    /// Schema version: [`REPLAY_SCHEMA_VERSION`] of the program that wrote the file.
    pub schema_version: u32,
    /// Trace, as named by the user.
    pub trace: String,
    /// Target, as named by the user.
    pub target: String,
    /// Writes of the trace; each is a batch of pages.
    pub trace_writes: u64,
    /// Page writes.
    pub page_writes: u64,
    /// Passes over the trace; `null` in older files, which have one. `trace_writes` and
    /// `page_writes` count a single pass.
    #[serde(default)]
    pub passes: Option<u32>,
    /// Pages written before the replay, not included in any figure; `null` in older files, which
    /// have none.
    #[serde(default)]
    pub filled_pages: Option<u64>,
    /// Runs of each policy; `null` in older files, which have one.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// Pages of a store.
    pub pages: u64,
    /// Length of a page, in bytes.
    pub page_bytes: u64,
    /// Point at which a write had to be durable.
    pub durability: Durability,
    /// Concurrent writes.
    pub queue_depth: u32,
    /// Share of each page that compresses to almost nothing, in percent.
    pub compressible_percent: u8,
    /// True if `out-of-place` compresses pages.
    pub compresses: bool,
    /// Mapping of the trace's addresses.
    pub addresses: AddressesUsed,
    /// True if addresses beyond the end of the target were folded back.
    pub wrapped: bool,
    /// Size to which a modelled target was enlarged for the work; `null` if it wasn't.
    pub enlarged_to_bytes: Option<u64>,
    /// Damaged lines of the trace that were skipped.
    pub bad_lines: u64,
    /// Write costs given to the policies.
    pub write_costs: WriteCostsUsed,
    /// Remarks for readers of the figures, each a sentence.
    pub remarks: Vec<String>,
    /// Figures of each policy.
    pub policies: Vec<PolicyOutcome>,
    /// Policies without figures.
    pub left_out: Vec<OmittedPolicy>,
    /// Recommended policy; `null` if only one policy ran, and in older files.
    #[serde(default)]
    pub decision: Option<PolicyDecision>,
}

/// Mapping of a trace's addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum AddressesUsed {
    /// Written areas were placed side by side.
    Compact {
        /// Length of an area, in bytes.
        area_bytes: u64,
        /// Number of written areas.
        area_count: u64,
        /// Bytes before and between the areas, which were omitted.
        left_out_bytes: u64,
    },
    /// The trace's addresses were kept.
    Keep,
}

impl From<Option<CompactionFigures>> for AddressesUsed {
    fn from(compacted: Option<CompactionFigures>) -> Self {
        compacted.map_or(Self::Keep, |CompactionFigures { area_bytes, areas, left_out_bytes }| {
            Self::Compact { area_bytes, area_count: areas, left_out_bytes }
        })
    }
}
