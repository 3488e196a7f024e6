use nandle_io::ArenaError;
use nandle_pages::{PageError, PolicyKind};
use nandle_trace::TraceError;
use nandle_units::format_bytes;

use crate::Work;

/// A replay could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace can't be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// There is nothing to replay.
    #[error("the trace has no writes, so there is nothing to replay")]
    NoWrites,
    /// The work needs more than there is.
    #[error(
        "the trace's writes need {} of pages{}, and the target has room for {}; --wrap folds addresses back into the \
         target; or {}name a larger one (a modelled flash drive: model:NAME:capacity=16GiB; a file that doesn't exist yet is \
         made as large as the work needs)",
        format_bytes(*needed_bytes), way(*kept), format_bytes(*room_bytes), other_way(*kept)
    )]
    BeyondTarget {
        /// Bytes of pages that the work needs.
        needed_bytes: u64,
        /// Bytes of pages that fit.
        room_bytes: u64,
        /// Whether addresses were kept as they are.
        kept: bool,
    },
    /// The target is too small for the trace, and too small to fold its addresses into.
    #[error(
        "the trace's writes need {} of pages, and the target has room for {} beside what the stores need for \
         themselves; even to fold addresses back (--wrap) takes {}: name a larger target or a smaller --buffer",
        format_bytes(*needed_bytes), format_bytes(*room_bytes), format_bytes(*least_bytes)
    )]
    TargetTooSmall {
        /// Bytes of pages that the work needs.
        needed_bytes: u64,
        /// Bytes of pages that fit.
        room_bytes: u64,
        /// Bytes of pages that would do.
        least_bytes: u64,
    },
    /// More versions of a page would be written than are told apart.
    #[error(
        "a page is written {of_a_pass} times a pass, and no more than 2147483647 times in all can be told apart; \
         --passes of {passes_max} is the most"
    )]
    TooManyVersions {
        /// How often the page is written that is written most often in a pass.
        of_a_pass: u64,
        /// The most passes.
        passes_max: u64,
    },
    /// A store failed.
    #[error("{policy}, {action}: {source}")]
    Store {
        /// Of which policy.
        policy: PolicyKind,
        /// What was being done.
        action: &'static str,
        /// What the store said.
        source: Box<PageError>,
    },
    /// No memory for the stores' pages.
    #[error("memory for pages: {0}")]
    Memory(#[from] ArenaError),
    /// A page doesn't hold what was written to it last.
    #[error(
        "{policy}: page {page} does not hold what was written to it last; the store or the device lost a write"
    )]
    Lost {
        /// Of which policy.
        policy: PolicyKind,
        /// Which page.
        page: u64,
    },
    /// The watcher wants it to end.
    #[error("interrupted")]
    Cancelled,
}

impl ReplayError {
    /// The work doesn't fit a target that has room for so many pages.
    pub fn no_room(work: &Work, pages_max: u64) -> Self {
        crate::fold::refuse(work, pages_max)
    }
}

fn way(kept: bool) -> &'static str {
    if kept { " where they are" } else { ", although the areas between them are left out" }
}

fn other_way(kept: bool) -> &'static str {
    if kept { "leave out --addresses keep, or " } else { "" }
}
