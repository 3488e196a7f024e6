//! Modelled drive as named by the user, with its capacity, initial state and faults.

use std::fmt;
use std::path::{Path, PathBuf};

use nandle_units::{format_bytes_exact, parse_bytes};

use super::SpecError;
use super::print::escaped;

/// Modelled drive with its initial state and faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// Name of the model.
    pub name: ModelName,
    /// Capacity, if it differs from the model's own.
    pub capacity_bytes: Option<u64>,
    /// Initial state.
    pub state: StateSpec,
    /// File of faults, if any.
    pub faults: Option<PathBuf>,
}

/// Name of a modelled drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelName {
    /// Drive of the library.
    Library(String),
    /// Drive described by a file.
    File(PathBuf),
}

/// Initial state of a modelled drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateSpec {
    /// Percentage of the drive written once sequentially.
    Filled(u8),
    /// State in a file written by `nandle models age`.
    File(PathBuf),
}

impl Default for StateSpec {
    fn default() -> Self {
        Self::Filled(100)
    }
}

impl ModelSpec {
    /// Creates a drive with default parameters.
    pub fn named(name: ModelName) -> Self {
        Self { name, capacity_bytes: None, state: StateSpec::default(), faults: None }
    }

    /// Applies `change` to every path.
    #[must_use]
    pub fn with_paths(self, change: impl Fn(PathBuf) -> PathBuf) -> Self {
        let name = match self.name {
            ModelName::File(path) => ModelName::File(change(path)),
            library @ ModelName::Library(_) => library,
        };
        let state = match self.state {
            StateSpec::File(path) => StateSpec::File(change(path)),
            filled @ StateSpec::Filled(_) => filled,
        };
        Self { name, state, faults: self.faults.map(change), ..self }
    }

    /// Parses the unescaped parts between colons. `text` is the whole input, for errors.
    pub(super) fn parse(parts: &[String], text: &str) -> Result<Self, SpecError> {
        let Some((name, hows)) = parts.split_first().filter(|(name, _)| !name.is_empty()) else {
            return Err(SpecError::Empty { text: text.into() });
        };
        let mut spec = Self::named(ModelName::parse(name));
        for how in hows {
            let wrong = || SpecError::How { text: text.into(), how: how.clone() };
            match how.split_once('=') {
                Some(("capacity", size)) => {
                    spec.capacity_bytes = Some(parse_bytes(size).map_err(|_| wrong())?);
                }
                Some(("state", state)) => {
                    spec.state = StateSpec::parse(state).ok_or_else(|| wrong_state(state, text))?;
                }
                Some(("faults", path)) if !path.is_empty() => spec.faults = Some(path.into()),
                _ => return Err(wrong()),
            }
        }
        Ok(spec)
    }
}

fn wrong_state(state: &str, text: &str) -> SpecError {
    SpecError::State { text: text.into(), state: state.into() }
}

impl ModelName {
    fn parse(name: &str) -> Self {
        let is_file = Path::new(name).extension().is_some_and(|extension| extension == "toml");
        if is_file { Self::File(name.into()) } else { Self::Library(name.into()) }
    }
}

impl StateSpec {
    /// Parses `new`, `filled`, `70%`, or a path.
    fn parse(text: &str) -> Option<Self> {
        match (text, text.strip_suffix('%')) {
            ("", _) => None,
            ("new", _) => Some(Self::Filled(0)),
            ("filled", _) => Some(Self::Filled(100)),
            (_, Some(percent)) => percent.parse().ok().filter(|percent| *percent <= 100).map(Self::Filled),
            (path, None) => Some(Self::File(path.into())),
        }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &Path| escaped(&path.to_string_lossy(), &[',', '*', ':']);
        match &self.name {
            ModelName::Library(name) => write!(f, "model:{}", escaped(name, &[',', '*', ':']))?,
            ModelName::File(file) => write!(f, "model:{}", path(file))?,
        }
        if let Some(bytes) = self.capacity_bytes {
            write!(f, ":capacity={}", format_bytes_exact(bytes))?;
        }
        match &self.state {
            StateSpec::Filled(100) => {}
            StateSpec::Filled(0) => f.write_str(":state=new")?,
            StateSpec::Filled(percent) => write!(f, ":state={percent}%")?,
            StateSpec::File(file) => write!(f, ":state={}{}", ambiguity(file), path(file))?,
        }
        self.faults.as_ref().map_or(Ok(()), |file| write!(f, ":faults={}", path(file)))
    }
}

/// Prefix that prevents a path from being parsed as another state.
fn ambiguity(path: &Path) -> &'static str {
    let is_path = matches!(StateSpec::parse(&path.to_string_lossy()), Some(StateSpec::File(_)));
    if is_path { "" } else { "./" }
}
