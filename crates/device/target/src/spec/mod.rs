//! Targets as text and as a type.
//!
//! ```text
//! target := path                               a directory, a file or a block device, taken as it stands
//!         | model                              a modelled drive
//!         | "raid0:"  chunk ":" list           an array in software
//!         | "raid10:" chunk ":" list
//! model  := "model:" name {":" how} ["*" count]
//!                                              a drive of the library; one's own when it ends in .toml
//! how    := "capacity=" size                   a flash drive of another size, otherwise alike
//!         | "state=" ("new" | "filled" | percent "%" | path)
//!                                              how it begins; a path is a file that `nandle models age` wrote
//!         | "faults=" path                     what goes wrong on it
//! list   := member {"," member}
//! member := (path | model) ["*" count]         count of the same
//! chunk  := a size, such as 64KiB
//! ```
//!
//! The characters `,` and a trailing `*count` only have a meaning inside a list and after `model:`,
//! and `:` only after `model:`. There, a backslash makes the next character literal. A path that
//! starts with `model:` is written `./model:…`. Arrays of arrays are refused; `raid10` covers their
//! use.

mod model;
mod parse;
mod print;

use std::path::PathBuf;

pub use model::{ModelName, ModelSpec, StateSpec};
pub use parse::SpecError;

/// Target as named by the user. The [module](self) documents the syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSpec {
    /// Directory, file or block device; the kind is determined on opening.
    Path(PathBuf),
    /// A modelled drive.
    Model(ModelSpec),
    /// Several targets of the same kind, at least 2. Paths are only repeated inside arrays.
    Repeat {
        /// Repeated target: a path or a model.
        target: Box<TargetSpec>,
        /// Number of repeats.
        count: u32,
    },
    /// An array in software.
    Array(ArraySpec),
}

/// Array as named by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArraySpec {
    /// Placement of data.
    pub level: ArrayLevel,
    /// Chunk size in bytes, a multiple of 512.
    pub chunk_bytes: u64,
    /// Members before the expansion of repeats.
    pub members: Vec<TargetSpec>,
}

/// Placement of data in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayLevel {
    /// Striped over all members.
    Raid0,
    /// Striped over pairs of members that mirror each other.
    Raid10,
}

impl ArrayLevel {
    /// Keyword before the first colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "raid0",
            Self::Raid10 => "raid10",
        }
    }
}

impl TargetSpec {
    /// Single targets in order of use: an array's members with repeats expanded.
    pub fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::Path(_) | Self::Model(_) => vec![self],
            Self::Repeat { target, count } => vec![target.as_ref(); *count as usize],
            Self::Array(array) => array.members.iter().flat_map(Self::leaves).collect(),
        }
    }
}

impl ArraySpec {
    /// Number of members, with repeats expanded.
    pub fn members_count(&self) -> u64 {
        let count = |member: &TargetSpec| match member {
            TargetSpec::Repeat { count, .. } => u64::from(*count),
            _ => 1,
        };
        self.members.iter().map(count).sum()
    }
}
