use std::fmt;
use std::str::FromStr;

use super::{Descriptor, Layout};
use crate::PageError;

/// Write policy.
///
/// A staging policy gathers batches in memory, then writes them to the staging area in one
/// sequential request, preceded by a header block that lists the pages. After one flush they are
/// durable and may be destaged. `stable-buffer` and `stable-ring` destage in the background, in an
/// order that suits the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PolicyKind {
    /// Writes pages in place, in order of arrival.
    Direct,
    /// Writes pages to a small area first, and home right after, like InnoDB.
    DoubleWrite,
    /// Writes pages to a small area with reusable slots, and destages them by the patterns that
    /// four decompositors find: Li, StableBuffer, 2010.
    StableBuffer,
    /// Writes pages to a ring from front to back, and destages them by a sweep over the
    /// destinations.
    StableRing,
    /// Writes each version of a page to a new place, together with pages that will die at the same
    /// time: after `ZLeanStore`, 2026.
    OutOfPlace,
    /// Works as `stable-ring` or as `direct`, whichever it measures to take less time.
    Auto,
}

/// Guarantees of a policy for acknowledged batches, and for the batch that a power cut interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promises {
    /// After a power cut a page is entirely old or entirely new, unless it was
    /// [discarded](crate::Batch::discard) and not rewritten.
    pub torn_page_safe: bool,
    /// After a power cut a batch is entirely present or absent, and present only with all batches
    /// before it.
    pub atomic_batch: bool,
    /// Reading a page with contents other than its last write, because the device damaged, lost or
    /// misdirected it, returns an error. Without this promise such errors are detected only until
    /// the store is closed, and an engine should keep checksums in its pages. A
    /// [store](crate::Store::promises) created without
    /// [`home_sums`](crate::CreateOptions::home_sums) doesn't make this promise either.
    pub checks_pages: bool,
}

impl Promises {
    /// All guarantees.
    pub const ALL: Self = Self { torn_page_safe: true, atomic_batch: true, checks_pages: true };
    /// No guarantee.
    pub const NONE: Self = Self { torn_page_safe: false, atomic_batch: false, checks_pages: false };
    /// Whole pages and batches, without detection of later damage by the device.
    pub const WHOLE_BATCHES: Self = Self { checks_pages: false, ..Self::ALL };

    /// Returns true if these promises cover all of `needed`.
    pub fn include(self, needed: Self) -> bool {
        (self.torn_page_safe || !needed.torn_page_safe)
            && (self.atomic_batch || !needed.atomic_batch)
            && (self.checks_pages || !needed.checks_pages)
    }
}

impl PolicyKind {
    /// All policies.
    pub const ALL: [Self; 6] =
        [Self::Direct, Self::DoubleWrite, Self::StableBuffer, Self::StableRing, Self::OutOfPlace, Self::Auto];

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

    /// Name on command lines and in reports.
    pub const fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// Description: a sentence without its subject.
    pub const fn description(self) -> &'static str {
        self.descriptor().description
    }

    /// Guarantees of the policy.
    pub const fn promises(self) -> Promises {
        self.descriptor().promises
    }

    /// Returns true if the policy has a staging area, which
    /// [`buffer_bytes`](crate::CreateOptions::buffer_bytes) sizes.
    pub const fn has_staging_area(self) -> bool {
        matches!(self.descriptor().layout, Layout::Staged { .. })
    }

    /// Returns true if pages lie in zones without home places;
    /// [`spare_percent`](crate::CreateOptions::spare_percent) then applies.
    pub const fn has_zones(self) -> bool {
        matches!(self.descriptor().layout, Layout::Zones)
    }

    /// Returns true if the device can hold checksums of home pages: see
    /// [`home_sums`](crate::CreateOptions::home_sums).
    pub const fn can_keep_home_sums(self) -> bool {
        matches!(self.descriptor().layout, Layout::Staged { keeps_home_sums: true, .. })
    }

    /// Error for a batch with more changes than the store can make durable atomically.
    pub(crate) fn refuses_batch(self, changes: usize, most: usize) -> PageError {
        let mend = match self.descriptor().layout {
            Layout::Staged { .. } | Layout::InPlace => "create the store with larger `buffer_bytes`",
            Layout::Zones => "create the store with larger `alignment_bytes` or `spare_percent`",
        };
        PageError::BatchTooLarge { changes, most, mend }
    }

    /// Code in a store's label.
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

/// Error for an unknown policy name.
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
