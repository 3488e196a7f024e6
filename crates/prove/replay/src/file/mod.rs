//! The result of a replay as `nandle replay --json` writes it: one JSON object, in which every key of a figure ends in its unit.
//!
//! `schema_version` is the first key. It rises when a key changes its meaning or disappears; a key may be added without that,
//! when it is `null` where an older file lacks it. Files of every version up to the present one are read, later ones are
//! refused.

mod costs;
mod decision;
mod left_out;
pub(crate) mod policy_name;
mod read;
#[cfg(feature = "schema")]
mod schema;
mod words;

use serde::{Deserialize, Serialize};

pub use self::costs::{CostFigure, WriteCostsUsed};
pub use self::decision::{PolicyDecision, PolicyTime};
pub use self::left_out::LeftOut;
pub use self::read::{REPLAY_BYTES_MAX, ReplayFileError, ResultKind, read_play, read_replay};
#[cfg(feature = "schema")]
pub use self::schema::replay_schema;

use crate::{Compacted, Durability, PolicyOutcome};

/// Version of the replay's JSON.
pub const REPLAY_SCHEMA_VERSION: u32 = 2;

/// A replay: what of, on what, and what it took under each policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayFile {
    /// [`REPLAY_SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The trace as the user named it.
    pub trace: String,
    /// The target as the user named it.
    pub target: String,
    /// Writes of the trace, of which each is a batch of pages.
    pub trace_writes: u64,
    /// Page writes.
    pub page_writes: u64,
    /// How often the trace was gone through; `null` in older files, of which each was once. `trace_writes` and `page_writes` are of
    /// one pass.
    #[serde(default)]
    pub passes: Option<u32>,
    /// Pages that were written before, which is part of no figure; `null` in older files, where none were.
    #[serde(default)]
    pub filled_pages: Option<u64>,
    /// How often each policy ran; `null` in older files, where each ran once.
    #[serde(default)]
    pub repeats: Option<u32>,
    /// Pages of a store.
    pub pages: u64,
    /// Length of a page.
    pub page_bytes: u64,
    /// When a write had to be durable.
    pub durability: Durability,
    /// Writes under way at the same time.
    pub queue_depth: u32,
    /// The part of each page's contents that compresses to nothing.
    pub compressible_percent: u8,
    /// Whether `out-of-place` compresses.
    pub compresses: bool,
    /// What became of the trace's addresses.
    pub addresses: AddressesUsed,
    /// Whether addresses beyond the target's end were folded back into it.
    pub wrapped: bool,
    /// What a modelled target was made as large as for the work; `null` where it is as it was named.
    pub enlarged_to_bytes: Option<u64>,
    /// Damaged lines of the trace that were passed over.
    pub bad_lines: u64,
    /// What the policies were told that writing costs.
    pub write_costs: WriteCostsUsed,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
    /// What each policy took.
    pub policies: Vec<PolicyOutcome>,
    /// Policies without figures.
    pub left_out: Vec<LeftOut>,
    /// Which policy to use; `null` where only one ran, and in older files.
    #[serde(default)]
    pub decision: Option<PolicyDecision>,
}

/// What became of the trace's addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum AddressesUsed {
    /// Areas that are written lie side by side.
    Compact {
        /// Bytes of an area.
        area_bytes: u64,
        /// Areas that are written to.
        area_count: u64,
        /// Bytes before and between them, which are left out.
        left_out_bytes: u64,
    },
    /// They are the trace's.
    Keep,
}

impl From<Option<Compacted>> for AddressesUsed {
    fn from(compacted: Option<Compacted>) -> Self {
        compacted.map_or(Self::Keep, |Compacted { area_bytes, areas, left_out_bytes }| Self::Compact {
            area_bytes,
            area_count: areas,
            left_out_bytes,
        })
    }
}
