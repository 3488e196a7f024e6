//! Sizes of the parts of a new store, and its initial contents.

use std::rc::Rc;

use nandle_io::Arena;

use super::capacity::{capacity, filled_zones, kept_for_renewal, reserved};
use super::clean::{FREE_ZONES, piece_pages};
use super::layout::AreaLayout;
use super::ledger::{LEDGER_BYTES, Ledger};
use crate::disk::Disk;
use crate::extents::{Stamp, write_first};
use crate::label::{HIDDEN_PAGES, Label};
use crate::{BLOCK_BYTES, BatchNumber, CreateOptions, OpenOptions, PageError};

/// Minimum capacity of a zone in pages, besides a header.
const LEAST_ZONE_PAGES: u64 = 16;
/// Minimum pages per extent written by cleaning, however little memory there is.
pub(super) const PIECE_PAGES: usize = 64;

/// Value of a zone field without a zone.
const NO_ZONE: u64 = u64::MAX;

/// Encodes an optional zone in a header or a ledger.
pub(super) fn zone_field(zone: Option<u64>) -> u64 {
    debug_assert_ne!(zone, Some(NO_ZONE), "an area has fewer zones");
    zone.unwrap_or(NO_ZONE)
}

/// Decodes such a field.
pub(super) fn zone_of_field(field: u64) -> Option<u64> {
    (field != NO_ZONE).then_some(field)
}

/// Lengths of a ledger copy and of the area: zones, and two slots of the saved map.
pub(crate) fn areas(options: &CreateOptions) -> (u64, u64) {
    (LEDGER_BYTES, layout(options).bytes())
}

/// Capacity of a store's zones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ZoneRoom {
    /// Pages in all zones except those that stay free.
    pub(crate) pages: u64,
    /// Pages in one zone.
    pub(crate) zone_pages: u64,
    /// Pages per extent written by cleaning a full zone.
    pub(crate) piece_pages: usize,
}

/// Capacity for incompressible pages: more than all pages of the store.
pub(crate) fn zone_room(create: &CreateOptions, open: &OpenOptions) -> ZoneRoom {
    let zone_pages = capacity(1, zone_blocks(create), page_blocks(create), PIECE_PAGES) as u64;
    let zones = zones(create);
    let kept = kept(create);
    let used_zones = zones.saturating_sub((FREE_ZONES + reserved(kept)) as u64);
    ZoneRoom {
        pages: used_zones.saturating_mul(zone_pages),
        zone_pages,
        piece_pages: piece_pages(open.memory_bytes, create.page_bytes),
    }
}

fn zones(options: &CreateOptions) -> u64 {
    layout(options).zones
}

fn layout(options: &CreateOptions) -> AreaLayout {
    AreaLayout::of_new(pages(options), page_blocks(options), zone_blocks(options), options.spare_percent)
}

/// Zones that the pages fill.
fn filled(options: &CreateOptions) -> u64 {
    filled_zones(pages(options), zone_blocks(options), page_blocks(options), PIECE_PAGES)
}

/// Number of pages including the header's.
fn pages(options: &CreateOptions) -> u64 {
    options.pages + HIDDEN_PAGES
}

fn page_blocks(options: &CreateOptions) -> u64 {
    options.page_bytes.div_ceil(BLOCK_BYTES) as u64
}

fn zone_blocks(options: &CreateOptions) -> u64 {
    let unit_blocks = options.alignment_bytes.div_ceil(BLOCK_BYTES as u64).max(1);
    (1 + LEAST_ZONE_PAGES * page_blocks(options)).next_multiple_of(unit_blocks)
}

/// Writes the first ledger, without a flush. The area needs no change, as no header in it has this
/// store's id.
pub(crate) async fn format(
    disk: &Rc<Disk>,
    label: &Label,
    options: &CreateOptions,
    last: BatchNumber,
) -> Result<(), PageError> {
    debug_assert_eq!(label.ledger_bytes, LEDGER_BYTES, "a ledger is a block");
    let arena = Arena::new(BLOCK_BYTES)?;
    let ledger = Ledger { durable: last.0, begun: last.0, ..Ledger::new(layout(options)) };
    write_first(disk, label, &arena, |copy| ledger.encode(label.id, Stamp::default(), copy)).await
}

/// Zones kept for a renewal.
fn kept(options: &CreateOptions) -> usize {
    kept_for_renewal(zones(options).saturating_sub(filled(options)), zone_blocks(options))
}

/// Maximum number of changes in a group.
pub(crate) fn largest_batch(create: &CreateOptions, open: &OpenOptions) -> usize {
    let piece_pages = piece_pages(open.memory_bytes, create.page_bytes);
    capacity(kept(create), zone_blocks(create), page_blocks(create), piece_pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicyKind;

    /// Guarantees that cleaning always finds dead space.
    #[test]
    fn zones_have_room_for_more_than_all_pages() {
        for page_bytes in [4 << 10, 16 << 10, 64 << 10] {
            for alignment_bytes in [4 << 10, 1 << 20, 64 << 20] {
                for (pages, spare_percent) in [(1, 0), (100, 15), (10_000, 0), (1 << 20, 15), (1 << 30, 1)] {
                    let create = CreateOptions::new(PolicyKind::OutOfPlace, page_bytes, pages);
                    let create = CreateOptions { spare_percent, alignment_bytes, ..create };
                    let room = zone_room(&create, &OpenOptions::default());
                    assert!(room.pages > pages, "{create:?}: {room:?}");
                }
            }
        }
    }
}
