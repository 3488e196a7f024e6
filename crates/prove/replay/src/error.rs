use nandle_io::ArenaError;
use nandle_pages::{PageError, PolicyKind};
use nandle_trace::TraceError;
use nandle_units::format_bytes;

use crate::Work;

/// Failure of a replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace can't be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace has nothing to replay.
    #[error("the trace has no writes, so there is nothing to replay")]
    NoWrites,
    /// The work needs more space than the target has.
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
        /// True if the trace's addresses were kept.
        kept: bool,
    },
    /// The target is too small, even for folded addresses.
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
        /// Minimum bytes of pages for folded addresses.
        least_bytes: u64,
    },
    /// The work writes more versions of a page than can be distinguished.
    #[error(
        "a page is written {of_a_pass} times a pass, and at most 2147483647 versions of a page can be distinguished; \
         use --passes {passes_max} or less"
    )]
    TooManyVersions {
        /// Writes per pass of the most-written page.
        of_a_pass: u64,
        /// Maximum number of passes.
        passes_max: u64,
    },
    /// A store failed.
    #[error("{policy}, {action}: {source}")]
    Store {
        /// Policy of the store.
        policy: PolicyKind,
        /// Action that failed.
        action: &'static str,
        /// Error of the store.
        source: Box<PageError>,
    },
    /// The system refused to map memory for pages.
    #[error("memory for pages: {0}")]
    Memory(#[from] ArenaError),
    /// A page doesn't hold its last contents.
    #[error("{policy}: page {page} does not hold its last contents; the store or the device lost a write")]
    Lost {
        /// Policy of the store.
        policy: PolicyKind,
        /// Number of the page.
        page: u64,
    },
    /// The watcher cancelled the replay.
    #[error("interrupted")]
    Cancelled,
}

impl ReplayError {
    /// Returns the error for work that doesn't fit a target of `pages_max` pages.
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
