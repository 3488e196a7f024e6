//! Sizes and times as people write them (`4KiB`, `64MiB`, `250us`, `1m30s`), time as an integer, and the checksum of all
//! formats. Pure, and the lowest crate: it must never depend on another of ours, do I/O, or read a clock.

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

/// A size or a time that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} {why}; expected {expected}")]
pub struct UnitError {
    /// What was given.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
    /// What would have been understood.
    pub expected: &'static str,
}
