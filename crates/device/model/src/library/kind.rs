use serde::{Deserialize, Serialize};

/// Kind of device that a TOML file describes; its `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// A flash drive.
    Flash,
    /// A magnetic disk.
    Disk,
    /// Several drives and their controllers.
    Array,
}

impl ModelKind {
    /// Name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flash => "flash",
            Self::Disk => "disk",
            Self::Array => "array",
        }
    }
}

/// Field that every file has.
#[derive(Debug, Deserialize)]
pub(super) struct Tag {
    pub(super) kind: ModelKind,
}
