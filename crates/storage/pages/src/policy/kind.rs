use std::fmt;
use std::str::FromStr;

use super::{Descriptor, Layout};
use crate::PageError;

/// A way of writing.
///
/// A batch that a staging policy takes is gathered in memory, then written to the staging area in one sequential
/// request, a header block first that says for which pages it is; after one flush it is durable, and it may be brought
/// home. `stable-buffer` and `stable-ring` do that in the background and in an order that the device likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyKind {
    /// In place, in the order of arrival.
    Direct,
    /// To a small area first, and home right after: InnoDB's way.
    DoubleWrite,
    /// To a small area whose slots are used again, and home by the patterns that four decompositors find: Li,
    /// StableBuffer, 2010.
    StableBuffer,
    /// To a ring that is written front to back, and home by a sweep over the destinations.
    StableRing,
    /// Each version of a page to a new place, with others that will die at the same time: after `ZLeanStore`, 2026.
    OutOfPlace,
    /// As `stable-ring` or as `direct`, whichever takes less time: it measures both.
    Auto,
}

/// What a policy promises about batches that were acknowledged, and about the one that a power cut interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promises {
    /// After a power cut a page is wholly old or wholly new, unless it was [discarded](crate::Batch::discard) and not
    /// written since.
    pub torn_page_safe: bool,
    /// After a power cut a batch is there as a whole or not at all, and none without all that came before it.
    pub atomic_batch: bool,
    /// Reading a page that isn't what was written last, because the device damaged, lost or misdirected it, is an error. Without
    /// it that is so only until the store is closed: the engine keeps checksums in its pages. A [store](crate::Store::promises)
    /// that was made without [`home_sums`](crate::CreateOptions::home_sums) doesn't promise it either.
    pub checks_pages: bool,
}

impl Promises {
    /// Batches are whole, and so are pages.
    pub const ALL: Self = Self { torn_page_safe: true, atomic_batch: true, checks_pages: true };
    /// None of them.
    pub const NONE: Self = Self { torn_page_safe: false, atomic_batch: false, checks_pages: false };
    /// Pages and batches are whole; what the device damages later may pass unnoticed.
    pub const WHOLE_BATCHES: Self = Self { checks_pages: false, ..Self::ALL };

    /// Whether all that is needed is promised.
    pub fn include(self, needed: Self) -> bool {
        (self.torn_page_safe || !needed.torn_page_safe)
            && (self.atomic_batch || !needed.atomic_batch)
            && (self.checks_pages || !needed.checks_pages)
    }
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Direct, Self::DoubleWrite, Self::StableBuffer, Self::StableRing, Self::OutOfPlace, Self::Auto];

    /// What its own file says of it.
    pub(crate) const fn descriptor(self) -> &'static Descriptor {
        match self {
            Self::Direct => &super::direct::DESCRIPTOR,
            Self::DoubleWrite => &super::doublewrite::DESCRIPTOR,
            Self::StableBuffer => &super::stable_buffer::DESCRIPTOR,
            Self::StableRing => &super::stable_ring::DESCRIPTOR,
            Self::OutOfPlace => &super::out_of_place::DESCRIPTOR,
            Self::Auto => &super::auto::DESCRIPTOR,
        }
    }

    /// Its name on command lines and in reports.
    pub const fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// What it does: half a sentence, its subject being the policy.
    pub const fn description(self) -> &'static str {
        self.descriptor().description
    }

    /// What it promises.
    pub const fn promises(self) -> Promises {
        self.descriptor().promises
    }

    /// Whether it has a staging area, so that [`buffer_bytes`](crate::CreateOptions::buffer_bytes) counts.
    pub const fn has_staging_area(self) -> bool {
        matches!(self.descriptor().layout, Layout::Staged { .. })
    }

    /// Whether pages lie in zones and have no place of their own, so that
    /// [`spare_percent`](crate::CreateOptions::spare_percent) counts.
    pub const fn has_zones(self) -> bool {
        matches!(self.descriptor().layout, Layout::Zones)
    }

    /// Whether the checksums of pages in their own places can be kept on the device: see
    /// [`home_sums`](crate::CreateOptions::home_sums).
    pub const fn can_keep_home_sums(self) -> bool {
        matches!(self.descriptor().layout, Layout::Staged { keeps_home_sums: true, .. })
    }

    /// The error of a batch with more changes than a store can make durable as a whole.
    pub(crate) fn refuses_batch(self, changes: usize, most: usize) -> PageError {
        let mend = match self.descriptor().layout {
            Layout::Staged { .. } | Layout::InPlace => "create the store with larger `buffer_bytes`",
            Layout::Zones => "create the store with larger `alignment_bytes` or `spare_percent`",
        };
        PageError::BatchTooLarge { changes, most, mend }
    }

    /// Its number in a store's label.
    pub(crate) const fn code(self) -> u32 {
        self.descriptor().code
    }

    pub(crate) fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no such policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no write policy {given:?}; there are {}", PolicyKind::ALL.map(PolicyKind::name).join(", "))]
pub struct UnknownPolicy {
    given: String,
}

impl FromStr for PolicyKind {
    type Err = UnknownPolicy;

    fn from_str(given: &str) -> Result<Self, UnknownPolicy> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == given);
        found.ok_or_else(|| UnknownPolicy { given: given.into() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_codes_tell_policies_apart() {
        for kind in PolicyKind::ALL {
            assert_eq!((kind.name().parse(), PolicyKind::of_code(kind.code())), (Ok(kind), Some(kind)));
        }
        let codes: BTreeSet<_> = PolicyKind::ALL.map(PolicyKind::code).into_iter().collect();
        assert_eq!(codes.len(), PolicyKind::ALL.len());
        assert_eq!(PolicyKind::of_code(0), None);
    }
}
