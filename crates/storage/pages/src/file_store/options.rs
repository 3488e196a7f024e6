use crate::choice::{ExpectedUse, PageTimes, PredictedPolicy, predict_policies, quickest};
use crate::options::LEAST_USUAL_BUFFER_BYTES;
use crate::{BLOCK_BYTES, CreateOptions, OpenOptions, PolicyKind, Promises};

/// The staging area is this fraction of the pages …
const BUFFER_SHARE: u64 = 8;
/// … but no smaller, so that a commit may have 1 000 pages of 4 KiB, …
const BUFFER_BYTES_MIN: u64 = LEAST_USUAL_BUFFER_BYTES;
/// … and no larger, since all of it is written when the store is made.
const BUFFER_BYTES_MAX: u64 = 256 << 20;

const _: () = assert!(BUFFER_BYTES_MIN < BUFFER_BYTES_MAX, "the bounds of a size");
const _: () = assert!(
    BUFFER_BYTES_MIN.is_multiple_of(BLOCK_BYTES as u64)
        && BUFFER_BYTES_MAX.is_multiple_of(BLOCK_BYTES as u64),
    "a staging area has whole blocks"
);

/// A store may grow to so many times as many pages.
pub(super) const GROWTH: u64 = 4;

/// Size of the staging area of a store in a file, where its options name none: an eighth of its pages, 16 MiB to 256 MiB.
pub fn usual_buffer_bytes(pages_bytes: u64) -> u64 {
    (pages_bytes / BUFFER_SHARE).clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX)
}

/// What a new store in a file shall be, and how it is used at first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageOptions {
    /// How many pages it has.
    pub pages: u64,
    /// How many it may have later at least ([`PageStore::grow`](crate::PageStore::grow)), no fewer than `pages`; `None` takes four
    /// times as many. Room is made for their checksums, a 250th of their length in whole blocks, so that some more may fit. Under a policy that
    /// keeps none, as `out-of-place`, the file system alone bounds it.
    pub pages_max: Option<u64>,
    /// Length of a page: 4 KiB to 64 KiB, a power of two.
    pub page_bytes: usize,
    /// How it writes.
    pub policy: PolicyKind,
    /// Size of the staging area; `None` takes an eighth of the pages, but 16 MiB at least and 256 MiB at most. With
    /// [`memory_bytes`](OpenOptions::memory_bytes) it bounds what one commit can change
    /// ([`largest_commit`](crate::PageStore::largest_commit)).
    pub buffer_bytes: Option<u64>,
    /// How it is used until it is closed. The areas begin at multiples of the mapping unit that its costs have, and zones are
    /// as long, for good.
    pub open: OpenOptions,
}

impl PageOptions {
    /// So many pages of 4 KiB under `stable-ring`: commits are whole, and pages that the device damages are noticed, on any
    /// drive.
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

    /// The same with room for so many pages later.
    #[must_use]
    pub fn with_pages_max(self, pages_max: u64) -> Self {
        Self { pages_max: Some(pages_max), ..self }
    }

    /// The same with pages of another length.
    #[must_use]
    pub fn with_page_bytes(self, page_bytes: usize) -> Self {
        Self { page_bytes, ..self }
    }

    /// The same with another policy: the table in the [crate's documentation](crate) says which suits what.
    #[must_use]
    pub fn with_policy(self, policy: PolicyKind) -> Self {
        Self { policy, ..self }
    }

    /// The same with the policy that is predicted to take the least time for a page, of those that promise at least what is
    /// `needed`: by what requests take on the device (its profile's figures), and how the store is going to be used. `None` where
    /// no policy that is possible promises so much: a staging area may be too small, for example.
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

    /// The same with a staging area of this size.
    #[must_use]
    pub fn with_buffer_bytes(self, buffer_bytes: u64) -> Self {
        Self { buffer_bytes: Some(buffer_bytes), ..self }
    }

    /// The same, used in another way until it is closed.
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
