//! Recovery: see the formats of the [header](super::header), the [ledger](super::ledger) and the
//! [saved map](super::saved_map). It can be interrupted anywhere and repeated. Nothing is rewritten
//! in place: a drive that tears inside blocks could destroy the only acknowledged copy. The array's
//! owner resynchronises a mirror's legs below this layer.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use nandle_io::Arena;

use super::capacity::{capacity, filled_zones, kept_for_renewal};
use super::clean::piece_pages;
use super::header::{Entry, Header};
use super::layout::AreaLayout;
use super::ledger::{Ledger, MapAt};
use super::lifetimes::Lifetimes;
use super::log::{MappedPages, ZoneLog};
use super::map::{Kept, Map, PagePlace};
use super::needed::NeededExtents;
use super::packing::PageReader;
use super::renew;
use super::save::{DEPTH, PIECE_BYTES};
use super::saved_map::{Filled, Loaded};
use super::walk::{Extent, Walk};
use super::zones::Zones;
use super::{EngineState, ZoneEngine};
use crate::defects::Defect;
use crate::extents::{Followed, Rotation, Scan};
use crate::label::Label;
use crate::memory::memory_of;
use crate::page::checksum;
use crate::policy::Parts;
use crate::signal::Turn;
use crate::size::to_usize;
use crate::write_log::{Chain, Context, Limits};
use crate::{BLOCK_BYTES, BatchNumber, PageError};

/// Sequences skipped by an opening, more than an interrupted run can have in flight.
const SEQUENCES_LEFT_OUT: u64 = 1 << 32;
/// Maximum number of open zones for lifetime groups, which are powers of two.
const GROUPS_MAX: u64 = 8;
const READING_MAP: &str = "reading the saved map";
const OLDER_LEDGERS: &str =
    "all copies of the ledger are older than a growth of the store, of which its label tells";

/// Recovered state of the zones.
struct Remnants {
    /// Contents of the saved map.
    loaded: Option<Loaded>,
    /// Sequence up to which everything is known to be durable.
    durable: u64,
    /// Last sequence in use. This opening uses greater ones.
    last: u64,
    /// Valid extents behind the map, by sequence.
    headers: BTreeMap<u64, Header>,
}

pub(super) async fn recover(parts: Parts) -> Result<Rc<ZoneEngine>, PageError> {
    let (disk, label) = (Rc::clone(parts.home.disk()), parts.home.label().clone());
    let read_only = parts.options.read_only;
    let area = Area { scan: Scan::new(&disk, &label)? };
    let (ledger, rotation) = area.scan.ledger(|copy| Ledger::decode(label.id, copy)).await?;
    let ledger = ledger.laid_out(&label);
    area.hold_against_label(&ledger)?;
    let found = if ledger.layout.map_blocks > 0 {
        area.find_by_map(&ledger).await?
    } else {
        area.find_all(&ledger).await?
    };
    let Remnants { loaded, durable, last, headers } = found;
    debug_assert!(durable <= last, "an opening's sequences are greater than {durable}, not than {last}");
    let tail: Vec<Header> = headers.range(durable + 1..).map(|(_, header)| header.clone()).collect();
    let found_end = match tail.last() {
        _ if Defect::BatchNumbersGoBack.is_seeded() => ledger.durable,
        Some(last) => last.sequence,
        None => durable,
    };
    let pieces = piece_pages(parts.arena.bytes(), label.page_length());
    let chain = Chain::continued(durable, last);
    let (state, map) = rebuilt(&label, (ledger, rotation), durable, loaded, headers.into_values(), pieces);
    if let Some(page) = misplaced(&state.zones, &map) {
        return Err(area
            .scan
            .corrupt("a page lies in a zone that was begun later: an extent is missing", page.block));
    }
    if ledger.is_clean {
        area.refuse_later_extents(&state.zones, ledger.map.saved).await?;
    }
    let context = Context::new(parts);
    let limits = limits(&label, &state.zones, pieces);
    let log = ZoneLog::new(&context, limits, chain, MappedPages::new(map));
    // Uses one request and one header for many commits.
    log.set_commit_groups(1);
    let (zone_blocks, ledger_turn) = (ledger.layout.zone_blocks, Turn::default());
    let opened_batch = BatchNumber(found_end);
    let state = RefCell::new(state);
    let is_growing = Cell::default();
    let shared =
        Rc::new(ZoneEngine { context, log, zone_blocks, state, ledger_turn, opened_batch, is_growing });
    if !read_only {
        renew::begin(&shared, &tail).await?;
        // Completes an interrupted growth.
        shared.lay_out(shared.context.label.area_blocks()).await?;
    }
    Ok(shared)
}

/// Limits on the changes of a group and on volatile changes. The zones kept for a renewal must hold
/// them all, even if rewritten piece by piece.
fn limits(label: &Label, zones: &Zones, piece_pages: usize) -> Limits {
    debug_assert!(zones.kept_for_renewal() > 0, "a zone is kept for what isn't durable");
    let most = capacity(zones.kept_for_renewal(), zones.zone_blocks(), label.page_blocks(), piece_pages);
    Limits { group: most, at_risk: most }
}

/// Enters all valid extents in order. Those after `durable` are rewritten later.
fn rebuilt(
    label: &Label,
    (ledger, rotation): (Ledger, Rotation),
    durable: u64,
    loaded: Option<Loaded>,
    mut headers: impl DoubleEndedIterator<Item = Header>,
    piece_pages: usize,
) -> (EngineState, Map) {
    let AreaLayout { zones, zone_blocks, pages, .. } = ledger.layout;
    let filled = filled_zones(pages, zone_blocks, label.page_blocks(), piece_pages);
    debug_assert!(zones > 0, "{ledger:?} of {} blocks", label.area_blocks());
    let pages = pages.max(label.pages);
    let spare = zones - filled.min(zones);
    let groups = to_usize((spare / 4).clamp(1, GROUPS_MAX));
    let kept = kept_for_renewal(spare, zone_blocks);
    let mut state = EngineState {
        zones: Zones::new(zone_blocks, zones, groups, kept),
        lifetimes: Lifetimes::new(pages),
        ledger,
        rotation,
        needed: NeededExtents::default(),
        is_cleaning: false,
        is_saving: false,
        is_stopped: false,
    };
    let mut map = match loaded {
        Some(loaded) => state.zones.load(loaded, ledger.map.saved),
        None => Map::new(pages),
    };
    while let Some(header) = if Defect::OldestWins.is_seeded() { headers.next_back() } else { headers.next() }
    {
        state.zones.found(header.position, header.sequence);
        state.zones.enter(&header, &mut map);
        // Later extents are rewritten.
        if header.sequence <= durable && !Defect::OldestWins.is_seeded() {
            state.needed.sent(&header);
        }
    }
    state.needed.durable(durable);
    state.zones.restored(durable);
    (state, map)
}

/// A page whose recorded place has been reused. It must lie elsewhere, and the newer entry is
/// missing.
fn misplaced(zones: &Zones, map: &Map) -> Option<Kept> {
    map.places().filter_map(PagePlace::kept).find(|kept| !zones.can_hold(*kept))
}

/// The zones being scanned.
struct Area<'a> {
    scan: Scan<'a>,
}

impl Area<'_> {
    /// Reads the saved map, and finds later extents.
    async fn find_by_map(&self, ledger: &Ledger) -> Result<Remnants, PageError> {
        let Scan { disk, label, .. } = &self.scan;
        let loaded = self.load(ledger).await?;
        let saved = ledger.map.saved;
        if ledger.is_clean {
            let headers = BTreeMap::new();
            return Ok(Remnants { loaded: Some(loaded), durable: saved, last: saved, headers });
        }
        let walk = Walk::new(
            disk,
            label,
            ledger.layout.zone_blocks,
            saved,
            self.zones_to_search(&loaded.zones, ledger.layout),
        );
        let mut extents = walk.extents(ledger.map.next).await?;
        self.refuse_extents_beyond(ledger.layout, &extents)?;
        self.hold_against(ledger, &extents)?;
        let highest = extents.keys().next_back().copied().unwrap_or(0);
        let highest = highest.max(saved).max(ledger.durable).max(ledger.begun);
        let is_whole = async |extent: &Extent| Ok(extent.is_whole);
        let Followed { promised, end } =
            self.scan.follow((ledger.durable.max(saved), None), &extents, is_whole).await?;
        // Pages that were only moved are also still at their old places.
        let end = if ledger.is_closed { promised } else { end };
        extents.split_off(&(end + 1));
        let headers = extents.into_iter().map(|(sequence, extent)| (sequence, extent.header)).collect();
        Ok(Remnants {
            loaded: Some(loaded),
            durable: if Defect::TailTrusted.is_seeded() { end } else { promised },
            last: if Defect::EpochIgnored.is_seeded() { end } else { highest + SEQUENCES_LEFT_OUT },
            headers,
        })
    }

    /// Compares the areas of label and ledger. They may differ after an interrupted growth: the
    /// label then has the longer area, and the store wasn't closed.
    fn hold_against_label(&self, ledger: &Ledger) -> Result<(), PageError> {
        let (label, Ledger { layout, .. }) = (self.scan.label, ledger);
        if label.is_earlier() {
            return Ok(());
        }
        let offset_bytes = label.ledger_offset;
        match layout.blocks().cmp(&label.area_blocks()) {
            Ordering::Greater => Err(Label::older_than(offset_bytes)),
            Ordering::Less if ledger.is_clean => {
                Err(PageError::Corrupt { what: OLDER_LEDGERS, offset_bytes })
            }
            Ordering::Equal if layout.pages < label.pages => {
                Err(PageError::Corrupt { what: OLDER_LEDGERS, offset_bytes })
            }
            Ordering::Less | Ordering::Equal => Ok(()),
        }
    }

    /// Filled part of each zone by the saved map. Zones added by growth count as empty.
    fn zones_to_search(&self, filled: &[Filled], layout: AreaLayout) -> Vec<Filled> {
        let label = self.scan.label;
        let mut zones = filled.to_vec();
        if !label.is_earlier() && layout.blocks() < label.area_blocks() {
            let longer = layout.of_area(label.area_blocks(), label.page_blocks());
            zones.resize(to_usize(longer.zones).max(filled.len()), Filled::default());
        }
        zones
    }

    /// Refuses extents outside the ledger's zones. A zone is begun only when a durable ledger
    /// includes it.
    fn refuse_extents_beyond(
        &self,
        layout: AreaLayout,
        extents: &BTreeMap<u64, Extent>,
    ) -> Result<(), PageError> {
        let end = layout.zones * layout.zone_blocks;
        match extents.values().find(|extent| extent.header.position >= end) {
            Some(extent) => Err(self.scan.corrupt(OLDER_LEDGERS, extent.header.position)),
            None => Ok(()),
        }
    }

    /// Compares the extents found with those that the ledger requires.
    fn hold_against(&self, ledger: &Ledger, extents: &BTreeMap<u64, Extent>) -> Result<(), PageError> {
        if !self.scan.label.seals_extents() {
            return Ok(());
        }
        let mut needed = NeededExtents::default();
        extents.range(..=ledger.durable).for_each(|(_, extent)| needed.sent(&extent.header));
        needed.durable(ledger.durable);
        let found = needed.seal();
        if found == ledger.needed {
            return Ok(());
        }
        // The ledger has one checksum for all, so the place of the missing one is unknown.
        let what = "a header that was durable is missing or is an older one, and its pages were acknowledged";
        Err(PageError::ExtentsLost {
            what,
            zones_offset_bytes: self.scan.label.offset_of(0),
            found: found.extents,
            expected: ledger.needed.extents,
        })
    }

    /// Reads the saved map that the ledger names.
    async fn load(&self, ledger: &Ledger) -> Result<Loaded, PageError> {
        let Scan { disk, label, .. } = &self.scan;
        let (layout, MapAt { saved, slot, .. }) = (ledger.layout, ledger.map);
        let (blocks, slot_bytes) = (layout.map_blocks, label.offset_of(layout.slot_block(label, slot)));
        let mut loaded = Loaded::begin(saved, layout, label.pages);
        if saved == 0 {
            return Ok(loaded);
        }
        let piece_blocks = (PIECE_BYTES / BLOCK_BYTES) as u64;
        let arena = Arena::new(to_usize(blocks.min(piece_blocks)) * BLOCK_BYTES * DEPTH)?;
        let (mut reads, mut sent) = (VecDeque::new(), 0);
        loop {
            while sent < blocks && reads.len() < DEPTH {
                let length = (blocks - sent).min(piece_blocks);
                let into = memory_of(&arena, to_usize(length) * BLOCK_BYTES)?;
                let offset_bytes = slot_bytes + sent * BLOCK_BYTES as u64;
                reads.push_back((sent, length, disk.read(READING_MAP, offset_bytes, into)));
                sent += length;
            }
            let Some((first, length, read)) = reads.pop_front() else { break };
            let offset_bytes = slot_bytes + first * BLOCK_BYTES as u64;
            let length_bytes = to_usize(length) * BLOCK_BYTES;
            let piece = disk.finish_blocks(READING_MAP, offset_bytes, length_bytes, read).await?;
            for (index, block) in (first..).zip(piece.blocks()) {
                if !block.is_some_and(|block| loaded.enter(label.id, index, block)) {
                    self.load_copy(ledger, index, &mut loaded).await?;
                }
            }
        }
        match loaded.map.first_known_from(label.pages) {
            Some(_) => Err(Label::older_than(slot_bytes)),
            None => Ok(loaded),
        }
    }

    /// Takes a damaged block from the other slot, which has the same map if the store was closed.
    async fn load_copy(&self, ledger: &Ledger, index: u64, loaded: &mut Loaded) -> Result<(), PageError> {
        let label = self.scan.label;
        let offset_bytes = |slot| label.offset_of(ledger.layout.slot_block(label, slot) + index);
        let copy = self.scan.read(offset_bytes(1 - ledger.map.slot.min(1)), BLOCK_BYTES as u64).await?;
        if copy.whole().is_some_and(|copy| loaded.enter(label.id, index, copy)) {
            return Ok(());
        }
        let what = "a block of the saved map is damaged, and there is no copy of it";
        Err(PageError::Corrupt { what, offset_bytes: offset_bytes(ledger.map.slot) })
    }

    /// Refuses extents behind a clean close. An opening writes its first extent where a zone
    /// continues or is begun next, after its ledgers are durable. A power cut therefore can't
    /// explain missing ledgers.
    async fn refuse_later_extents(&self, zones: &Zones, saved: u64) -> Result<(), PageError> {
        let label = self.scan.label;
        for block in zones.next_blocks(to_usize(GROUPS_MAX)) {
            let read = self.scan.read(label.offset_of(block), BLOCK_BYTES as u64).await?;
            let header =
                read.whole().and_then(|bytes| Header::decode(label.id, label.page_bytes, block, bytes));
            if header.is_some_and(|header| header.sequence > saved) {
                let what =
                    "an extent was written after the store was closed, and the ledgers say that it still is";
                return Err(self.scan.corrupt(what, block));
            }
        }
        Ok(())
    }

    /// Reads all headers, in a store of format 1 or 2 without a saved map.
    async fn find_all(&self, ledger: &Ledger) -> Result<Remnants, PageError> {
        let label = self.scan.label;
        let decode = |position, block: &[u8]| {
            let header = Header::decode(label.id, label.page_bytes, position, block);
            header.filter(|header| header.is_of_pages(label.pages))
        };
        let headers = self.scan.headers(decode).await?;
        let mut headers: BTreeMap<u64, Header> =
            headers.into_iter().map(|header| (header.sequence, header)).collect();
        headers.retain(|sequence, _| !ledger.is_aborted(*sequence));
        let is_whole = async |header: &Header| self.is_whole(header).await;
        let Followed { promised, end } = self.scan.follow((ledger.durable, None), &headers, is_whole).await?;
        let end = if ledger.is_closed { promised } else { end };
        headers.split_off(&(end + 1));
        Ok(Remnants { loaded: None, durable: promised, last: end, headers })
    }

    /// Returns true if the pages of an extent match its header.
    async fn is_whole(&self, header: &Header) -> Result<bool, PageError> {
        let Scan { disk, label, arena } = &self.scan;
        if header.end() > label.area_blocks() {
            return Ok(false);
        }
        let place = PageReader { disk, label, arena };
        for (Entry { page, sum, .. }, spot) in header.spots() {
            let into = memory_of(arena, label.page_length())?;
            match place.fetch("recovering the zones", spot, into).await {
                Ok(fetched) if checksum(page, &fetched.contents) == sum => {}
                Ok(_) => return Ok(false),
                Err(error) if error.is_unreadable() => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
