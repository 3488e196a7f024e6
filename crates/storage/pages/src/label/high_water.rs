//! High-water mark: the largest number of pages of the store, recorded apart from its labels.
//!
//! # Format, from version 5 (of the label) on
//!
//! Two copies, in the second block of slots 6 and 7. Numbers are little-endian.
//!
//! ```text
//!    0  magic     8  "NANDLEPH"
//!    8  id       16  the store's
//!   24  pages     8
//!   32  area      8  length of the area in bytes; 0 from earlier programs
//!   40  header    8  one more than the number of the header's page; 0 without one, or from earlier programs
//!   48  zeros
//! 4092  checksum  4  CRC32C of all preceding bytes
//! ```
//!
//! A growth writes them together with its last labels, after a label with that number of pages is
//! durable. A mark with more pages than every label is therefore damage: the labels have been
//! replaced by older ones, even if other structures contain the new pages. If all labels are lost,
//! the number of the header's page equals the initial number of pages.

use super::{Label, places};
use crate::PageNumber;
use crate::fields::{fields_of, fill};

const MAGIC: [u8; 8] = *b"NANDLEPH";

/// Encodes the mark of a label into a block.
pub(super) fn encode(label: &Label, block: &mut [u8]) {
    fill(block, MAGIC, label.id, |fields| {
        fields.u64(label.pages);
        fields.u64(label.area_bytes);
        fields.u64(label.header_page.map_or(0, |header| header.0 + 1));
    });
}

/// Contents of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HighWater {
    pub(crate) pages: u64,
    pub(crate) area_bytes: u64,
    pub(crate) header_page: Option<PageNumber>,
}

/// Decodes a mark of this store.
pub(crate) fn decode(id: u128, block: &[u8]) -> Option<HighWater> {
    let mut fields = fields_of(block, MAGIC, id)?;
    let [pages, area_bytes, header] = [(); 3].map(|()| fields.u64());
    Some(HighWater { pages, area_bytes, header_page: header.checked_sub(1).map(PageNumber) })
}

/// Decodes a mark of any store. Returns it with the store's id.
pub(crate) fn decode_any(block: &[u8]) -> Option<(u128, HighWater)> {
    let id = block.get(MAGIC.len()..)?.first_chunk().map(|id| u128::from_le_bytes(*id))?;
    Some((id, decode(id, block)?))
}

/// Possible places of a mark, for all lengths of slots.
pub(crate) fn candidates() -> impl Iterator<Item = u64> {
    places::slot_lengths().flat_map(places::high_water_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BLOCK_BYTES, CreateOptions, PolicyKind};

    #[test]
    fn what_was_written_is_read_and_damage_is_not() {
        let label = Label::plan(&CreateOptions::new(PolicyKind::Direct, 4096, 77), 0, 0).unwrap();
        let mut block = vec![3; BLOCK_BYTES];
        encode(&label, &mut block);
        let Label { pages, area_bytes, header_page, .. } = label;
        let mark = HighWater { pages, area_bytes, header_page };
        assert_eq!((decode(label.id, &block), decode(label.id + 1, &block)), (Some(mark), None));
        assert_eq!(decode_any(&block), Some((label.id, mark)));
        assert!(label.high_water_places().all(|place| candidates().any(|candidate| candidate == place)));
        block[24] ^= 1;
        assert_eq!((decode(label.id, &block), decode_any(&block)), (None, None));
    }
}
