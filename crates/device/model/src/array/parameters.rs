//! What an array is made of, as read from its TOML file.

use serde::{Deserialize, Serialize};

use crate::library::ModelKind;

/// An array with its controllers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayParameters {
    /// `array`.
    pub kind: ModelKind,
    /// The name it is known by.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// How the host's software lays data over everything that the controllers show.
    pub software: LayoutParameters,
    /// The controllers.
    pub controllers: Vec<ControllerParameters>,
}

/// A controller and the drives behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerParameters {
    /// Data rate of reads that its drives share.
    pub read_bytes_per_s: u64,
    /// The same of writes, which go the other way beside them; with a cache, that of writing through.
    pub write_bytes_per_s: u64,
    /// Processor time of a host's command.
    pub command_ns: u64,
    /// Processor time of each command to a drive where the controller lays data out itself; simple volumes are passed
    /// through without it.
    pub raid_command_ns: u64,
    /// How it lays data over its drives; `simple` shows each drive by itself.
    pub hardware: LayoutParameters,
    /// Its battery-backed write-back cache; none when absent.
    #[serde(default)]
    pub cache: Option<CacheParameters>,
    /// What it reads ahead of sequential streams; nothing when absent.
    #[serde(default)]
    pub read_ahead: Option<ReadAheadParameters>,
    /// Names of its drives.
    pub drives: Vec<String>,
}

/// A write-back cache that survives a power cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Written data that it holds. Once it is full, writes come in as fast as the drives take them.
    pub bytes: u64,
    /// Time to take a write in.
    pub access_ns: u64,
    /// Data rate at which it takes writes in: each byte crosses its memory twice or, mirrored, three times.
    pub bytes_per_s: u64,
}

/// A controller's read-ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadParameters {
    /// Memory for it.
    pub bytes: u64,
    /// What is fetched with one request.
    pub line_bytes: u64,
    /// How far ahead of a stream it is.
    pub ahead_bytes: u64,
}

/// How addresses are laid over members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayoutParameters {
    /// One member after the other.
    Simple,
    /// Chunks in turn.
    Raid0 {
        /// Length of a chunk.
        chunk_bytes: u64,
    },
    /// Chunks in turn over pairs of members that mirror each other.
    Raid10 {
        /// Length of a chunk.
        chunk_bytes: u64,
    },
}

/// An array can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The text is not TOML, or a field is missing, unknown or of a wrong type.
    #[error("the array's TOML can't be read: {source}")]
    Syntax {
        /// What the parser says, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A field's value is outside its range.
    #[error("{field} is {got}, but must be between {least} and {most}: the nearest right value is {nearest}")]
    OutOfRange {
        /// Path of the field in the TOML file.
        field: &'static str,
        /// Its value.
        got: u64,
        /// Least right value.
        least: u64,
        /// Greatest right value.
        most: u64,
        /// The nearest right value.
        nearest: u64,
    },
    /// RAID 10 needs pairs.
    #[error(
        "{field} has {members} members, but mirrors need an even number of them: add one or leave one out"
    )]
    OddMembers {
        /// Path of the field in the TOML file.
        field: &'static str,
        /// How many there are.
        members: usize,
    },
    /// The drives given are not as many as the parameters name.
    #[error("array {array:?} names {expected} drives, but {got} were given")]
    WrongNumberOfDrives {
        /// The array.
        array: String,
        /// Drives that it names.
        expected: usize,
        /// Drives given.
        got: usize,
    },
}

impl ArrayParameters {
    /// Reads and validates an array's TOML text.
    ///
    /// # Errors
    /// [`ArrayError`] names the field that is wrong, its range and the nearest right value.
    pub fn from_toml(text: &str) -> Result<Self, ArrayError> {
        let parameters: Self =
            toml::from_str(text).map_err(|source| ArrayError::Syntax { source: Box::new(source) })?;
        parameters.validate()?;
        Ok(parameters)
    }

    /// Checks every field's range.
    ///
    /// # Errors
    /// [`ArrayError::OutOfRange`] or [`ArrayError::OddMembers`] for the first field that is wrong.
    pub fn validate(&self) -> Result<(), ArrayError> {
        within("number of controllers", self.controllers.len() as u64, 1, 1_024)?;
        self.software.validate("software", self.volumes())?;
        for controller in &self.controllers {
            rate("controllers.read_bytes_per_s", controller.read_bytes_per_s)?;
            rate("controllers.write_bytes_per_s", controller.write_bytes_per_s)?;
            within("controllers.command_ns", controller.command_ns, 0, 1_000_000_000)?;
            within("controllers.raid_command_ns", controller.raid_command_ns, 0, 1_000_000_000)?;
            if let Some(cache) = &controller.cache {
                rate("controllers.cache.bytes_per_s", cache.bytes_per_s)?;
            }
            within("number of drives of a controller", controller.drives.len() as u64, 1, 1_024)?;
            controller.hardware.validate("controllers.hardware", controller.drives.len())?;
            controller.read_ahead.as_ref().map_or(Ok(()), ReadAheadParameters::validate)?;
        }
        Ok(())
    }

    /// The names of all drives, controller by controller.
    pub fn drive_names(&self) -> impl Iterator<Item = &str> {
        self.controllers.iter().flat_map(|controller| controller.drives.iter().map(String::as_str))
    }

    /// What the controllers show to the host.
    fn volumes(&self) -> usize {
        let shown = |controller: &ControllerParameters| {
            if controller.hardware.is_simple() { controller.drives.len() } else { 1 }
        };
        self.controllers.iter().map(shown).sum()
    }
}

impl ReadAheadParameters {
    fn validate(&self) -> Result<(), ArrayError> {
        within("controllers.read_ahead.line_bytes", self.line_bytes, 512, 1 << 30)?;
        within("controllers.read_ahead.ahead_bytes", self.ahead_bytes, self.line_bytes, 1 << 40)?;
        within("controllers.read_ahead.bytes", self.bytes, self.least_bytes(), 1 << 41)
    }

    /// Room for what is ahead, what is being read, and a line that both have begun.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.ahead_bytes + 2 * self.line_bytes
    }
}

impl LayoutParameters {
    /// Whether members are shown one by one.
    pub(crate) fn is_simple(self) -> bool {
        match self {
            Self::Simple => true,
            Self::Raid0 { .. } | Self::Raid10 { .. } => false,
        }
    }

    fn validate(self, field: &'static str, members: usize) -> Result<(), ArrayError> {
        match self {
            Self::Simple => Ok(()),
            Self::Raid10 { .. } if !members.is_multiple_of(2) => {
                Err(ArrayError::OddMembers { field, members })
            }
            Self::Raid0 { chunk_bytes } | Self::Raid10 { chunk_bytes } => {
                within("chunk_bytes", chunk_bytes, 512, 1 << 30)
            }
        }
    }
}

fn rate(field: &'static str, bytes_per_s: u64) -> Result<(), ArrayError> {
    within(field, bytes_per_s, 1_000, 1_000_000_000_000)
}

fn within(field: &'static str, got: u64, least: u64, most: u64) -> Result<(), ArrayError> {
    if (least..=most).contains(&got) {
        return Ok(());
    }
    Err(ArrayError::OutOfRange { field, got, least, most, nearest: got.clamp(least, most) })
}
