//! Parameters of an array, read from its TOML file.

use serde::{Deserialize, Serialize};

use crate::library::ModelKind;

/// Parameters of an array and its controllers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayParameters {
    /// `array`.
    pub kind: ModelKind,
    /// Name in the library.
    pub name: String,
    /// Description in one sentence.
    pub description: String,
    /// Software layout over the controllers' volumes.
    pub software: LayoutParameters,
    /// Controllers, in order.
    pub controllers: Vec<ControllerParameters>,
}

/// A controller and the drives behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerParameters {
    /// Data rate of reads, shared by the drives.
    pub read_bytes_per_s: u64,
    /// Data rate of writes, in parallel with reads. With a cache: the rate of writing through.
    pub write_bytes_per_s: u64,
    /// Processor time of a host command.
    pub command_ns: u64,
    /// Processor time of each command to a drive. Simple volumes don't need it.
    pub raid_command_ns: u64,
    /// Hardware layout over the drives; `simple` presents each drive as a volume.
    pub hardware: LayoutParameters,
    /// Battery-backed write-back cache; none when absent.
    #[serde(default)]
    pub cache: Option<CacheParameters>,
    /// Read-ahead of sequential streams; none when absent.
    #[serde(default)]
    pub read_ahead: Option<ReadAheadParameters>,
    /// Names of the drives.
    pub drives: Vec<String>,
}

/// A write-back cache that survives a power cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Capacity for written data. Once it is full, the host writes at the drives' rate.
    pub bytes: u64,
    /// Time to admit a write.
    pub access_ns: u64,
    /// Data rate of admission: each byte crosses the memory twice or, mirrored, three times.
    pub bytes_per_s: u64,
}

/// Parameters of a controller's read-ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadParameters {
    /// Memory for prefetched data.
    pub bytes: u64,
    /// Length of a fetch.
    pub line_bytes: u64,
    /// Distance that the read-ahead keeps before a stream.
    pub ahead_bytes: u64,
}

/// Mapping of addresses to members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayoutParameters {
    /// Members one after the other.
    Simple,
    /// Chunks round robin.
    Raid0 {
        /// Chunk length.
        chunk_bytes: u64,
    },
    /// Chunks round robin over mirrored pairs.
    Raid10 {
        /// Chunk length.
        chunk_bytes: u64,
    },
}

/// Reasons why an array can't be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The text is not TOML, or a field is missing, unknown or of a wrong type.
    #[error("the array's TOML can't be read: {source}")]
    Syntax {
        /// The parser's message, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A field's value is outside its range.
    #[error("{field} is {got}, but must be between {least} and {most}: the nearest right value is {nearest}")]
    OutOfRange {
        /// Path of the field in the TOML file.
        field: &'static str,
        /// The value given.
        got: u64,
        /// Least valid value.
        least: u64,
        /// Greatest valid value.
        most: u64,
        /// Nearest valid value.
        nearest: u64,
    },
    /// RAID 10 with an odd number of members.
    #[error(
        "{field} has {members} members, but mirrors need an even number of them: add one or leave one out"
    )]
    OddMembers {
        /// Path of the field in the TOML file.
        field: &'static str,
        /// Number of members.
        members: usize,
    },
    /// The number of drives differs from the parameters.
    #[error("array {array:?} names {expected} drives, but {got} were given")]
    WrongNumberOfDrives {
        /// Name of the array.
        array: String,
        /// Drives that the parameters name.
        expected: usize,
        /// Drives given.
        got: usize,
    },
}

impl ArrayParameters {
    /// Reads and validates an array's TOML text.
    ///
    /// # Errors
    /// [`ArrayError`] names the wrong field, its range and the nearest valid value.
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

    /// Names of all drives, controller by controller.
    pub fn drive_names(&self) -> impl Iterator<Item = &str> {
        self.controllers.iter().flat_map(|controller| controller.drives.iter().map(String::as_str))
    }

    /// Number of volumes that the controllers present to the host.
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

    /// Room for the distance ahead, the line being read, and a line that straddles both.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.ahead_bytes + 2 * self.line_bytes
    }
}

impl LayoutParameters {
    /// Returns true if each member is its own volume.
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
