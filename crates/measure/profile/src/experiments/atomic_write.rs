use serde::{Deserialize, Serialize};

use crate::AtomicWrite;

/// Which writes are never torn. Whether that is so can't be found out without cutting the power: it is what the kernel
/// and the device say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicWriteFindings {
    /// The units, where the kernel gives them.
    pub stated: Option<AtomicWrite>,
    /// The source of the claim, in a sentence.
    pub source: String,
}
