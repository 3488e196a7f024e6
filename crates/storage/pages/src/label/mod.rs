//! Label of a store: its identity and the places of its parts.
//!
//! # Format, version 5
//!
//! The device begins with eight *slots*, slot *k* at *k* * `slot_bytes`. Each structure has copies
//! in several slots. A bad stretch as long as a drive's mapping unit or an array's chunk therefore
//! destroys one copy at most:
//!
//! ```text
//! slot_bytes   a power of two: 64 KiB, or 1 MiB for stores from 1 GiB on, or more if a ledger needs it
//!    0  label   4096                a copy in each slot
//! 4096  mark    4096                of a close, in slots 0 and 1; of the [high water](high_water), in slots 6 and 7; else zeros
//! 8192  ledger  ledger_bytes        copy k in slot k
//!       zeros
//! ```
//!
//! The slots are followed by the checksums of pages, blocks for the directory of a closed staging
//! area, the staging area or the zones, and the pages. The label is one block of 4096 bytes,
//! written when the store is created and when it grows. The first valid copy identifies the store,
//! and the valid copy of that store with the most pages applies. A reader starts with block 0; if
//! that is invalid, it searches each place where a slot may begin. Numbers are little-endian.
//!
//! ```text
//!  0  magic             8  "NANDLEPS"
//!  8  version           4  5; 4 without slots; 3 without required extents in the ledger of out-of-place, and without
//!                          room for checksums of added pages; 2 without marks of a close, checksums, and the saved
//!                          map of out-of-place; 1 with only two copies of the ledger, in its own version 1
//! 12  policy            4  1 direct, 2 doublewrite, 3 stable-buffer, 4 stable-ring, 5 out-of-place, 6 auto
//! 16  id               16  chosen at creation, and repeated in every other structure of the store
//! 32  page_bytes        8  4096 … 65536, a power of two
//! 40  pages             8  including the header's
//! 48  ledger_bytes      8  length of one copy of the ledger; 0 if the policy doesn't stage pages
//! 56  ledger_offset     8  8192, within each slot. Before version 5 the offset of the first of contiguous copies,
//!                          followed by both marks, with the two copies of the label at bytes 0 and 4096
//! 64  area_offset       8  the staging area; with out-of-place, the zones
//! 72  area_bytes        8
//! 80  home_offset       8  page n is at home_offset + n * page_bytes, except with out-of-place
//! 88  sums_offset       8  checksums of home pages, from version 3 on
//! 96  sums_bytes        8  0 without checksums
//! 104 generation        8  counts writes of copies; 0 from earlier programs, which ignore it
//! 112 slot_bytes        8  0 before version 5
//! 120 sums_chunks       8  of the checksums, of 1013 pages each; 0 before version 5, with 16 KiB of sums_bytes for each
//! 128 header_page       8  one more than the [number](numbers) of the header's page; 0 without one, as before version 5
//! 136 zeros
//! 4092 checksum         4  CRC32C of all preceding bytes
//! ```
//!
//! To grow, the store writes one copy, flushes, writes the others, and flushes; only then do the
//! new pages count. The first copy written is one of the last write, so that [another](copies)
//! stays durable with the old number if a power cut tears it. An opening that finds different
//! numbers first rewrites the largest in the same way, as it may not be durable. It only rewrites
//! copies that are torn or belong to another store. A valid structure with more pages than all
//! copies is damage: the copies have been replaced by older ones.
//!
//! Creation writes zeros and the ledger, flushes, and then writes the label in the same way, copy 0
//! first. A valid label therefore describes a complete store. If all copies are invalid, the device
//! holds no store. A valid copy of another version, or with an unknown policy, is refused.

mod check;
mod copies;
pub(crate) mod high_water;
mod numbers;
mod places;
mod search;
mod versions;

pub(crate) use copies::Copies;
pub(crate) use places::map_stride_blocks;
pub(crate) use search::LabelSearch;

use crate::fields::{Reader, Writer, is_sealed, seal};
use crate::home_sums;
use crate::{BLOCK_BYTES, CreateOptions, PageError, PageNumber, PolicyKind};

const MAGIC: [u8; 8] = *b"NANDLEPS";
const VERSION: u32 = 5;
/// First version with eight copies of the ledger.
const VERSION_OF_EIGHT_LEDGERS: u32 = 2;
/// First version with marks of a clean close and checksums of home pages.
const VERSION_OF_CLOSE_MARKS: u32 = 3;
/// First version in which the ledger of out-of-place lists the required extents.
const VERSION_OF_SEALED_EXTENTS: u32 = 4;
/// First version with copies in slots.
const VERSION_OF_SLOTS: u32 = 5;
/// Copies of the ledger: see [`Rotation`](crate::extents::Rotation).
const LEDGER_COPIES: u64 = 8;
const EARLIER_LEDGER_COPIES: u64 = 2;
const LARGEST_PAGE_BYTES: usize = 64 << 10;
/// Pages of a new store hidden from callers: the header's page.
pub(crate) const HIDDEN_PAGES: u64 = 1;

/// See the [format](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) version: u32,
    pub(crate) policy: PolicyKind,
    pub(crate) id: u128,
    pub(crate) page_bytes: u64,
    pub(crate) pages: u64,
    pub(crate) ledger_copies: u64,
    pub(crate) ledger_bytes: u64,
    pub(crate) ledger_offset: u64,
    pub(crate) area_offset: u64,
    pub(crate) area_bytes: u64,
    pub(crate) home_offset: u64,
    pub(crate) sums_offset: u64,
    pub(crate) sums_bytes: u64,
    pub(crate) generation: u64,
    /// Length of a slot; 0 without slots.
    pub(crate) slot_bytes: u64,
    /// Number of chunks of the checksums.
    pub(crate) sums_chunks: u64,
    /// Page of the header; `None` in earlier stores.
    pub(crate) header_page: Option<PageNumber>,
}

impl Label {
    /// Lays out a new store: slots with labels, marks of a close and ledgers; checksums, staging
    /// area, pages.
    pub(crate) fn plan(
        options: &CreateOptions,
        ledger_bytes: u64,
        area_bytes: u64,
    ) -> Result<Self, PageError> {
        options.check()?;
        let page_bytes = options.page_bytes;
        debug_assert!(
            ledger_bytes.is_multiple_of(BLOCK_BYTES as u64) && area_bytes.is_multiple_of(BLOCK_BYTES as u64),
            "the parts of a store have whole blocks: {ledger_bytes} and {area_bytes} bytes"
        );
        let alignment = options.alignment_bytes.max(1).next_multiple_of(BLOCK_BYTES as u64);
        let slot_bytes = places::slot_bytes(ledger_bytes, options.pages.saturating_mul(page_bytes as u64));
        let sums_offset = places::SLOTS * slot_bytes;
        let pages_max = options.pages_max.unwrap_or(options.pages);
        if pages_max < options.pages {
            return Err(PageError::PagesMax { pages: options.pages, pages_max });
        }
        let sums_chunks =
            if options.keeps_home_sums() { home_sums::chunks_of(pages_max + HIDDEN_PAGES) } else { 0 };
        let sums_bytes = home_sums::area_bytes(sums_chunks);
        let directory_bytes = places::directory_blocks(options.policy, area_bytes) * BLOCK_BYTES as u64;
        // Both are aligned so that no mapping unit holds parts of two structures.
        let directory_end = sums_offset
            .saturating_add(sums_bytes)
            .saturating_add(directory_bytes)
            .next_multiple_of(places::SLOT_BYTES_MIN);
        let area_offset = directory_end.next_multiple_of(alignment);
        let home_offset = area_offset.saturating_add(area_bytes).next_multiple_of(alignment);
        Ok(Self {
            version: VERSION,
            policy: options.policy,
            id: options.id.unwrap_or_default(),
            page_bytes: page_bytes as u64,
            pages: options.pages + HIDDEN_PAGES,
            ledger_copies: LEDGER_COPIES,
            ledger_bytes,
            ledger_offset: places::BLOCKS_BEFORE_LEDGER * BLOCK_BYTES as u64,
            area_offset,
            area_bytes,
            home_offset,
            sums_offset,
            sums_bytes,
            generation: 0,
            slot_bytes,
            sums_chunks,
            header_page: Some(PageNumber(options.pages)),
        })
    }

    /// Refuses an invalid page length.
    pub(crate) fn check_page_length(got: u64) -> Result<(), PageError> {
        let (least, most) = (BLOCK_BYTES, LARGEST_PAGE_BYTES);
        if Self::is_page_length(got) { Ok(()) } else { Err(PageError::PageSize { got, least, most }) }
    }

    fn is_page_length(page_bytes: u64) -> bool {
        let lengths = BLOCK_BYTES as u64..=LARGEST_PAGE_BYTES as u64;
        page_bytes.is_power_of_two() && lengths.contains(&page_bytes)
    }

    /// Error for a structure with more pages than any label.
    pub(crate) fn older_than(offset_bytes: u64) -> PageError {
        let what = "all copies of its label are older than what tells of more pages";
        PageError::Corrupt { what, offset_bytes }
    }

    /// End of the store.
    pub(crate) fn end_bytes(&self) -> u64 {
        if self.policy.has_zones() {
            return self.area_offset.saturating_add(self.area_bytes);
        }
        self.home_offset.saturating_add(self.pages.saturating_mul(self.page_bytes))
    }

    /// Returns an error unless the store fits a device of this length.
    pub(crate) fn check_fits(&self, capacity_bytes: u64) -> Result<(), PageError> {
        let needed_bytes = self.end_bytes();
        if needed_bytes <= capacity_bytes {
            return Ok(());
        }
        let mend =
            "take a larger device, or fewer pages; if the store was here before, its file has been cut short";
        Err(PageError::TooSmall { needed_bytes, capacity_bytes, mend })
    }

    /// Returns true if the last write of every page is recorded, by checksums or zones.
    pub(crate) fn checks_pages(&self) -> bool {
        self.sums_bytes > 0 || self.policy.has_zones()
    }

    pub(crate) fn area_blocks(&self) -> u64 {
        self.area_bytes / BLOCK_BYTES as u64
    }

    /// Returns true if the area may have this block. The label may be older than the store's zones.
    pub(crate) fn may_have_block(&self, block: u64) -> bool {
        block < self.area_blocks() || self.policy.has_zones()
    }

    /// Offset of a block of the area.
    pub(crate) fn offset_of(&self, block: u64) -> u64 {
        debug_assert!(
            self.may_have_block(block) || block == self.area_blocks(),
            "block {block} of {}",
            self.area_blocks()
        );
        self.area_offset + block * BLOCK_BYTES as u64
    }

    pub(crate) fn home_of(&self, page: PageNumber) -> u64 {
        debug_assert!(!self.policy.has_zones(), "{page} has no place of its own under {}", self.policy);
        self.home_offset + page.0 * self.page_bytes
    }

    pub(crate) fn page_length(&self) -> usize {
        usize::try_from(self.page_bytes).unwrap_or(usize::MAX)
    }

    pub(crate) fn page_blocks(&self) -> u64 {
        self.page_bytes / BLOCK_BYTES as u64
    }

    pub(crate) fn encode(&self, block: &mut [u8]) {
        block.fill(0);
        let mut fields = Writer(block);
        fields.bytes(&MAGIC);
        fields.u32(self.version);
        fields.u32(self.policy.code());
        fields.bytes(&self.id.to_le_bytes());
        let numbers = [
            self.page_bytes,
            self.pages,
            self.ledger_bytes,
            self.ledger_offset,
            self.area_offset,
            self.area_bytes,
            self.home_offset,
            self.sums_offset,
            self.sums_bytes,
            self.generation,
            self.slot_bytes,
            if self.version < VERSION_OF_SLOTS { 0 } else { self.sums_chunks },
            self.header_page.map_or(0, |header| header.0 + 1),
        ];
        for number in numbers {
            fields.u64(number);
        }
        seal(block);
        debug_assert!(
            Self::decode(block).is_ok_and(|read| read == *self),
            "what is written is read again: {self:?}"
        );
    }

    /// Decodes the label in a block.
    pub(crate) fn decode(block: &[u8]) -> Result<Self, PageError> {
        let mut fields = Reader(block);
        if fields.array::<8>() != MAGIC {
            return Err(PageError::NotAStore { found: "it begins with other data" });
        }
        if !is_sealed(block) {
            return Err(PageError::NotAStore { found: "its label is damaged, and so are its copies" });
        }
        let version = fields.u32();
        let ledger_copies = match version {
            VERSION_OF_EIGHT_LEDGERS..=VERSION => LEDGER_COPIES,
            1 => EARLIER_LEDGER_COPIES,
            got => return Err(PageError::Version { got, expected: VERSION }),
        };
        let code = fields.u32();
        let policy = PolicyKind::of_code(code).ok_or_else(|| PageError::Policy {
            got: format!("number {code}"),
            expected: "one that this version knows".into(),
        })?;
        let label = Self {
            version,
            policy,
            id: u128::from_le_bytes(fields.array()),
            page_bytes: fields.u64(),
            pages: fields.u64(),
            ledger_copies,
            ledger_bytes: fields.u64(),
            ledger_offset: fields.u64(),
            area_offset: fields.u64(),
            area_bytes: fields.u64(),
            home_offset: fields.u64(),
            sums_offset: fields.u64(),
            sums_bytes: fields.u64(),
            generation: fields.u64(),
            slot_bytes: fields.u64(),
            sums_chunks: fields.u64(),
            header_page: fields.u64().checked_sub(1).map(PageNumber),
        };
        let label = if label.version < VERSION_OF_SLOTS {
            Self { sums_chunks: home_sums::chunks_in(label.sums_bytes), ..label }
        } else {
            label
        };
        label.check()
    }
}

#[cfg(test)]
mod tests;
