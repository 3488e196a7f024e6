use crate::choice::{ExpectedUse, PageTimes, PredictedPolicy, predict_policies, quickest};
use crate::options::LEAST_USUAL_BUFFER_BYTES;
use crate::{BLOCK_BYTES, CreateOptions, OpenOptions, PolicyKind, Promises};

/// Divisor of the pages' length for the staging area.
const BUFFER_SHARE: u64 = 8;
/// Minimum staging area, so that a commit may have 1 000 pages of 4 KiB.
const BUFFER_BYTES_MIN: u64 = LEAST_USUAL_BUFFER_BYTES;
/// Maximum staging area, as all of it is written at creation.
const BUFFER_BYTES_MAX: u64 = 256 << 20;

const _: () = assert!(BUFFER_BYTES_MIN < BUFFER_BYTES_MAX, "the bounds of a size");
const _: () = assert!(
    BUFFER_BYTES_MIN.is_multiple_of(BLOCK_BYTES as u64)
        && BUFFER_BYTES_MAX.is_multiple_of(BLOCK_BYTES as u64),
    "a staging area has whole blocks"
);

/// Default limit of growth, as a multiple of the initial pages.
pub(super) const GROWTH: u64 = 4;

/// Default length of the staging area of a store in a file: an eighth of its pages, between 16 MiB
/// and 256 MiB.
pub fn usual_buffer_bytes(pages_bytes: u64) -> u64 {
    (pages_bytes / BUFFER_SHARE).clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX)
}

/// Options to create a store in a file, and to open it for the first time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageOptions {
    /// Number of pages.
    pub pages: u64,
    /// Minimum number of pages to which the store may later grow
    /// ([`PageStore::grow`](crate::PageStore::grow)), at least `pages`; `None` means four times as
    /// many. Reserves room for their checksums, a 250th of their length in whole blocks, which may
    /// fit a few more. A policy without checksums, such as `out-of-place`, is limited only by the
    /// file system.
    pub pages_max: Option<u64>,
    /// Length of a page in bytes: a power of two from 4 KiB to 64 KiB.
    pub page_bytes: usize,
    /// Write policy.
    pub policy: PolicyKind,
    /// Length of the staging area; `None` means an eighth of the pages, between 16 MiB and 256 MiB.
    /// Together with [`memory_bytes`](OpenOptions::memory_bytes) it limits the size of a commit
    /// ([`largest_commit`](crate::PageStore::largest_commit)).
    pub buffer_bytes: Option<u64>,
    /// Options until the first close. The mapping unit in its costs also sets the alignment of
    /// areas and the length of zones permanently.
    pub open: OpenOptions,
}

impl PageOptions {
    /// Options for `pages` pages of 4 KiB under `stable-ring`, with atomic commits and detection of
    /// damaged pages on any drive.
    pub fn new(pages: u64) -> Self {
        Self {
            pages,
            pages_max: None,
            page_bytes: BLOCK_BYTES,
            policy: PolicyKind::StableRing,
            buffer_bytes: None,
            open: OpenOptions::default(),
        }
    }

    /// Sets the maximum number of pages after growth.
    #[must_use]
    pub fn with_pages_max(self, pages_max: u64) -> Self {
        Self { pages_max: Some(pages_max), ..self }
    }

    /// Sets the length of a page.
    #[must_use]
    pub fn with_page_bytes(self, page_bytes: usize) -> Self {
        Self { page_bytes, ..self }
    }

    /// Sets the policy. The table in the [crate's documentation](crate) compares them.
    #[must_use]
    pub fn with_policy(self, policy: PolicyKind) -> Self {
        Self { policy, ..self }
    }

    /// Selects the policy with the least predicted time per page among those that promise at least
    /// `needed`. The prediction uses request times of the device (from its profile) and the store's
    /// expected use. Returns `None` if no possible policy promises enough, for example because the
    /// staging area is too small.
    #[must_use]
    pub fn with_quickest_policy(
        self,
        times: &PageTimes,
        expected: &ExpectedUse,
        needed: Promises,
    ) -> Option<Self> {
        let (create, open) = self.clone().into_parts();
        let PredictedPolicy { policy, .. } =
            quickest(&predict_policies(&create, &open, times, expected), needed)?;
        Some(Self { policy, ..self })
    }

    /// Sets the length of the staging area.
    #[must_use]
    pub fn with_buffer_bytes(self, buffer_bytes: u64) -> Self {
        Self { buffer_bytes: Some(buffer_bytes), ..self }
    }

    /// Sets the options until the first close.
    #[must_use]
    pub fn with_open(self, open: OpenOptions) -> Self {
        Self { open, ..self }
    }

    pub(crate) fn into_parts(self) -> (CreateOptions, OpenOptions) {
        let pages_bytes = self.pages.saturating_mul(self.page_bytes as u64);
        let create = CreateOptions {
            pages_max: self.pages_max.or(Some(self.pages.saturating_mul(GROWTH))),
            buffer_bytes: self.buffer_bytes.unwrap_or_else(|| usual_buffer_bytes(pages_bytes)),
            alignment_bytes: self.open.costs.mapping_unit_bytes,
            ..CreateOptions::new(self.policy, self.page_bytes, self.pages)
        };
        (create, self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WriteCosts;

    #[test]
    fn zones_are_as_long_as_what_the_drive_erases() {
        let costs = WriteCosts { mapping_unit_bytes: 4 << 20, ..WriteCosts::default() };
        let options = PageOptions::new(1 << 18).with_open(OpenOptions { costs, ..OpenOptions::default() });
        let (create, open) = options.into_parts();
        assert_eq!((create.alignment_bytes, open.costs), (4 << 20, costs));
        assert_eq!(create.buffer_bytes, 128 << 20);
    }
}
