//! What every command takes, and values that several read alike.

use clap::{Args, ValueEnum};
use nandle_io::Nanos;
use nandle_target::IoChoice;
use nandle_units::{parse_bytes, parse_duration};

/// What every command takes.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Print the result as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Show no progress
    #[arg(long, global = true)]
    pub no_progress: bool,
}

/// How requests reach the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IoArg {
    /// `io_uring`, or threads where it is refused
    Auto,
    /// `io_uring` or nothing
    #[value(name = "io_uring", alias = "uring")]
    Uring,
    /// Blocking system calls in threads
    Threads,
}

impl From<IoArg> for IoChoice {
    fn from(arg: IoArg) -> Self {
        match arg {
            IoArg::Auto => Self::Auto,
            IoArg::Uring => Self::Uring,
            IoArg::Threads => Self::Threads,
        }
    }
}

/// A size that bounds something.
///
/// # Errors
/// What is expected instead.
pub fn positive_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes == 0 { Err("expected a size above 0".into()) } else { Ok(bytes) }
}

/// A time that bounds something.
///
/// # Errors
/// What is expected instead.
pub fn positive_duration(text: &str) -> Result<Nanos, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time == Nanos::ZERO { Err("expected a time above 0".into()) } else { Ok(time) }
}

/// A size from so much on, which `words` are.
///
/// # Errors
/// What is expected instead.
pub fn bytes_of_at_least(text: &str, least: u64, words: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes < least { Err(format!("expected at least {words}")) } else { Ok(bytes) }
}

/// A share of something, in whole per cent.
///
/// # Errors
/// What is expected instead.
pub fn percent(text: &str) -> Result<u8, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| "expected 0% to 100%, in whole per cent".into())
}

/// A share of something, such as `1%` or `0.25%`.
///
/// # Errors
/// What is expected instead.
pub fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    let share = percent.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0);
    share.ok_or_else(|| "expected 0% to 100%".to_owned())
}

/// Names with commas between them.
///
/// # Errors
/// What is expected instead.
pub fn names(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        Err("expected names with commas between them, none of them empty".to_owned())
    } else {
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_a_hundred() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.5"), Ok(0.005));
        for wrong in ["", "-1%", "101%", "nan", "few"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_name_is_empty() {
        assert_eq!(names("a, b"), Ok(vec!["a".to_owned(), "b".to_owned()]));
        for wrong in ["", "a,,b", ","] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
