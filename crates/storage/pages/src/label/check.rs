//! Checks that a label describes a possible layout. Its checksum only proves that it was written
//! this way.

use super::{Label, VERSION_OF_SLOTS, places};
use crate::{BLOCK_BYTES, PageError, home_sums};

const BLOCK: u64 = BLOCK_BYTES as u64;

impl Label {
    /// # Errors
    /// The parts overlap, end beyond 64 bits, or have no room for the pages.
    pub(super) fn check(self) -> Result<Self, PageError> {
        if Self::is_page_length(self.page_bytes) && self.is_laid_out().unwrap_or(false) {
            Ok(self)
        } else {
            Err(PageError::NotAStore { found: "its label describes a layout that no store has" })
        }
    }

    /// Returns true if slots, checksums, area and pages follow each other; `None` if they end
    /// beyond 64 bits.
    fn is_laid_out(&self) -> Option<bool> {
        let pages_bytes = self.pages.checked_mul(self.page_bytes)?;
        let copies_end = self.checked_copies_end()?;
        let directory_bytes = self.directory_blocks().checked_mul(BLOCK)?;
        let sums_end = self.sums_offset.checked_add(self.sums_bytes)?.checked_add(directory_bytes)?;
        let area_end = self.area_offset.checked_add(self.area_bytes)?;
        self.home_offset.checked_add(pages_bytes)?;
        let in_blocks =
            [self.ledger_bytes, self.ledger_offset, self.area_offset, self.area_bytes, self.home_offset]
                .iter()
                .all(|bytes| bytes.is_multiple_of(BLOCK));
        let has_header = self.header_page.is_none_or(|header| header.0 < self.pages);
        let in_order = self.ledger_offset >= places::BLOCKS_BEFORE_LEDGER * BLOCK
            && copies_end <= self.area_offset
            && (sums_end == self.sums_offset
                || (copies_end <= self.sums_offset && sums_end <= self.area_offset))
            && area_end <= self.home_offset;
        let has_sums = self.sums_chunks > 0 && self.sums_chunks <= home_sums::chunks_in(self.sums_bytes);
        let has_room = (self.sums_bytes == 0
            || (has_sums && home_sums::pages_max(self.sums_chunks) >= self.pages))
            && (!self.policy.has_zones() || pages_bytes <= self.area_bytes);
        Some(in_blocks && in_order && has_room && has_header)
    }

    /// End of the copies; `None` if they don't fit, or end beyond 64 bits.
    fn checked_copies_end(&self) -> Option<u64> {
        let ledgers_end =
            self.ledger_offset.checked_add(self.ledger_copies.checked_mul(self.ledger_bytes)?)?;
        if self.version < VERSION_OF_SLOTS {
            return (self.slot_bytes == 0).then_some(ledgers_end);
        }
        let lengths = places::SLOT_BYTES_MIN..=places::SLOT_BYTES_MAX;
        let is_length = self.slot_bytes.is_power_of_two() && lengths.contains(&self.slot_bytes);
        let has_room = self.ledger_offset.checked_add(self.ledger_bytes)? <= self.slot_bytes;
        (is_length && has_room).then(|| self.copies_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CreateOptions, PageNumber, PolicyKind};

    #[test]
    fn every_policy_plans_a_layout_that_passes() {
        for policy in PolicyKind::ALL {
            let options = CreateOptions::new(policy, 4096, 1000);
            let label = Label::plan(&options, 8192, 8 << 20).unwrap();
            assert_eq!(label.clone().check(), Ok(label), "{policy}");
        }
    }

    #[test]
    fn labels_that_no_store_has_are_refused() {
        let options = CreateOptions::new(PolicyKind::StableRing, 4096, 1000);
        let good = Label::plan(&options, 8192, 8 << 20).unwrap();
        let bad = [
            Label { page_bytes: 0, ..good.clone() },
            Label { page_bytes: 512, ..good.clone() },
            Label { page_bytes: 12_288, ..good.clone() },
            Label { pages: 1 << 60, ..good.clone() },
            Label { pages: good.pages * 2000, ..good.clone() },
            Label { ledger_offset: u64::MAX - 4095, ..good.clone() },
            Label { ledger_offset: 0, ..good.clone() },
            Label { slot_bytes: 0, ..good.clone() },
            Label { sums_chunks: 0, ..good.clone() },
            Label { sums_chunks: 17, ..good.clone() },
            Label { slot_bytes: 96 << 10, ..good.clone() },
            Label { slot_bytes: 1 << 37, ..good.clone() },
            Label { ledger_bytes: 64 << 10, ..good.clone() },
            Label { version: 4, ..good.clone() },
            Label { header_page: Some(PageNumber(good.pages)), ..good.clone() },
            Label { area_offset: good.area_offset + 1, ..good.clone() },
            Label { area_bytes: u64::MAX - 4095, ..good.clone() },
            Label { home_offset: good.area_offset, ..good.clone() },
            Label { sums_offset: good.area_offset, ..good.clone() },
            Label { policy: PolicyKind::OutOfPlace, pages: 1 << 30, sums_bytes: 0, ..good },
        ];
        for label in bad {
            assert!(label.clone().check().is_err(), "{label:?}");
        }
    }
}
