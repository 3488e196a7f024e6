//! How much zones hold for sure.

use crate::size::to_usize;

/// Of the spare zones, one in so many is kept for a renewal …
const KEPT_PART: u64 = 16;
/// … as long as they are few enough for an opening to read quickly what may not be durable.
const KEPT_ZONES_MAX: u64 = 32;

/// Of so many zones beyond those that the pages fill, so many are kept for what an opening writes once more.
pub(super) fn kept_for_renewal(spare_zones: u64) -> usize {
    to_usize((spare_zones / KEPT_PART).clamp(1, KEPT_ZONES_MAX))
}

/// Zones that cleaning leaves free: those that are kept for a renewal, and one that is cleaned into after it.
pub(super) fn reserved(kept_for_renewal: usize) -> usize {
    kept_for_renewal + 1
}

/// The most changes that fit into a free zone for sure, when they are written in pieces of so many pages: each piece has a
/// header, and a page takes no more than its length.
pub(super) fn capacity(zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> usize {
    debug_assert!(piece_pages > 0 && page_blocks > 0, "{piece_pages} pages of {page_blocks} blocks");
    let piece_blocks = piece_pages as u64 * page_blocks + 1;
    let rest = (zone_blocks % piece_blocks).saturating_sub(1) / page_blocks;
    let pages = zone_blocks / piece_blocks * piece_pages as u64 + rest;
    to_usize(pages.max(1))
}

/// How many zones are filled by so many pages before one of them must get shorter by being written anew. A zone does so if
/// there is room for one page more in its stead.
pub(super) fn filled_zones(pages: u64, zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> u64 {
    let piece_pages = piece_pages.max(1) as u64;
    // One block each for the header of a last, short piece, and of discards.
    let full_blocks = zone_blocks.saturating_sub(page_blocks + 2).max(1);
    let blocks = u128::from(pages) * u128::from(page_blocks * piece_pages + 1) / u128::from(piece_pages);
    u64::try_from(blocks.div_ceil(u128::from(full_blocks))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_holds_what_it_is_said_to_hold() {
        for (zone_blocks, page_blocks, piece_pages) in [(17, 1, 16), (32, 1, 4), (257, 16, 3), (1024, 4, 252)]
        {
            let pages = capacity(zone_blocks, page_blocks, piece_pages);
            let blocks = |pages: usize| pages as u64 * page_blocks + pages.div_ceil(piece_pages) as u64;
            assert!(
                blocks(pages) <= zone_blocks && blocks(pages + 1) > zone_blocks,
                "{zone_blocks}: {pages}"
            );
        }
    }
}
