//! The ledger of the out-of-place policy: what of the sequences counts.
//!
//! # Format, version 1 (of the store's label)
//!
//! Two copies of one block, one behind the other; generation *g* is written to copy *g* mod 2, so that the newest valid
//! one is never overwritten. A reader takes the valid one with the greater generation; with none the store is damaged.
//! Numbers are little-endian.
//!
//! ```text
//!  0  magic        8  "NANDLEPO"
//!  8  id          16  the store's
//! 24  generation   8  counts ledgers
//! 32  zone_blocks  8  length of a zone
//! 40  durable      8  all extents up to this sequence are durable; some of them may be gone, their pages being elsewhere
//! 48  cut          8  the last sequence of the run before that counts
//! 56  first        8  the first sequence of this run; what lies between is what a power cut left behind
//! 64  zeros
//! 4092 checksum    4  CRC32C of all bytes before
//! ```
//!
//! It is written at each opening, after headers beyond the cut were wiped and flushed; and before a zone is used again,
//! after a flush, with a `durable` that covers everything in the zone and everything that made it dead.

use crate::BLOCK_BYTES;
use crate::fields::{Reader, Writer, is_sealed, seal};

const MAGIC: [u8; 8] = *b"NANDLEPO";
/// Length of a copy.
pub(super) const LEDGER_BYTES: u64 = BLOCK_BYTES as u64;

/// See the [format](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ledger {
    pub(super) generation: u64,
    pub(super) zone_blocks: u64,
    pub(super) durable: u64,
    pub(super) cut: u64,
    pub(super) first: u64,
}

impl Ledger {
    /// Of a store that nothing was written to.
    pub(super) fn new(zone_blocks: u64) -> Self {
        Self { generation: 0, zone_blocks, durable: 0, cut: 0, first: 1 }
    }

    /// Whether an extent is one that an earlier run left behind.
    pub(super) fn is_aborted(&self, sequence: u64) -> bool {
        self.cut < sequence && sequence < self.first
    }

    pub(super) fn encode(&self, id: u128, block: &mut [u8]) {
        block.fill(0);
        let mut fields = Writer(block);
        fields.bytes(&MAGIC);
        fields.bytes(&id.to_le_bytes());
        for number in [self.generation, self.zone_blocks, self.durable, self.cut, self.first] {
            fields.u64(number);
        }
        seal(block);
    }

    pub(super) fn decode(id: u128, block: &[u8]) -> Option<Self> {
        let mut fields = Reader(block);
        let ours = fields.array() == MAGIC && u128::from_le_bytes(fields.array()) == id;
        if !ours || !is_sealed(block) {
            return None;
        }
        let [generation, zone_blocks, durable, cut, first] = [(); 5].map(|()| fields.u64());
        (zone_blocks > 0).then_some(Self { generation, zone_blocks, durable, cut, first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_damage_is_refused() {
        let ledger = Ledger { generation: 7, durable: 30, cut: 40, first: 99, ..Ledger::new(16) };
        let mut block = vec![9; BLOCK_BYTES];
        ledger.encode(3, &mut block);
        assert_eq!(Ledger::decode(3, &block), Some(ledger));
        assert_eq!(Ledger::decode(4, &block), None);
        for at in [0, 30, 60, 4000, BLOCK_BYTES - 1] {
            block[at] ^= 4;
            assert_eq!(Ledger::decode(3, &block), None, "byte {at}");
            block[at] ^= 4;
        }
        assert_eq!([40, 41, 98, 99].map(|at| ledger.is_aborted(at)), [false, true, true, false]);
    }
}
