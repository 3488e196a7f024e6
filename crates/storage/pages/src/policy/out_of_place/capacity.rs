//! How much zones hold for sure.

use crate::size::to_usize;

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
