//! What every command takes, and values that several read alike.

use clap::Args;
use nandle_io::Nanos;
use nandle_units::{parse_bytes, parse_duration};

/// What every command takes.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Common {
    /// Print the result as JSON on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
}

/// A size that bounds something.
pub(crate) fn positive_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes == 0 { Err("expected a size above 0".into()) } else { Ok(bytes) }
}

/// A share of something.
pub(crate) fn percent(text: &str) -> Result<u8, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| "expected 0% to 100%, in whole per cent".into())
}

/// A time that bounds something.
pub(crate) fn positive_duration(text: &str) -> Result<Nanos, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time == Nanos::ZERO { Err("expected a time above 0".into()) } else { Ok(time) }
}

/// A size from so much on, which `words` are.
pub(crate) fn bytes_of_at_least(text: &str, least: u64, words: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes < least { Err(format!("expected at least {words}")) } else { Ok(bytes) }
}
