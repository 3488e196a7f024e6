//! What an opening finds: see the formats of the [header](super::header) and the [ledger](super::ledger). Recovery can be
//! cut anywhere and begun again. Nothing is written once more in its place: a drive that tears inside blocks could destroy the
//! only copy of what was acknowledged. A mirror's legs are made the same below, by who opens the array.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::WriteBuffers;

use super::header::{Entry, Header};
use super::ledger::Ledger;
use super::lifetimes::Lifetimes;
use super::map::Map;
use super::packing::Shelf;
use super::renew::{self, Remains};
use super::zones::Zones;
use super::{Shared, State};
use crate::defects::Defect;
use crate::extents::{Chain, Followed, Gather, Rotation, Scan};
use crate::label::Label;
use crate::page::checksum;
use crate::policy::Parts;
use crate::signal::{Signal, Turn};
use crate::{BLOCK_BYTES, PageError};

/// Sequences that an opening leaves out: more than a run that was cut off can have on its way.
const SEQUENCES_LEFT_OUT: u64 = 1 << 32;
/// Zones are filled by so many groups at most: powers of two of lifetimes.
pub(super) const GROUPS_MAX: u64 = 8;
/// Of the spare zones, one in so many is reserved …
const RESERVED_PART: u64 = 16;
/// … as long as they are few enough for an opening to read quickly what may not be durable.
const RESERVED_ZONES_MAX: u64 = 32;

pub(super) async fn recover(parts: Parts) -> Result<Rc<Shared>, PageError> {
    let (disk, label) = (Rc::clone(parts.home.disk()), parts.home.label().clone());
    let read_only = parts.options.read_only;
    let area = Area { scan: Scan::new(&disk, &label)? };
    let (ledger, rotation) = area.scan.ledger(|copy| Ledger::decode(label.id, copy)).await?;
    let decode = |position, block: &[u8]| Header::decode(label.id, label.page_bytes, position, block);
    let headers = area.scan.headers(decode).await?;
    let mut headers: BTreeMap<u64, Header> =
        headers.into_iter().map(|header| (header.sequence, header)).collect();
    let highest =
        headers.keys().next_back().copied().unwrap_or(0).max(ledger.first).max(ledger.aborted.end());
    let mut left_behind: Vec<_> = headers
        .extract_if(.., |sequence, _| ledger.is_aborted(*sequence) && !Defect::EpochIgnored.is_seeded())
        .map(|(_, header)| header)
        .collect();
    let is_whole = async |header: &Header| area.is_whole(header).await;
    let Followed { promised, end } = area.scan.follow(ledger.durable, &headers, is_whole).await?;
    // What was only moved is where it was, too.
    let end = if ledger.is_closed { promised } else { end };
    // Version 1 reserved no zone for what isn't durable, so that is trusted as it was then.
    let is_trusted = label.is_of_version_1() || Defect::TailTrusted.is_seeded();
    let durable = if is_trusted { end } else { promised };
    left_behind.extend(headers.split_off(&(end + 1)).into_values());
    let tail = headers.range(durable + 1..).map(|(_, header)| header.clone()).collect();
    let chain = Chain::continued(durable, highest + SEQUENCES_LEFT_OUT);
    let shared = Rc::new(Shared {
        disk: Rc::clone(&disk),
        zone_blocks: ledger.zone_blocks,
        options: parts.options,
        arena: parts.arena,
        state: RefCell::new(rebuilt(&label, (ledger, rotation), chain, headers.into_values())),
        changed: Signal::default(),
        ledger_turn: Turn::default(),
        is_flushing_ahead: Cell::default(),
        label: label.clone(),
    });
    if !read_only {
        renew::begin(&shared, &area, Remains { left_behind, tail }).await?;
    }
    Ok(shared)
}

/// Enters all extents that count, in their order.
fn rebuilt(
    label: &Label,
    (ledger, rotation): (Ledger, Rotation),
    chain: Chain,
    mut headers: impl DoubleEndedIterator<Item = Header>,
) -> State {
    let zones = label.area_blocks() / ledger.zone_blocks;
    let spare = zones - (label.pages * label.page_blocks()).div_ceil(ledger.zone_blocks).min(zones);
    let groups = usize::try_from((spare / 4).clamp(1, GROUPS_MAX)).unwrap_or(1);
    let reserved = usize::try_from((spare / RESERVED_PART).clamp(1, RESERVED_ZONES_MAX)).unwrap_or(1);
    let mut state = State {
        chain,
        map: Map::new(label.pages),
        zones: Zones::new(ledger.zone_blocks, zones, groups, reserved),
        lifetimes: Lifetimes::new(label.pages),
        gather: Gather::default(),
        on_the_way: rustc_hash::FxHashMap::default(),
        ledger,
        rotation,
        is_cleaning: false,
        is_stopped: false,
    };
    while let Some(header) = if Defect::OldestWins.is_seeded() { headers.next_back() } else { headers.next() }
    {
        state.enter(&header);
    }
    state.zones.restored(state.chain.durable());
    state
}

/// The zones that are scanned.
pub(super) struct Area<'a> {
    scan: Scan<'a>,
}

impl Area<'_> {
    /// Whether the pages of an extent are those that its header describes.
    async fn is_whole(&self, header: &Header) -> Result<bool, PageError> {
        let Scan { disk, label, arena } = &self.scan;
        if header.end() > label.area_blocks() {
            return Ok(false);
        }
        let place = Shelf { disk, label, arena };
        for (Entry { page, sum, .. }, spot) in header.spots() {
            let into = arena.allocate(label.page_length())?;
            let contents = place.fetch("recovering the zones", spot, into).await?.contents;
            if checksum(page, &contents) != sum {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Wipes headers that a run left behind, and flushes, so that no later opening takes them for its own. Recovery that
    /// is cut off here finds the same end again: what is wiped lies beyond it.
    pub(super) async fn wipe(&self, headers: &[Header]) -> Result<(), PageError> {
        let Scan { disk, label, arena } = &self.scan;
        let mut zeros = arena.allocate(BLOCK_BYTES)?;
        zeros.fill(0);
        let zeros = zeros.freeze();
        for header in headers.iter().filter(|_| !Defect::EpochIgnored.is_seeded()) {
            let from: WriteBuffers = [zeros.clone()].into_iter().collect();
            let offset_bytes = label.offset_of(header.position);
            disk.write("wiping what a power cut left behind", offset_bytes, from).await?;
        }
        disk.flush().await
    }
}
