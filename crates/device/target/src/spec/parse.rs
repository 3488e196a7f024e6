use std::ffi::OsStr;
use std::str::FromStr;

use super::{ArrayLevel, ArraySpec, ModelSpec, TargetSpec};
use nandle_units::{UnitError, parse_bytes};

/// Prefixes of targets that aren't paths.
pub(super) const KEYWORDS: [&str; 3] = ["model:", "raid0:", "raid10:"];

/// Largest number of members. It prevents a typing error from opening a billion files.
const MEMBERS_MAX: u64 = 1024;

/// The target text is invalid. Always a usage error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Nothing was named.
    #[error(
        "no target is named in {text:?}; expected a directory, a file, /dev/NAME, model:NAME or raid0:CHUNK:T,T"
    )]
    Empty {
        /// Whole input.
        text: String,
    },
    /// Array without members.
    #[error(
        "{text:?} names no members; expected {level}:CHUNK:TARGET,TARGET,… such as {level}:64KiB:/mnt/a,/mnt/b"
    )]
    NoMembers {
        /// Whole input.
        text: String,
        /// RAID level.
        level: &'static str,
    },
    /// The chunk isn't a size.
    #[error("the chunk of {text:?}: {source}")]
    Chunk {
        /// Whole input.
        text: String,
        /// Parse error.
        source: UnitError,
    },
    /// The chunk size is invalid.
    #[error(
        "the chunk of {text:?} has {chunk_bytes} bytes; expected a multiple of 512 above 0, such as 64KiB"
    )]
    ChunkSize {
        /// Whole input.
        text: String,
        /// Chunk size in bytes.
        chunk_bytes: u64,
    },
    /// Too few or too many members, or an odd number for mirrors.
    #[error("{text:?} has {got} members; {level} needs {expected}")]
    MembersCount {
        /// Whole input.
        text: String,
        /// RAID level.
        level: &'static str,
        /// Number of members.
        got: u64,
        /// Valid numbers of members.
        expected: &'static str,
    },
    /// Array as the member of another.
    #[error("{text:?} has an array inside an array, which is not supported; raid10 is a stripe over mirrors")]
    Nested {
        /// Whole input.
        text: String,
    },
    /// Unsupported RAID level.
    #[error(
        "{text:?}: unsupported array level {level}; an array is raid0:CHUNK:T,T,… or raid10:CHUNK:T,T,…, which is a mirror when \
         it has two members (a file of that name is ./{text})"
    )]
    Level {
        /// Whole input.
        text: String,
        /// RAID level.
        level: String,
    },
    /// Unknown parameter of a modelled drive.
    #[error(
        "{how:?} in {text:?} is not a parameter of a modelled drive; expected capacity=4GiB, state=new, state=filled, state=70% (filled so \
         far), state=FILE (of `nandle models age`) or faults=FILE; a colon in a path is written \\:"
    )]
    How {
        /// Whole input.
        text: String,
        /// The unknown parameter.
        how: String,
    },
    /// Invalid initial state of a modelled drive.
    #[error(
        "state={state} in {text:?}: expected state=new, state=filled, state=0% to state=100% (filled so far), or state=FILE \
         (of `nandle models age`)"
    )]
    State {
        /// Whole input.
        text: String,
        /// The invalid state.
        state: String,
    },
    /// Invalid repeat count.
    #[error("invalid repeat count {count:?} in {text:?}; expected 1 to 1024 behind the *")]
    Count {
        /// Whole input.
        text: String,
        /// The invalid count.
        count: String,
    },
}

impl TargetSpec {
    /// Parses a command-line argument. A path that isn't UTF-8 is taken literally.
    ///
    /// # Errors
    /// See [`SpecError`].
    pub fn from_os(text: &OsStr) -> Result<Self, SpecError> {
        text.to_str().map_or_else(|| Ok(Self::Path(text.into())), str::parse)
    }
}

impl FromStr for TargetSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        for level in [ArrayLevel::Raid0, ArrayLevel::Raid10] {
            if let Some(rest) = text.strip_prefix(level.name()).and_then(|rest| rest.strip_prefix(':')) {
                return array(level, rest, text).map(Self::Array);
            }
        }
        if text.starts_with("model:") {
            return member(text, text);
        }
        if text.is_empty() {
            return Err(SpecError::Empty { text: text.into() });
        }
        if let Some(level) = unknown_level(text) {
            return Err(SpecError::Level { text: text.into(), level: level.into() });
        }
        Ok(Self::Path(text.into()))
    }
}

/// Returns `raid5` for `raid5:…`.
fn unknown_level(text: &str) -> Option<&str> {
    let (level, _) = text.split_once(':')?;
    let digits = level.strip_prefix("raid")?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(level)
}

fn array(level: ArrayLevel, rest: &str, text: &str) -> Result<ArraySpec, SpecError> {
    let no_members = || SpecError::NoMembers { text: text.into(), level: level.name() };
    let (chunk, list) = rest.split_once(':').ok_or_else(no_members)?;
    if list.is_empty() {
        return Err(no_members());
    }
    let chunk_bytes = parse_bytes(chunk).map_err(|source| SpecError::Chunk { text: text.into(), source })?;
    if chunk_bytes == 0 || !chunk_bytes.is_multiple_of(512) {
        return Err(SpecError::ChunkSize { text: text.into(), chunk_bytes });
    }
    let members = split(list, ',').map(|part| member(part, text)).collect::<Result<Vec<_>, _>>()?;
    let array = ArraySpec { level, chunk_bytes, members };
    check_count(&array, text)?;
    Ok(array)
}

fn check_count(array: &ArraySpec, text: &str) -> Result<(), SpecError> {
    let got = array.members_count();
    let (fits, expected) = match array.level {
        ArrayLevel::Raid0 => (got >= 2, "2 to 1024"),
        ArrayLevel::Raid10 => (got >= 2 && got.is_multiple_of(2), "an even number, 2 to 1024"),
    };
    if fits && got <= MEMBERS_MAX {
        return Ok(());
    }
    Err(SpecError::MembersCount { text: text.into(), level: array.level.name(), got, expected })
}

/// Splits at separators without a preceding backslash.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut escape = false;
    text.split(move |c| {
        let splits = c == separator && !escape;
        escape = c == '\\' && !escape;
        splits
    })
}

/// Parses a path or a model with an optional repeat count. `part` may contain backslashes; `text`
/// is the whole input, for errors.
fn member(part: &str, text: &str) -> Result<TargetSpec, SpecError> {
    let (name, count) = split_count(part, text)?;
    let target = match name.strip_prefix("model:") {
        Some(name) => {
            let parts: Vec<String> = split(name, ':').map(unescaped).collect();
            TargetSpec::Model(ModelSpec::parse(&parts, text)?)
        }
        None if KEYWORDS.iter().any(|keyword| name.starts_with(keyword)) => {
            return Err(SpecError::Nested { text: text.into() });
        }
        None if name.is_empty() => return Err(SpecError::Empty { text: text.into() }),
        None => TargetSpec::Path(unescaped(name).into()),
    };
    Ok(match count {
        1 => target,
        count => TargetSpec::Repeat { target: Box::new(target), count },
    })
}

/// Splits off a trailing `*N`. An unescaped asterisk has no other meaning.
fn split_count<'a>(part: &'a str, text: &str) -> Result<(&'a str, u32), SpecError> {
    let mut escape = false;
    let asterisk = part.char_indices().find(|(_, c)| {
        let found = *c == '*' && !escape;
        escape = *c == '\\' && !escape;
        found
    });
    let Some((at, _)) = asterisk else { return Ok((part, 1)) };
    let (name, count) = (part.get(..at).unwrap_or(part), part.get(at + 1..).unwrap_or_default());
    let number = count.parse().ok().filter(|count| (1..=MEMBERS_MAX).contains(&u64::from(*count)));
    Ok((name, number.ok_or_else(|| SpecError::Count { text: text.into(), count: count.into() })?))
}

fn unescaped(text: &str) -> String {
    let mut escape = false;
    text.chars()
        .filter(|c| {
            escape = *c == '\\' && !escape;
            !escape
        })
        .collect()
}
