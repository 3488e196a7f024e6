//! Arguments of all commands, and shared parsers of values.

use clap::{Args, ValueEnum};
use nandle_io::Nanos;
use nandle_target::IoChoice;
use nandle_units::{parse_bytes, parse_duration};

/// Arguments of every command.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Print the result as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Hide the progress bar
    #[arg(long, global = true)]
    pub no_progress: bool,
}

/// I/O interface for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IoArg {
    /// `io_uring`, or threads if the kernel refuses it
    Auto,
    /// `io_uring` only
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

/// Parses a size above 0.
///
/// # Errors
/// Description of the expected value.
pub fn positive_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes == 0 { Err("expected a size above 0".into()) } else { Ok(bytes) }
}

/// Parses a time above 0.
///
/// # Errors
/// Description of the expected value.
pub fn positive_duration(text: &str) -> Result<Nanos, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time == Nanos::ZERO { Err("expected a time above 0".into()) } else { Ok(time) }
}

/// Parses a size of at least `least`, which an error describes as `words`.
///
/// # Errors
/// Description of the expected value.
pub fn bytes_of_at_least(text: &str, least: u64, words: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes < least { Err(format!("expected at least {words}")) } else { Ok(bytes) }
}

/// Parses a count: `5000000`, `5M`, `200k`, `1.5G`. Units are powers of 1000.
///
/// # Errors
/// Description of the expected value.
pub fn count(text: &str) -> Result<u64, String> {
    let expected = || "expected a number above 0, such as 200000, 200k or 5M".to_owned();
    let (digits, unit) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 1_000_u64),
        Some('M') => (&text[..text.len() - 1], 1_000_000),
        Some('G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let places = u32::try_from(part.len()).map_err(|_| expected())?;
    let scale = 10_u64.checked_pow(places).filter(|scale| unit % scale == 0).ok_or_else(expected)?;
    let number = |digits: &str| match digits {
        "" => Some(0),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse::<u64>().ok(),
        _ => None,
    };
    let whole = number(whole).and_then(|whole| whole.checked_mul(unit));
    let part = number(part).and_then(|part| part.checked_mul(unit / scale));
    whole
        .zip(part)
        .and_then(|(whole, part)| whole.checked_add(part))
        .filter(|count| *count > 0)
        .ok_or_else(expected)
}

/// Parses a share in whole per cent.
///
/// # Errors
/// Description of the expected value.
pub fn percent(text: &str) -> Result<u8, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| "expected 0% to 100%, in whole per cent".into())
}

/// Parses a share such as `1%` or `0.25%`.
///
/// # Errors
/// Description of the expected value.
pub fn share(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    let share = percent.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0);
    share.ok_or_else(|| "expected 0% to 100%".to_owned())
}

/// Parses a list of names separated by commas.
///
/// # Errors
/// Description of the expected value.
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
    fn numbers_are_counted_by_thousands() {
        for (text, number) in
            [("7", 7), ("200k", 200_000), ("5M", 5_000_000), ("1.5M", 1_500_000), ("2G", 2_000_000_000)]
        {
            assert_eq!(count(text), Ok(number), "{text}");
        }
        for wrong in ["", "0", "M", ".", "1.2345k", "-5", "+5", "5Mi", "5 M", "99999999999G", "ß"] {
            assert!(count(wrong).is_err(), "{wrong}");
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
