//! Directory of a closed staging area: a second copy of every header that the ledger names. A bad
//! block may then cost pages, but never the list of pages.
//!
//! # Format, version 5 (of the store's label), where the [mark](super::close) names one
//!
//! Blocks between the checksums and the staging area, at least a mapping unit away from the
//! headers, written when the store is closed. In version 4 it used free blocks of the area, which
//! the next opening could overwrite. Numbers are little-endian.
//!
//! ```text
//!    0  magic       8  "NANDLEPD"
//!    8  id         16  the store's
//!   24  generation  8  of the mark that names it
//!   32  index       4  of the block in the directory
//!   36  first       4  offset in the payload of the first record that starts there; 4052 if none does
//!   40  payload  4052  part of the consecutive records; zeros at the end
//! 4092  checksum    4  CRC32C of all preceding bytes
//!
//! a record           length of the header, 2 bytes, and the header without trailing zeros and checksum
//! ```
//!
//! Each block is independent: a bad one costs only the records with parts in it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::header::Header;
use super::ledger::Ledger;
use crate::BLOCK_BYTES;
use crate::fields::{fields_of, fill, seal};
use crate::label::Label;
use crate::size::to_u32;

const MAGIC: [u8; 8] = *b"NANDLEPD";
const PAYLOAD_BYTES: usize = BLOCK_BYTES - 40 - 4;
const LENGTH_BYTES: usize = 2;

/// Place of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DirectoryPlace {
    pub(super) block: u64,
    pub(super) blocks: u64,
}

/// Number of blocks of a directory of these headers.
pub(super) fn blocks<'a>(headers: impl Iterator<Item = &'a Header>) -> u64 {
    let bytes: usize = headers.map(|header| LENGTH_BYTES + header.length_bytes()).sum();
    bytes.div_ceil(PAYLOAD_BYTES) as u64
}

/// Encodes a directory as whole blocks.
pub(super) fn encode<'a>(id: u128, generation: u64, headers: impl Iterator<Item = &'a Header>) -> Vec<u8> {
    let (mut records, mut starts) = (Vec::new(), Vec::new());
    for header in headers {
        starts.push(records.len());
        let block = header.encoded(id);
        let header = block.get(..header.length_bytes()).unwrap_or(&block);
        let length = u16::try_from(header.len()).unwrap_or_else(|_| unreachable!("a header is a block"));
        records.extend(length.to_le_bytes());
        records.extend(header);
    }
    let mut directory = vec![0; records.len().div_ceil(PAYLOAD_BYTES) * BLOCK_BYTES];
    let payloads = (0..).step_by(PAYLOAD_BYTES).zip(records.chunks(PAYLOAD_BYTES));
    for (index, (block, (begin, payload))) in (0..).zip(directory.chunks_mut(BLOCK_BYTES).zip(payloads)) {
        let next = starts.partition_point(|start| *start < begin);
        let first = starts.get(next).map_or(PAYLOAD_BYTES, |start| (start - begin).min(PAYLOAD_BYTES));
        fill(block, MAGIC, id, |fields| {
            fields.u64(generation);
            fields.u32(index);
            fields.u32(to_u32(first as u64));
            fields.bytes(payload);
        });
    }
    directory
}

/// Decodes the headers in the valid blocks of a directory.
pub(super) fn decode<'a>(
    id: u128,
    generation: u64,
    blocks: impl Iterator<Item = Option<&'a [u8]>>,
) -> Vec<Header> {
    let mut headers = Vec::new();
    // After an invalid block, decoding resumes at the next whole record.
    let mut records: Option<Vec<u8>> = None;
    for (index, block) in (0..).zip(blocks) {
        let valid = block.and_then(|block| payload_of(id, generation, index, block));
        match (valid, &mut records) {
            (Some((_, payload)), Some(records)) => records.extend(payload),
            (Some((first, payload)), None) => {
                records = Some(payload.get(first..).unwrap_or_default().to_vec());
            }
            (None, _) => headers.extend(records.take().iter().flat_map(|records| headers_in(id, records))),
        }
    }
    headers.extend(records.iter().flat_map(|records| headers_in(id, records)));
    headers
}

/// Returns true if a block belongs to the directory.
pub(super) fn is_valid(id: u128, generation: u64, index: usize, block: &[u8]) -> bool {
    payload_of(id, generation, to_u32(index as u64), block).is_some()
}

fn payload_of(id: u128, generation: u64, index: u32, block: &[u8]) -> Option<(usize, &[u8])> {
    let mut fields = fields_of(block, MAGIC, id)?;
    let is_it = (fields.u64(), fields.u32()) == (generation, index);
    let first = fields.u32() as usize;
    let payload = fields.0.get(..PAYLOAD_BYTES)?;
    is_it.then_some((first, payload))
}

/// Headers of consecutive records.
fn headers_in(id: u128, mut records: &[u8]) -> Vec<Header> {
    let mut headers = Vec::new();
    while let Some((length, rest)) = records.split_first_chunk::<LENGTH_BYTES>() {
        let length = usize::from(u16::from_le_bytes(*length));
        let Some((header, rest)) = rest.split_at_checked(length).filter(|_| length > 0) else { break };
        let mut block = vec![0; BLOCK_BYTES];
        if let Some(place) = block.get_mut(..length) {
            place.copy_from_slice(header);
            seal(&mut block);
        }
        headers.extend(Header::position_of(&block).and_then(|position| Header::decode(id, position, &block)));
        records = rest;
    }
    headers
}

impl DirectoryPlace {
    /// Byte range on the device, or `None` if it lies outside the store.
    pub(super) fn range(self, label: &Label) -> Option<Range<u64>> {
        // Before version 5 the directory lay in the area.
        let (first, room_blocks) = match label.directory_blocks() {
            0 => (label.area_offset, label.area_blocks()),
            blocks => (label.directory_offset(), blocks),
        };
        let end = self.block.checked_add(self.blocks).filter(|end| *end <= room_blocks && self.blocks > 0)?;
        Some(first + self.block * BLOCK_BYTES as u64..first + end * BLOCK_BYTES as u64)
    }
}

/// Headers that the ledger names and that are missing at their places.
pub(super) fn missing<'a>(
    directory: Vec<Header>,
    ledger: &'a Ledger,
    headers: &'a BTreeMap<u64, Header>,
    label: &'a Label,
) -> impl Iterator<Item = Header> + 'a {
    directory.into_iter().filter(move |header| {
        let is_named = header.position < label.area_blocks() && ledger.headers.get(header.position);
        let is_there = headers.get(&header.position).is_some_and(|there| there.seal == header.seal);
        is_named && !is_there && header.is_of_pages(label.pages)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageNumber;
    use crate::staging::header::ENTRIES_MAX;

    fn headers() -> Vec<Header> {
        let lengths = [1, 0, 3, ENTRIES_MAX, 1, ENTRIES_MAX - 1, 40, 1];
        let headers = (1..).zip(lengths).map(|(sequence, pages)| {
            let mut header = Header {
                epoch: 3,
                sequence,
                durable: sequence - 1,
                position: sequence * 400,
                is_last: true,
                pages: (0..pages).map(|page| (PageNumber(page as u64), 0xdead)).collect(),
                discards: if pages < 40 { vec![PageNumber(77)] } else { Vec::new() },
                seal: 0,
            };
            header.seal = crate::fields::seal_of(&header.encoded(9));
            header
        });
        headers.collect()
    }

    #[test]
    fn a_bad_block_costs_the_headers_that_have_a_part_in_it() {
        let all = headers();
        let directory = encode(9, 5, all.iter());
        assert_eq!(directory.len() as u64 / 4096, blocks(all.iter()));
        let whole = |bad: usize| {
            let blocks = directory.chunks(BLOCK_BYTES).enumerate();
            decode(9, 5, blocks.map(|(index, block)| (index != bad).then_some(block)))
        };
        assert_eq!(whole(99), all);
        for bad in 0..directory.len() / BLOCK_BYTES {
            let left = whole(bad);
            assert!(left.len() < all.len() && left.len() + 5 >= all.len(), "{bad}: {}", left.len());
            assert!(left.iter().all(|header| all.contains(header)));
        }
        assert!(decode(9, 6, directory.chunks(BLOCK_BYTES).map(Some)).is_empty(), "it is an older one");
        assert!(decode(8, 5, directory.chunks(BLOCK_BYTES).map(Some)).is_empty(), "it is another store's");
    }
}
