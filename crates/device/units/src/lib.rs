//! Human-readable sizes and times (`4KiB`, `64MiB`, `250us`, `1m30s`), time as an integer, and the
//! checksum of all formats. This is the lowest crate of the workspace: it is pure and must never
//! depend on another of its crates, do I/O, or read a clock.

mod bytes;
mod checksum;
mod counted;
mod duration;
mod nanos;
mod number;
mod shell;
mod thousands;
mod words;

pub use bytes::{format_bytes, format_bytes_exact, parse_bytes};
pub use checksum::{checksum, extend_checksum};
pub use counted::{counted, thousands};
pub use duration::{format_duration, parse_duration};
pub use nanos::Nanos;
pub use shell::quoted;
pub use thousands::group_thousands;
pub use words::wrapped;

/// The text isn't a valid size or time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} {why}; expected {expected}")]
pub struct UnitError {
    /// The rejected text.
    pub text: String,
    /// Problem of the text.
    pub why: &'static str,
    /// Description of valid texts.
    pub expected: &'static str,
}
