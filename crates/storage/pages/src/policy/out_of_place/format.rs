//! How large the parts of a new store are, and what is written when it is made.

use std::rc::Rc;

use nandle_io::Arena;

use super::clean::pages_in_memory;
use super::ledger::{LEDGER_BYTES, Ledger};
use super::recover::GROUPS_MAX;
use super::saved_map;
use super::zones::headers_of;
use crate::disk::Disk;
use crate::extents::{Stamp, write_first};
use crate::label::Label;
use crate::{BLOCK_BYTES, CreateOptions, OpenOptions, PageError};

/// A zone has room for a header and so many pages at least.
const LEAST_ZONE_PAGES: u64 = 16;
/// Zones beside those that the pages fill: some to write to, some to clean into, one that is kept free, and one that is
/// reserved.
const LEAST_SPARE_ZONES: u64 = 9;

/// Bytes of a ledger copy and of the area: zones, and two slots for the saved map.
pub(crate) fn areas(options: &CreateOptions) -> (u64, u64) {
    let zones = zones(options);
    let blocks = zones.saturating_mul(zone_blocks(options));
    let slots = saved_map::blocks(options.pages, zones).saturating_mul(2);
    (LEDGER_BYTES, blocks.saturating_add(slots).saturating_mul(BLOCK_BYTES as u64))
}

fn zones(options: &CreateOptions) -> u64 {
    let pages_bytes = options.pages.saturating_mul(options.page_bytes as u64);
    let zone_bytes = zone_blocks(options) * BLOCK_BYTES as u64;
    let spare_bytes = u128::from(pages_bytes) * u128::from(options.spare_percent) / 100;
    let spare_zones = u64::try_from(spare_bytes / u128::from(zone_bytes)).unwrap_or(u64::MAX);
    pages_bytes.div_ceil(zone_bytes).saturating_add(spare_zones.max(LEAST_SPARE_ZONES))
}

fn zone_blocks(options: &CreateOptions) -> u64 {
    let page_blocks = options.page_bytes.div_ceil(BLOCK_BYTES) as u64;
    let unit_blocks = options.alignment_bytes.div_ceil(BLOCK_BYTES as u64).max(1);
    (1 + LEAST_ZONE_PAGES * page_blocks).next_multiple_of(unit_blocks)
}

/// Writes the first ledger, not flushed. The area stays as it is: no header in it has this store's id.
pub(crate) async fn format(disk: &Rc<Disk>, label: &Label, options: &CreateOptions) -> Result<(), PageError> {
    let arena = Arena::new(BLOCK_BYTES)?;
    let ledger = Ledger::new(zone_blocks(options), saved_map::blocks(options.pages, zones(options)));
    write_first(disk, label, &arena, |copy| ledger.encode(label.id, Stamp::default(), copy)).await
}

/// The most changes that a group may have for sure, however many groups of lifetimes the store will tell apart.
pub(crate) fn largest_batch(create: &CreateOptions, open: &OpenOptions) -> usize {
    let page_blocks = create.page_bytes.div_ceil(BLOCK_BYTES) as u64;
    let zone_blocks = zone_blocks(create);
    let pieces =
        zone_blocks.div_ceil(pages_in_memory(open.memory_bytes, create.page_bytes) as u64 * page_blocks);
    let headers = pieces * headers_of(zone_blocks, GROUPS_MAX);
    usize::try_from((zone_blocks.saturating_sub(headers) / page_blocks).max(1)).unwrap_or(usize::MAX)
}
