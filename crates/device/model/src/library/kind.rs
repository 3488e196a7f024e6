use serde::{Deserialize, Serialize};

/// What a TOML file describes; its `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// A flash drive.
    Flash,
    /// A magnetic disk.
    Disk,
    /// Several drives with their controllers.
    Array,
}

impl ModelKind {
    /// As the file has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flash => "flash",
            Self::Disk => "disk",
            Self::Array => "array",
        }
    }
}

/// The one field that every file has.
#[derive(Debug, Deserialize)]
pub(super) struct Tag {
    pub(super) kind: ModelKind,
}
