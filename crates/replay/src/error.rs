use nandle_io::ArenaError;
use nandle_io::units::format_bytes;
use nandle_pages::{PageError, PolicyKind};
use nandle_trace::TraceError;

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
    /// The trace writes behind the end of what it may use.
    #[error(
        "the trace writes to byte {address} ({}, event {event}), and the target has room for {} of pages; --wrap \
         folds addresses back into the target; or name a larger one (a modelled flash drive: model:NAME:capacity=16GiB; a file \
         that doesn't exist yet is made as large as the work needs)",
        format_bytes(*address), format_bytes(*room_bytes)
    )]
    BeyondTarget {
        /// The first address that lies beyond.
        address: u64,
        /// Counted from 1.
        event: u64,
        /// Bytes of pages that fit.
        room_bytes: u64,
    },
    /// The target is too small for the trace, and too small to fold its addresses into.
    #[error(
        "the trace writes to byte {address} ({}, event {event}), and the target has room for {} of pages beside \
         what the stores need for themselves; even to fold addresses back (--wrap) takes {}: name a larger target \
         or a smaller --buffer",
        format_bytes(*address), format_bytes(*room_bytes), format_bytes(*least_bytes)
    )]
    TargetTooSmall {
        /// The first address that lies beyond.
        address: u64,
        /// Counted from 1.
        event: u64,
        /// Bytes of pages that fit.
        room_bytes: u64,
        /// Bytes of pages that would do.
        least_bytes: u64,
    },
    /// A write is longer than the store's memory.
    #[error(
        "the trace has a write of {pages} pages (event {event}), and {most} at most can be replayed as one; a larger --page \
         makes it fewer"
    )]
    LongWrite {
        /// Its length.
        pages: u64,
        /// Counted from 1.
        event: u64,
        /// The most.
        most: u64,
    },
    /// A store failed.
    #[error("{policy}, {action}: {source}")]
    Store {
        /// Whose store.
        policy: PolicyKind,
        /// What was being done.
        action: &'static str,
        /// What the store said.
        source: PageError,
    },
    /// No memory for the stores' pages.
    #[error("memory for pages: {0}")]
    Memory(#[from] ArenaError),
    /// A page doesn't hold what was written to it last.
    #[error(
        "{policy}: page {page} does not hold what was written to it last; the store or the device lost a write"
    )]
    Lost {
        /// Whose store.
        policy: PolicyKind,
        /// Which page.
        page: u64,
    },
    /// Whoever watches wants it to end.
    #[error("interrupted")]
    Cancelled,
}
