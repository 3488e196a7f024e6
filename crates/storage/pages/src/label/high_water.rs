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
//!   32  area      8  bytes of the area; 0 as earlier programs wrote it
//!   40  zeros
//! 4092  checksum  4  CRC32C of all bytes before
//! ```
//!
//! A growth writes them together with its last labels, after a label with that number of pages is
//! durable. A mark with more pages than every label is therefore damage: the labels have been
//! replaced by older ones, even if other structures contain the new pages.

use super::Label;
use crate::fields::{fields_of, fill};

const MAGIC: [u8; 8] = *b"NANDLEPH";

/// Encodes the mark of a label into a block.
pub(super) fn encode(label: &Label, block: &mut [u8]) {
    fill(block, MAGIC, label.id, |fields| {
        fields.u64(label.pages);
        fields.u64(label.area_bytes);
    });
}

/// Contents of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HighWater {
    pub(crate) pages: u64,
    pub(crate) area_bytes: u64,
}

/// Decodes a mark of this store.
pub(crate) fn decode(id: u128, block: &[u8]) -> Option<HighWater> {
    let mut fields = fields_of(block, MAGIC, id)?;
    Some(HighWater { pages: fields.u64(), area_bytes: fields.u64() })
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
        let mark = HighWater { pages: label.pages, area_bytes: label.area_bytes };
        assert_eq!((decode(label.id, &block), decode(label.id + 1, &block)), (Some(mark), None));
        block[24] ^= 1;
        assert_eq!(decode(label.id, &block), None);
    }
}
