use std::fmt;

use super::{Parts, Policy, Promises, Task};
use crate::OpenOptions;
use crate::label::Label;
use crate::staging::StagingConfig;

/// All that the rest of the store, and what is built on it, asks about a policy without opening it. Each policy has one, in its
/// own file.
pub(crate) struct Descriptor {
    /// On command lines and in reports.
    pub(crate) name: &'static str,
    /// What it does, as a sentence without its subject and without a full stop.
    pub(crate) description: &'static str,
    /// In a store's label.
    pub(crate) code: u32,
    pub(crate) promises: Promises,
    pub(crate) layout: Layout,
    /// Opens the policy of a store that is there, and recovers what it holds.
    pub(crate) open: fn(Parts) -> Task<'static, Box<dyn Policy>>,
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Where a policy keeps pages.
pub(crate) enum Layout {
    /// In their own places.
    InPlace,
    /// In a staging area first, and then in their own places.
    Staged {
        /// How its staging differs from that of others.
        config: fn(&Label, &OpenOptions) -> StagingConfig,
        /// Every page goes through the staging area, so its checksum can be durable before it is only in its own place.
        keeps_home_sums: bool,
    },
    /// In zones; a page has no place of its own.
    Zones,
}
