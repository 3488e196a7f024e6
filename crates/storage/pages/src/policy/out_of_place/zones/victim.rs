//! Selection of the zone to clean next.

use super::super::header::ENTRIES_MAX;
use super::{Zone, ZoneState, Zones};
use crate::BLOCK_BYTES;

impl Zones {
    /// Closed zone with the best ratio of benefit to cost, among those written before `written`: as
    /// in the log-structured file system (Rosenblum, Ousterhout 1992, §3.5), with age in extents.
    /// Pages are rewritten in pieces of `piece_pages`.
    pub(in crate::policy::out_of_place) fn victim(
        &self,
        page_blocks: u64,
        piece_pages: usize,
        written: u64,
    ) -> Option<usize> {
        let merit = |zone: &Zone| {
            let alive = zone.alive_bytes as f64 / (self.zone_blocks * BLOCK_BYTES as u64) as f64;
            let age = (written - zone.newest + 1) as f64;
            (1.0 - alive) * age / (1.0 + alive)
        };
        let gets_shorter =
            |zone: &Zone| zone.rewritten_blocks(page_blocks, piece_pages) + page_blocks < self.zone_blocks;
        let zones = self.all.iter().enumerate();
        let candidates = zones.filter(|(_, zone)| {
            zone.state == ZoneState::Closed
                && zone.alive > 0
                && !zone.has_lost
                && gets_shorter(zone)
                && zone.newest <= written
        });
        candidates.max_by(|(_, a), (_, b)| merit(a).total_cmp(&merit(b))).map(|(index, _)| index)
    }
}

impl Zone {
    /// Maximum blocks of its live contents in a free zone. A piece never takes more blocks than it
    /// would uncompressed, and rounds up to whole blocks.
    fn rewritten_blocks(&self, page_blocks: u64, piece_pages: usize) -> u64 {
        let pages = self.alive - self.alive_discards;
        let pieces = pages.div_ceil(piece_pages as u64);
        let packed = self.alive_bytes.div_ceil(BLOCK_BYTES as u64) + pieces;
        packed.min(pages * page_blocks) + pieces + self.alive_discards.div_ceil(ENTRIES_MAX as u64)
    }
}
