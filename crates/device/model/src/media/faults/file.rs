//! Faults in a user's TOML file:
//!
//! ```toml
//! seed = 7                      # of all randomness; default 0
//! write_cache = "protected"     # or "volatile", or { lying = { held_bytes = 1048576 } }; default: the drive's own
//! after_discard = "zeros"       # or "garbage", the default
//! space_bytes = 1073741824      # space for written blocks; default: all
//!
//! [[fault]]
//! kind = "failed-read"          # failed-write, failed-flush, damaged-write, damaged-read, misdirected-write, lost-write,
//!                               # stale-read, no-space, latency-spike
//! per_million = 10              # of blocks, or of operations; or: operation = 1000, the number of one operation
//! lasts = "sticky"              # or "once", the default; for failures only
//! extra_ns = 5000000            # for latency-spike only
//! offset_bytes = 0              # start of the affected range; default: everywhere
//! length_bytes = 1048576
//! ```

use std::ops::Range;

use serde::Deserialize;

use super::super::device::{AfterDiscard, Media, WriteCache};
use super::{Fault, FaultPlan, Lasts, When};

/// Faults of drives, as in a user's file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    write_cache: Option<WriteCache>,
    #[serde(default)]
    after_discard: AfterDiscard,
    #[serde(default)]
    space_bytes: Option<u64>,
    #[serde(default)]
    fault: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    kind: Kind,
    per_million: Option<u32>,
    operation: Option<u64>,
    lasts: Option<Lasts>,
    extra_ns: Option<u64>,
    offset_bytes: Option<u64>,
    length_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    FailedRead,
    FailedWrite,
    FailedFlush,
    DamagedWrite,
    DamagedRead,
    MisdirectedWrite,
    LostWrite,
    StaleRead,
    NoSpace,
    LatencySpike,
}

/// Reasons why a text is no fault file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FaultFileError {
    /// The text is not TOML, or a field is missing, unknown or of a wrong type.
    #[error("{source}")]
    Syntax {
        /// The parser's message, with line and column and what would be right.
        source: Box<toml::de::Error>,
    },
    /// The fields of a fault don't go together.
    #[error("fault {number} ({kind}): {what}")]
    Rule {
        /// Number of the fault in the file, from 1.
        number: usize,
        /// Kind of the fault.
        kind: &'static str,
        /// The problem and its solution.
        what: &'static str,
    },
}

impl FaultFile {
    /// Parses a text of the form above.
    ///
    /// # Errors
    /// Names the wrong field and a valid value.
    pub fn from_toml(text: &str) -> Result<Self, FaultFileError> {
        let file: Self =
            toml::from_str(text).map_err(|source| FaultFileError::Syntax { source: Box::new(source) })?;
        for (number, rule) in (1..).zip(&file.fault) {
            rule.check().map_err(|what| FaultFileError::Rule { number, kind: rule.kind.name(), what })?;
        }
        Ok(file)
    }

    /// Puts the faults on the media of one of several drives. Each drive has its own randomness.
    #[must_use]
    pub fn on(&self, media: Media, drive: u64) -> Media {
        let block_bytes = media.contents().logical_block_bytes();
        let none = FaultPlan::seeded(self.seed);
        let plan = self.fault.iter().fold(none, |plan, rule| rule.onto(plan, block_bytes));
        let media = match self.write_cache {
            Some(cache) => media.with_cache(cache),
            None => media,
        };
        debug_assert_eq!(plan.rules.len(), self.fault.len(), "each fault of the file is on the drive");
        let space_blocks = self.space_bytes.map_or(u64::MAX, |bytes| bytes / block_bytes);
        media.with_discards(self.after_discard).with_space(space_blocks).with_faults(plan.for_device(drive))
    }
}

impl Kind {
    /// Name in the file.
    fn name(self) -> &'static str {
        match self {
            Self::FailedRead => "failed-read",
            Self::FailedWrite => "failed-write",
            Self::FailedFlush => "failed-flush",
            Self::DamagedWrite => "damaged-write",
            Self::DamagedRead => "damaged-read",
            Self::MisdirectedWrite => "misdirected-write",
            Self::LostWrite => "lost-write",
            Self::StaleRead => "stale-read",
            Self::NoSpace => "no-space",
            Self::LatencySpike => "latency-spike",
        }
    }
}

impl Rule {
    fn check(&self) -> Result<(), &'static str> {
        let fails = matches!(self.kind, Kind::FailedRead | Kind::FailedWrite | Kind::FailedFlush);
        match (self.per_million, self.operation) {
            (None, None) => return Err("it never strikes; expected per_million = N or operation = N"),
            (Some(_), Some(_)) => return Err("it has per_million and operation; expected one of them"),
            (Some(1_000_001..), None) => return Err("per_million is above 1000000, which is always"),
            _ => {}
        }
        if self.lasts.is_some() && !fails {
            return Err("only failures (failed-read, failed-write, failed-flush) have lasts; leave it out");
        }
        match (self.kind == Kind::LatencySpike, self.extra_ns) {
            (true, None) => Err("expected extra_ns = N, by how much an operation takes longer"),
            (false, Some(_)) => Err("only a latency-spike has extra_ns; leave it out"),
            _ => Ok(()),
        }
    }

    fn onto(&self, plan: FaultPlan, block_bytes: u64) -> FaultPlan {
        debug_assert_eq!(self.check(), Ok(()), "rules are checked when they are read");
        let per_million = When::PerMillion(self.per_million.unwrap_or(0));
        plan.and_on(
            self.blocks(block_bytes),
            self.fault(),
            self.operation.map_or(per_million, When::Operation),
        )
    }

    fn fault(&self) -> Fault {
        let lasts = self.lasts.unwrap_or(Lasts::Once);
        match self.kind {
            Kind::FailedRead => Fault::FailedRead(lasts),
            Kind::FailedWrite => Fault::FailedWrite(lasts),
            Kind::FailedFlush => Fault::FailedFlush(lasts),
            Kind::DamagedWrite => Fault::DamagedWrite,
            Kind::DamagedRead => Fault::DamagedRead,
            Kind::MisdirectedWrite => Fault::MisdirectedWrite,
            Kind::LostWrite => Fault::LostWrite,
            Kind::StaleRead => Fault::StaleRead,
            Kind::NoSpace => Fault::NoSpace,
            Kind::LatencySpike => Fault::LatencySpike { extra_ns: self.extra_ns.unwrap_or(0) },
        }
    }

    fn blocks(&self, block_bytes: u64) -> Range<u64> {
        let first_bytes = self.offset_bytes.unwrap_or(0);
        let end_bytes = self.length_bytes.map_or(u64::MAX, |length| first_bytes.saturating_add(length));
        debug_assert!(first_bytes <= end_bytes, "bytes from {first_bytes} to {end_bytes}");
        first_bytes / block_bytes..end_bytes.div_ceil(block_bytes)
    }
}
