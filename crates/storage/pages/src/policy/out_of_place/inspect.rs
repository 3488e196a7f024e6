//! Reads the remains of damaged zones and of the saved map for [salvage](crate::salvage).

use std::collections::BTreeMap;

use super::header::{ENTRIES_MAX, Entry, Header};
use super::layout::AreaLayout;
use super::ledger::{Ledger, MapAt};
use super::map::PagePlace;
use super::needed::NeededExtents;
use super::packing::is_whole;
use super::saved_map::{self, Loaded};
use crate::extents::Stamp;
use crate::label::Label;
use crate::salvage::{
    CopyState, PageSet, Problem, Resolved, Severity, Structure, TailExtent, Version, at_block, finding,
    ledger_findings, newest, problem_of,
};
use crate::{BLOCK_BYTES, PageNumber};

const BLOCK: u64 = BLOCK_BYTES as u64;

/// Structures of an out-of-place store, as found.
pub(crate) struct ZoneEvidence {
    label: Label,
    ledgers: Vec<CopyState<(Stamp, Ledger)>>,
    /// Headers by sequence.
    headers: BTreeMap<u64, Header>,
    unreadable: BTreeMap<u64, Problem>,
    map: Option<MapEvidence>,
}

/// Saved map that the newest ledger names.
struct MapEvidence {
    at: MapAt,
    layout: AreaLayout,
    loaded: Loaded,
    /// Problems of blocks, by slot and index.
    damaged: BTreeMap<(u64, u64), Problem>,
    entered: Vec<bool>,
}

impl MapEvidence {
    /// Offset of a slot.
    fn slot_at(&self, label: &Label, slot: u64) -> u64 {
        label.offset_of(self.layout.slot_block(label, slot))
    }

    /// Pages with records in a block.
    fn pages_of(&self, index: u64) -> PageSet {
        let records = index * saved_map::RECORDS..(index + 1) * saved_map::RECORDS;
        PageSet::of(records.start.min(self.layout.pages)..records.end.min(self.layout.pages))
    }
}

impl ZoneEvidence {
    pub(crate) fn new(label: &Label) -> Self {
        Self {
            label: label.clone(),
            ledgers: Vec::new(),
            headers: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            map: None,
        }
    }

    /// Enters the next copy of the ledger.
    pub(crate) fn enter_ledger(&mut self, copy: Result<&[u8], Problem>) {
        let (id, blocks) = (self.label.id, self.label.area_blocks());
        let fits = |layout: AreaLayout| {
            layout.zone_blocks <= blocks && layout.slot_block(&self.label, 1) + layout.map_blocks <= blocks
        };
        let decode = |copy: &[u8]| {
            let (stamp, ledger) = Ledger::decode(id, copy)?;
            let ledger = ledger.laid_out(&self.label);
            fits(ledger.layout).then_some((stamp, ledger))
        };
        self.ledgers.push(CopyState::of(copy, decode));
    }

    fn ledger(&self) -> Option<Ledger> {
        newest(&self.ledgers).map(|(_, ledger)| ledger)
    }

    /// Slots of the saved map to examine: the current one, then the other.
    pub(crate) fn map_slots(&mut self) -> Vec<(u64, u64)> {
        let Some(ledger) = self.ledger().filter(|ledger| ledger.map.saved > 0) else { return Vec::new() };
        let Ledger { layout, map: at, .. } = ledger;
        // A ledger of another layout names no map here.
        if at.slot > 1 || layout.map_blocks < saved_map::blocks(layout.pages, layout.zones) {
            return Vec::new();
        }
        let loaded = Loaded::begin(at.saved, layout, self.label.pages);
        let blocks = crate::size::to_usize(layout.map_blocks);
        let (damaged, entered) = (BTreeMap::new(), vec![false; blocks]);
        let map = MapEvidence { at, layout, loaded, damaged, entered };
        let slots =
            [at.slot, 1 - at.slot].map(|slot| (map.slot_at(&self.label, slot), layout.map_blocks * BLOCK));
        self.map = Some(map);
        slots.to_vec()
    }

    /// Enters a block of a slot of the saved map.
    pub(crate) fn enter_map_block(&mut self, offset_bytes: u64, block: Result<&[u8], Problem>) {
        let Some(map) = &mut self.map else { return };
        for slot in [0, 1] {
            let start = map.slot_at(&self.label, slot);
            let Some(index) = offset_bytes.checked_sub(start).map(|bytes| bytes / BLOCK) else { continue };
            let Some(entered) = map.entered.get_mut(crate::size::to_usize(index)) else { continue };
            let is_valid = match block {
                // Equals the block entered before.
                Ok(block) if *entered => Loaded::is_of(map.at.saved, self.label.id, index, block),
                Ok(block) => map.loaded.enter(self.label.id, index, block),
                Err(_) => false,
            };
            *entered |= is_valid;
            if !is_valid {
                map.damaged.insert((slot, index), problem_of(block));
            }
        }
    }

    /// Enters a block of the area.
    pub(crate) fn enter_block(&mut self, position: u64, block: Result<&[u8], Problem>) {
        match block {
            Ok(block) => {
                let header = Header::decode(self.label.id, self.label.page_bytes, position, block);
                let header = header.filter(|header| {
                    header.is_of_pages(self.label.pages) && header.end() <= self.label.area_blocks()
                });
                self.headers.extend(header.map(|header| (header.sequence, header)));
            }
            Err(problem) => {
                self.unreadable.insert(position, problem);
            }
        }
    }

    /// Evaluates all structures together.
    pub(crate) fn resolve(mut self) -> Resolved {
        let mut resolved = Resolved::default();
        let ledger = self.ledger();
        let is_older = ledger.is_some_and(|ledger| self.is_older_than_label(&ledger));
        let is_closed = ledger.is_some_and(|ledger| ledger.is_clean) && !is_older;
        resolved.is_closed = Some(is_closed);
        resolved.findings = ledger_findings(&self.label, &self.ledgers, is_closed);
        resolved.others.reserve_exact(self.headers.values().map(|header| header.spots().count()).sum());
        resolved.others.extend(self.headers.values().flat_map(|header| self.versions_of(header)));
        match ledger {
            Some(ledger) => {
                self.enter_map(is_closed, &mut resolved);
                if !is_closed {
                    self.by_ledger(&ledger, &mut resolved);
                }
            }
            None => self.without_ledger(&mut resolved),
        }
        if is_older {
            resolved.doubt(u64::MAX, self.label.pages);
            self.miss_ledger(Problem::Outdated, &mut resolved);
        }
        self.judge_unreadable(&mut resolved);
        resolved
    }

    /// Returns true if the store has grown since the close that this ledger records. It must have
    /// been opened in between, so the ledgers are older copies.
    fn is_older_than_label(&self, ledger: &Ledger) -> bool {
        let is_longer = ledger.layout.blocks() < self.label.area_blocks();
        ledger.is_clean && is_longer && !self.label.is_earlier()
    }

    /// Enters the saved map, and for its lost records the entries of headers.
    fn enter_map(&mut self, is_closed: bool, resolved: &mut Resolved) {
        let Some(map) = self.map.take() else { return };
        let saved = map.at.saved;
        let mut lost = PageSet::default();
        for (index, _) in (0_u64..).zip(&map.entered).filter(|(_, entered)| !**entered) {
            lost.extend(&map.pages_of(index));
        }
        for ((slot, index), problem) in &map.damaged {
            let is_entered = map.entered.get(crate::size::to_usize(*index)) == Some(&true);
            // Both slots have equal contents only after a close.
            let severity = match (is_entered, *slot == map.at.slot || is_closed) {
                (false, true) => Severity::Loss,
                (true, true) => Severity::Redundant,
                (_, false) if *problem == Problem::Unreadable => Severity::Harmless,
                (_, false) => continue,
            };
            let place = at_block(map.slot_at(&self.label, *slot) + index * BLOCK);
            let mut found = finding(Structure::SavedMap, *problem, severity, place);
            if severity == Severity::Loss {
                found.pages = map.pages_of(*index);
            }
            resolved.findings.push(found);
        }
        for (page, place) in (0..).map(PageNumber).zip(map.loaded.map.places()) {
            if let PagePlace::At { spot, sum, .. } = place {
                let offset_bytes = self.label.area_offset + spot.start_bytes;
                let stored_bytes = spot.stored_bytes;
                resolved.enter([Version { page, sequence: saved, offset_bytes, stored_bytes, sum }], []);
            }
        }
        if !lost.is_empty() {
            // The right one of several versions is a guess.
            for header in self.headers.values().filter(|header| header.sequence <= saved) {
                let versions = self.versions_of(header).into_iter();
                resolved.enter(versions.filter(|version| lost.contains(version.page)), []);
            }
            resolved.unplaced = lost;
        }
        resolved.discarded.clear();
    }

    /// Enters extents written since the map was saved, or all if there is none.
    fn by_ledger(&self, ledger: &Ledger, resolved: &mut Resolved) {
        let saved = if ledger.layout.map_blocks > 0 { ledger.map.saved } else { 0 };
        let base = ledger.durable.max(saved);
        let counts = |header: &&Header| ledger.layout.map_blocks > 0 || !ledger.is_aborted(header.sequence);
        let chain: BTreeMap<u64, &Header> = self
            .headers
            .range(saved + 1..)
            .filter(|(_, header)| counts(header))
            .map(|(sequence, header)| (*sequence, header))
            .collect();
        self.hold_against(ledger, saved, &chain, resolved);
        let promised = chain.values().map(|header| header.durable).max().unwrap_or(0).max(base);
        let behind = promised + 1;
        for header in chain.range(..behind).map(|(_, header)| header) {
            resolved.enter(self.versions_of(header), header.discards.iter().copied());
        }
        let present = chain.range(base + 1..behind).count() as u64;
        if present < promised - base {
            let missing = (base + 1..behind).rev().find(|sequence| !chain.contains_key(sequence));
            let pages = (promised - base - present).saturating_mul(ENTRIES_MAX as u64);
            resolved.doubt(missing.unwrap_or(promised), pages.min(self.label.pages));
            self.miss_headers(Problem::Missing, resolved);
        }
        // Pages that were only moved are also still at their old places.
        let tail = chain.range(behind..).zip(behind..).filter(|_| !ledger.is_closed);
        let tail = tail.take_while(|((sequence, _), expected)| **sequence == *expected);
        resolved.tail = tail.map(|((_, header), _)| self.tail_extent(header)).collect();
    }

    /// Compares the extents found with those that the ledger requires.
    fn hold_against(
        &self,
        ledger: &Ledger,
        saved: u64,
        chain: &BTreeMap<u64, &Header>,
        resolved: &mut Resolved,
    ) {
        if !self.label.seals_extents() || ledger.layout.map_blocks == 0 || ledger.durable < saved {
            return;
        }
        let mut needed = NeededExtents::default();
        chain.range(..=ledger.durable).for_each(|(_, header)| needed.sent(header));
        needed.durable(ledger.durable);
        let found = needed.seal();
        if found == ledger.needed {
            return;
        }
        let missing = (saved + 1..=ledger.durable).rev().find(|sequence| !chain.contains_key(sequence));
        let lost = ledger.needed.extents.saturating_sub(found.extents).max(1);
        let pages = lost.saturating_mul(ENTRIES_MAX as u64).min(self.label.pages);
        let (problem, sound_above) = match missing {
            Some(missing) => (Problem::Missing, missing),
            None => (Problem::Outdated, ledger.durable),
        };
        resolved.doubt(sound_above, pages);
        self.miss_headers(problem, resolved);
    }

    fn miss_headers(&self, problem: Problem, resolved: &mut Resolved) {
        let place = (self.label.area_offset, self.label.area_bytes);
        resolved.findings.push(finding(Structure::ExtentHeader, problem, Severity::Loss, place));
    }

    /// Evaluates the headers alone. Obsolete and missing extents can't be recognised.
    fn without_ledger(&self, resolved: &mut Resolved) {
        for header in self.headers.values() {
            resolved.enter(self.versions_of(header), header.discards.iter().copied());
        }
        resolved.doubt(u64::MAX, self.label.pages);
        self.miss_ledger(Problem::Missing, resolved);
    }

    fn miss_ledger(&self, problem: Problem, resolved: &mut Resolved) {
        let place = (self.label.ledger_offset, self.label.ledger_copies * self.label.ledger_bytes);
        resolved.findings.push(finding(Structure::Ledger, problem, Severity::Loss, place));
    }

    /// Reports unreadable blocks without a live page. Missing headers are reported through the
    /// structures that name them.
    fn judge_unreadable(&self, resolved: &mut Resolved) {
        let tail = resolved.tail.iter().flat_map(|extent| &extent.versions);
        let mut used: Vec<(u64, u64)> = resolved
            .newest
            .values()
            .chain(tail)
            .map(|it| (it.offset_bytes, it.offset_bytes + u64::from(it.stored_bytes)))
            .collect();
        used.sort_unstable();
        let zones_end = self.ledger().map_or(u64::MAX, |ledger| ledger.layout.slot_block(&self.label, 0));
        for (position, problem) in self.unreadable.range(..zones_end) {
            let at = self.label.offset_of(*position);
            // Pages don't overlap, so only the last page that starts before the block's end can
            // reach into the block.
            let last = used.partition_point(|(start, _)| *start < at + BLOCK).checked_sub(1);
            if last.and_then(|index| used.get(index)).is_none_or(|(_, end)| *end <= at) {
                let free = finding(Structure::FreeSpace, *problem, Severity::Harmless, at_block(at));
                resolved.findings.push(free);
            }
        }
    }

    fn tail_extent(&self, header: &Header) -> TailExtent {
        TailExtent {
            sequence: header.sequence,
            is_last: header.is_last,
            offset_bytes: self.label.offset_of(header.position),
            versions: self.versions_of(header),
            discards: header.discards.clone(),
        }
    }

    fn versions_of(&self, header: &Header) -> Vec<Version> {
        let (sequence, area_offset) = (header.sequence, self.label.area_offset);
        let spots = header.spots().map(|(entry, spot)| Version {
            page: entry.page,
            sequence,
            offset_bytes: area_offset + spot.start_bytes,
            stored_bytes: spot.stored_bytes,
            sum: entry.sum,
        });
        spots.filter(|version| u64::from(version.stored_bytes) <= self.label.page_bytes).collect()
    }
}

/// Unpacked page of a version, if it is intact.
pub(crate) fn unpacked(version: &Version, stored: &[u8], page_bytes: usize) -> Option<Vec<u8>> {
    let Version { page, sum, stored_bytes, .. } = *version;
    let mut contents = vec![0; page_bytes];
    is_whole(&Entry { page, sum, stored_bytes }, stored, &mut contents).then_some(contents)
}
