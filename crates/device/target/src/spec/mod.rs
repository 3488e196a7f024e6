//! What a user may name, as text and as a type.
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
//! Only inside a list and behind `model:` have `,` and a trailing `*count` a meaning, only behind `model:` has `:`, and
//! there a backslash takes it from the character behind it. A path that begins with `model:` is written `./model:…`. An array inside an
//! array is refused: what it would be good for, `raid10` does.

mod model;
mod parse;
mod print;

use std::path::PathBuf;

pub use model::{ModelName, ModelSpec, StateSpec};
pub use parse::SpecError;

/// What the user named. See the [module](self) for how it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSpec {
    /// A directory, a file or a block device; which one is found out when it is opened.
    Path(PathBuf),
    /// A modelled drive.
    Model(ModelSpec),
    /// Some number of the same, at least 2. Paths are repeated inside arrays alone.
    Repeat {
        /// What is repeated: a path or a model.
        target: Box<TargetSpec>,
        /// How often.
        count: u32,
    },
    /// An array in software.
    Array(ArraySpec),
}

/// An array as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArraySpec {
    /// How it places data.
    pub level: ArrayLevel,
    /// Bytes on one member before the next one's turn comes; a multiple of 512.
    pub chunk_bytes: u64,
    /// The members, repeats not yet expanded.
    pub members: Vec<TargetSpec>,
}

/// How an array places data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayLevel {
    /// Striped over all members.
    Raid0,
    /// Striped over pairs of members that mirror each other.
    Raid10,
}

impl ArrayLevel {
    /// The word before the first colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "raid0",
            Self::Raid10 => "raid10",
        }
    }
}

impl TargetSpec {
    /// The single targets behind it, in the order of their use: an array's members with repeats expanded.
    pub fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::Path(_) | Self::Model(_) => vec![self],
            Self::Repeat { target, count } => vec![target.as_ref(); *count as usize],
            Self::Array(array) => array.members.iter().flat_map(Self::leaves).collect(),
        }
    }
}

impl ArraySpec {
    /// How many members it has, repeats counted.
    pub fn members_count(&self) -> u64 {
        let count = |member: &TargetSpec| match member {
            TargetSpec::Repeat { count, .. } => u64::from(*count),
            _ => 1,
        };
        self.members.iter().map(count).sum()
    }
}
