use std::fmt;

use super::{Parts, Policy, Promises, Task};
use crate::OpenOptions;
use crate::label::Label;
use crate::staging::StagingConfig;

/// Properties of a policy that other modules and crates query without opening it. Each policy
/// defines one in its own file.
pub(crate) struct Descriptor {
    /// Name on command lines and in reports.
    pub(crate) name: &'static str,
    /// Description: a sentence without subject or full stop.
    pub(crate) description: &'static str,
    /// Code in a store's label.
    pub(crate) code: u32,
    pub(crate) promises: Promises,
    pub(crate) layout: Layout,
    /// Opens and recovers the policy of an existing store.
    pub(crate) open: fn(Parts) -> Task<'static, Box<dyn Policy>>,
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Layout of a policy's pages.
pub(crate) enum Layout {
    /// At their home places.
    InPlace,
    /// In a staging area first, then at their home places.
    Staged {
        /// Configuration of the staging.
        config: fn(&Label, &OpenOptions) -> StagingConfig,
        /// True if every page passes through the staging area, so that its checksum can be durable
        /// before the home copy is the only one.
        keeps_home_sums: bool,
    },
    /// In zones, without home places.
    Zones,
}
