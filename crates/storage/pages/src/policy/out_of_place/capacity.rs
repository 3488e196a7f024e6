//! How much zones hold for sure.

use crate::extents::fitting_pages;
use crate::size::to_usize;

/// Of the spare zones, one in so many is kept for a renewal …
const KEPT_PART: u64 = 16;
/// … as long as they are few enough for an opening to read quickly what may not be durable.
const KEPT_ZONES_MAX: u64 = 32;

/// A batch may have so many blocks of pages, where so few zones hold them …
const BATCH_BLOCKS: u64 = 1024;
/// … that it doesn't take much more space.
const BATCH_ZONES_MAX: u64 = 4;
/// Zones beside those that the pages can fill: some to write to, one to clean into, one that is kept free, and those that cleaning
/// leaves to a burst.
const LEAST_SPARE_ZONES: u64 = 9;

/// Zones of a batch that a store with default options takes.
fn batch_zones(zone_blocks: u64) -> u64 {
    let zones = BATCH_BLOCKS.div_ceil(zone_blocks);
    if zones > BATCH_ZONES_MAX { 1 } else { zones }
}

/// Zones beyond those that the pages fill. Each zone of a batch but the first takes two that are free, and a half for the zones that
/// are being filled.
pub(super) fn least_spare(zone_blocks: u64) -> u64 {
    LEAST_SPARE_ZONES + (5 * (batch_zones(zone_blocks) - 1)).div_ceil(2)
}

/// Of so many zones beyond those that the pages fill, so many are kept for what an opening writes once more: the largest batch.
pub(super) fn kept_for_renewal(spare_zones: u64, zone_blocks: u64) -> usize {
    let possible = 1 + spare_zones.saturating_sub(LEAST_SPARE_ZONES) * 2 / 5;
    let of_batch = batch_zones(zone_blocks).min(possible);
    to_usize((spare_zones / KEPT_PART).min(KEPT_ZONES_MAX).max(of_batch))
}

/// Zones that cleaning leaves free: those that are kept for a renewal, and one that is cleaned into after it.
pub(super) fn reserved(kept_for_renewal: usize) -> usize {
    kept_for_renewal + 1
}

/// The most changes that fit into so many free zones for sure, when they are written in pieces of so many pages: each piece has a
/// header, and a page takes no more than its length. Where one zone ends and the next begins, less than a page is left and a
/// header is needed.
pub(super) fn capacity(zones: usize, zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> usize {
    debug_assert!(zones > 0, "a batch has a zone");
    let first = fitting_pages(zone_blocks, page_blocks, piece_pages).max(1);
    first + (zones - 1) * first.saturating_sub(2)
}

/// So many free zones hold so many changes for sure.
pub(super) fn zones_of(changes: usize, zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> usize {
    let first = capacity(1, zone_blocks, page_blocks, piece_pages);
    1 + changes.saturating_sub(first).div_ceil(first.saturating_sub(2).max(1))
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
    fn a_batch_has_the_zones_that_it_fills() {
        for zones in 1..40 {
            let changes = capacity(zones, 256, 1, 252);
            assert_eq!(zones_of(changes, 256, 1, 252), zones);
            assert_eq!(zones_of(changes + 1, 256, 1, 252), zones + 1);
        }
    }

    #[test]
    fn few_spare_zones_are_kept() {
        for zone_blocks in [17, 128, 256, 400, 512, 1024, 4096] {
            let least = least_spare(zone_blocks);
            for spare in least..1000 {
                let (kept, groups) = (kept_for_renewal(spare, zone_blocks) as u64, (spare / 4).clamp(1, 8));
                // Kept zones, the zone that is cleaned into, those of a batch, one before it, and the one that is being filled.
                assert!(kept + 1 + 1 + kept + groups < spare + 1, "{zone_blocks}: {kept} of {spare}");
                assert!(kept >= batch_zones(zone_blocks), "{zone_blocks}: {kept} of {spare}");
            }
        }
    }
}
