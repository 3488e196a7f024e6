//! Versions of pages, assembled from the remaining structures of a store.

use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::{Finding, Problem, Severity, Structure};
use super::{PageSet, piece::problem_of};
use crate::extents::Stamp;
use crate::label::Label;
use crate::{BLOCK_BYTES, PageNumber};

/// A version of a page on the device, with the checksum of its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) page: PageNumber,
    /// Sequence of its extent, or of the saved map that names it.
    pub(crate) sequence: u64,
    pub(crate) offset_bytes: u64,
    /// Length of a page, or less if compressed.
    pub(crate) stored_bytes: u32,
    pub(crate) sum: u32,
}

/// An extent that counts only if it and its group are complete.
#[derive(Debug, Clone)]
pub(crate) struct TailExtent {
    pub(crate) sequence: u64,
    pub(crate) is_last: bool,
    pub(crate) offset_bytes: u64,
    pub(crate) versions: Vec<Version>,
    pub(crate) discards: Vec<PageNumber>,
}

/// Loss of durable extents with unknown pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doubt {
    /// Sequence above which versions are certainly the newest.
    pub(crate) sound_above: u64,
    /// Maximum number of outdated pages.
    pub(crate) pages_max: u64,
}

/// Combined evidence of all structures.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// Newest version of each page away from home.
    pub(crate) newest: FxHashMap<PageNumber, Version>,
    /// Discarded pages, whose contents are unknown.
    pub(crate) discarded: FxHashSet<PageNumber>,
    /// All versions with a valid header.
    pub(crate) others: Vec<Version>,
    /// Later extents, in gapless order of sequences.
    pub(crate) tail: Vec<TailExtent>,
    pub(crate) doubt: Option<Doubt>,
    pub(crate) findings: Vec<Finding>,
    /// True if the store was closed; `None` if unknown.
    pub(crate) is_closed: Option<bool>,
    /// Pages with unknown places.
    pub(crate) unplaced: PageSet,
}

impl Resolved {
    /// Enters an extent, later than all before it.
    pub(crate) fn enter(
        &mut self,
        versions: impl IntoIterator<Item = Version>,
        discards: impl IntoIterator<Item = PageNumber>,
    ) {
        for version in versions {
            self.discarded.remove(&version.page);
            self.newest.insert(version.page, version);
        }
        for page in discards {
            self.newest.remove(&page);
            self.discarded.insert(page);
        }
    }

    /// Records the loss of durable extents.
    pub(crate) fn doubt(&mut self, sound_above: u64, pages: u64) {
        let before = self.doubt.unwrap_or(Doubt { sound_above: 0, pages_max: 0 });
        self.doubt = Some(Doubt {
            sound_above: before.sound_above.max(sound_above),
            pages_max: before.pages_max.saturating_add(pages),
        });
    }
}

/// A copy of a structure, as found.
#[derive(Debug, Clone)]
pub(crate) enum CopyState<T> {
    Valid(T),
    Invalid(Problem),
}

impl<T> CopyState<T> {
    pub(crate) fn of(bytes: Result<&[u8], Problem>, decode: impl FnOnce(&[u8]) -> Option<T>) -> Self {
        match bytes.ok().and_then(decode) {
            Some(valid) => Self::Valid(valid),
            None => Self::Invalid(problem_of(bytes)),
        }
    }

    pub(crate) fn valid(&self) -> Option<&T> {
        match self {
            Self::Valid(valid) => Some(valid),
            Self::Invalid(_) => None,
        }
    }

    pub(crate) fn problem(&self) -> Option<Problem> {
        match self {
            Self::Valid(_) => None,
            Self::Invalid(problem) => Some(*problem),
        }
    }
}

/// Newest valid copy of a ledger.
pub(crate) fn newest<L: Clone>(copies: &[CopyState<(Stamp, L)>]) -> Option<(Stamp, L)> {
    let valid = copies.iter().filter_map(CopyState::valid);
    valid.max_by_key(|(stamp, _)| stamp.generation).cloned()
}

/// Problems of the copies of a ledger.
pub(crate) fn ledger_findings<L>(
    label: &Label,
    copies: &[CopyState<(Stamp, L)>],
    is_closed: bool,
) -> Vec<Finding> {
    let generations = copies.iter().filter_map(CopyState::valid).map(|(stamp, _)| stamp.generation);
    let newest = generations.max();
    let mut findings = Vec::new();
    for (copy, state) in (0..).zip(copies) {
        let Some(problem) = state.problem() else { continue };
        let severity = match newest {
            None => Severity::Loss,
            // A young store hasn't written all copies yet.
            Some(newest) if problem == Problem::Zeroed && newest < copy => continue,
            Some(newest) => {
                let is_next = (newest + 1) % label.ledger_copies == copy;
                let may_be_torn = is_next && !is_closed && problem != Problem::Unreadable;
                if may_be_torn { Severity::Harmless } else { Severity::Redundant }
            }
        };
        let place = (label.ledger_at(copy), label.ledger_bytes);
        findings.push(finding(Structure::Ledger, problem, severity, place));
    }
    findings
}

/// A finding without pages.
pub(crate) fn finding(
    structure: Structure,
    problem: Problem,
    severity: Severity,
    (offset_bytes, length_bytes): (u64, u64),
) -> Finding {
    Finding {
        structure,
        problem,
        severity,
        offset_bytes,
        length_bytes,
        pages: PageSet::default(),
        header: false,
    }
}

/// Offset and length of a block.
pub(crate) fn at_block(offset_bytes: u64) -> (u64, u64) {
    (offset_bytes, BLOCK_BYTES as u64)
}
