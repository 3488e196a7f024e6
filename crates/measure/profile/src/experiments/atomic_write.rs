use serde::{Deserialize, Serialize};

use crate::AtomicWrite;

/// Writes that are never torn, as stated by the kernel and the device. Only power cuts could verify
/// this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicWriteFindings {
    /// Atomic write units stated by the kernel, if any.
    pub stated: Option<AtomicWrite>,
    /// Source of the statement, in a sentence.
    pub source: String,
}
