//! Guaranteed capacity of zones.

use crate::extents::fitting_pages;
use crate::size::to_usize;

/// Fraction of the spare zones kept for a renewal.
const KEPT_PART: u64 = 16;
/// Maximum of kept zones, which bounds the volatile data that an opening reads.
const KEPT_ZONES_MAX: u64 = 32;

/// Blocks of pages that a batch may have, where few zones hold them.
const BATCH_BLOCKS: u64 = 1024;
/// Maximum zones of such a batch, which bounds its space.
const BATCH_ZONES_MAX: u64 = 4;
/// Zones beyond those that the pages fill: some to write to, one to clean into, one kept free, and
/// a reserve for bursts.
const LEAST_SPARE_ZONES: u64 = 9;

/// Zones of the largest batch with default options.
fn batch_zones(zone_blocks: u64) -> u64 {
    let zones = BATCH_BLOCKS.div_ceil(zone_blocks);
    if zones > BATCH_ZONES_MAX { 1 } else { zones }
}

/// Spare zones of a store. Each zone of a batch after the first takes two free ones, and half a
/// zone for those being filled.
pub(super) fn least_spare(zone_blocks: u64) -> u64 {
    LEAST_SPARE_ZONES + (5 * (batch_zones(zone_blocks) - 1)).div_ceil(2)
}

/// Zones kept for a renewal, which must hold the largest batch.
pub(super) fn kept_for_renewal(spare_zones: u64, zone_blocks: u64) -> usize {
    let possible = 1 + spare_zones.saturating_sub(LEAST_SPARE_ZONES) * 2 / 5;
    let of_batch = batch_zones(zone_blocks).min(possible);
    to_usize((spare_zones / KEPT_PART).min(KEPT_ZONES_MAX).max(of_batch))
}

/// Zones that cleaning leaves free: those kept for a renewal, and one to clean into afterwards.
pub(super) fn reserved(kept_for_renewal: usize) -> usize {
    kept_for_renewal + 1
}

/// Guaranteed number of changes that fit `zones` free zones, in extents of `piece_pages` pages.
/// Each extent has a header, and a page takes at most its length. At each boundary between zones
/// less than a page is wasted, and another header is needed.
pub(super) fn capacity(zones: usize, zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> usize {
    debug_assert!(zones > 0, "a batch has a zone");
    let first = fitting_pages(zone_blocks, page_blocks, piece_pages).max(1);
    first + (zones - 1) * first.saturating_sub(2)
}

/// Number of free zones that are guaranteed to hold `changes` changes.
pub(super) fn zones_of(changes: usize, zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> usize {
    let first = capacity(1, zone_blocks, page_blocks, piece_pages);
    1 + changes.saturating_sub(first).div_ceil(first.saturating_sub(2).max(1))
}

/// Maximum number of zones that `pages` live pages can fill completely. Any zone beyond that
/// shrinks when it is rewritten. A zone shrinks if it has room for one more page.
pub(super) fn filled_zones(pages: u64, zone_blocks: u64, page_blocks: u64, piece_pages: usize) -> u64 {
    let piece_pages = piece_pages.max(1) as u64;
    // One block each for the header of a short last piece, and of discards.
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
                // Kept zones, the zone cleaned into, those of a batch, one before it, and the ones
                // being filled.
                assert!(kept + 1 + 1 + kept + groups < spare + 1, "{zone_blocks}: {kept} of {spare}");
                assert!(kept >= batch_zones(zone_blocks), "{zone_blocks}: {kept} of {spare}");
            }
        }
    }
}
