//! What an opening finds: see the formats of the [header](super::header) and the [ledger](super::ledger). What lies
//! beyond the end is wiped; recovery can be cut anywhere and begun again. Nothing is written once more as it is: a drive that
//! tears inside blocks could destroy the only copy of what was acknowledged. A mirror's legs are made the same below, by who
//! opens the array.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::{Arena, Buffer, WriteBuffers};

use super::header::{Entry, Header};
use super::ledger::{LEDGER_BYTES, Ledger};
use super::lifetimes::Lifetimes;
use super::map::Map;
use super::packing::Shelf;
use super::zones::Zones;
use super::{Shared, State};
use crate::disk::Disk;
use crate::label::Label;
use crate::page::checksum;
use crate::policy::Parts;
use crate::signal::{Signal, Turn};
use crate::staging::{Chain, Gather};
use crate::{BLOCK_BYTES, PageError};

const SCAN_BYTES: u64 = 1 << 20;
/// Sequences that an opening leaves out: more than a run that was cut off can have on its way.
const SEQUENCES_LEFT_OUT: u64 = 1 << 32;
/// Zones are filled by so many groups at most: powers of two of lifetimes.
const GROUPS_MAX: u64 = 8;

struct Scan<'a> {
    disk: &'a Rc<Disk>,
    label: &'a Label,
    arena: Arena,
}

pub(super) async fn recover(parts: Parts) -> Result<Shared, PageError> {
    let (disk, label) = (Rc::clone(parts.home.disk()), parts.home.label().clone());
    let arena = Arena::new(usize::try_from(SCAN_BYTES).unwrap_or(usize::MAX))?;
    let read_only = parts.options.read_only;
    let scan = Scan { disk: &disk, label: &label, arena };
    let ledger = scan.ledger().await?;
    let mut headers = scan.headers().await?;
    let highest = headers.keys().next_back().copied().unwrap_or(0).max(ledger.first);
    let mut left_behind: Vec<_> = headers
        .extract_if(.., |sequence, _| ledger.is_aborted(*sequence))
        .map(|(_, header)| header)
        .collect();
    let cut = scan.follow(&ledger, &headers).await?;
    left_behind.extend(headers.split_off(&(cut + 1)).into_values());
    let first = highest + 1 + SEQUENCES_LEFT_OUT;
    let generation = ledger.generation + 1;
    let ledger = Ledger { generation, durable: first - 1, cut, first, ..ledger };
    let state = rebuilt(&label, ledger, headers.into_values());
    if !read_only {
        scan.wipe(&left_behind).await?;
    }
    let shared = Shared {
        disk: Rc::clone(&disk),
        zone_blocks: ledger.zone_blocks,
        options: parts.options,
        arena: parts.arena,
        state: RefCell::new(state),
        changed: Signal::default(),
        ledger_turn: Turn::default(),
        label: label.clone(),
    };
    if !read_only {
        shared.write_ledger(ledger).await?;
    }
    Ok(shared)
}

/// Enters all extents that count, in their order.
fn rebuilt(label: &Label, ledger: Ledger, headers: impl Iterator<Item = Header>) -> State {
    let zones = label.area_bytes / BLOCK_BYTES as u64 / ledger.zone_blocks;
    let spare = zones - (label.pages * label.page_blocks()).div_ceil(ledger.zone_blocks).min(zones);
    let groups = usize::try_from((spare / 4).clamp(1, GROUPS_MAX)).unwrap_or(1);
    let mut state = State {
        chain: Chain::after(ledger.first - 1),
        map: Map::new(label.pages),
        zones: Zones::new(ledger.zone_blocks, zones, groups),
        lifetimes: Lifetimes::new(label.pages),
        gather: Gather::default(),
        on_the_way: rustc_hash::FxHashMap::default(),
        ledger,
        is_cleaning: false,
        is_stopped: false,
    };
    for header in headers {
        state.enter(&header);
    }
    state.zones.restored();
    state
}

impl Scan<'_> {
    async fn read(&self, offset_bytes: u64, bytes: u64) -> Result<Buffer, PageError> {
        let into = self.arena.allocate(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        self.disk.read("recovering the zones", offset_bytes, into).await
    }

    fn corrupt(&self, what: &'static str, block: u64) -> PageError {
        PageError::Corrupt { what, offset_bytes: self.label.area_offset + block * BLOCK_BYTES as u64 }
    }

    /// The newest valid ledger.
    async fn ledger(&self) -> Result<Ledger, PageError> {
        let mut newest: Option<Ledger> = None;
        for copy in 0..2 {
            let bytes = self.read(self.label.ledger_offset + copy * LEDGER_BYTES, LEDGER_BYTES).await?;
            let found = Ledger::decode(self.label.id, &bytes);
            newest = newest.into_iter().chain(found).max_by_key(|ledger| ledger.generation);
        }
        newest.ok_or(PageError::Corrupt {
            what: "both copies of the ledger are damaged",
            offset_bytes: self.label.ledger_offset,
        })
    }

    /// All valid headers, by sequence.
    async fn headers(&self) -> Result<BTreeMap<u64, Header>, PageError> {
        let mut headers = BTreeMap::new();
        let mut done_bytes = 0;
        while done_bytes < self.label.area_bytes {
            let length = (self.label.area_bytes - done_bytes).min(SCAN_BYTES);
            let bytes = self.read(self.label.area_offset + done_bytes, length).await?;
            for (position, block) in (done_bytes / BLOCK_BYTES as u64..).zip(bytes.chunks(BLOCK_BYTES)) {
                if let Some(header) = Header::decode(self.label.id, self.label.page_bytes, position, block) {
                    headers.insert(header.sequence, header);
                }
            }
            done_bytes += length;
        }
        Ok(headers)
    }

    /// The end of the last group that is there as a whole.
    async fn follow(&self, ledger: &Ledger, headers: &BTreeMap<u64, Header>) -> Result<u64, PageError> {
        let promised = headers.values().map(|header| header.durable).max().unwrap_or(0);
        let mut durable = ledger.durable;
        for (expected, (sequence, header)) in (ledger.durable + 1..).zip(headers.range(ledger.durable + 1..))
        {
            if *sequence != expected || !self.is_whole(header).await? {
                break;
            }
            if header.is_last {
                durable = expected;
            }
        }
        if durable < promised {
            let next = headers.get(&(durable + 1)).map_or(0, |header| header.position);
            return Err(
                self.corrupt("an extent that was durable is missing, and its pages were acknowledged", next)
            );
        }
        Ok(durable)
    }

    /// Whether the pages of an extent are those that its header describes.
    async fn is_whole(&self, header: &Header) -> Result<bool, PageError> {
        if header.end() * BLOCK_BYTES as u64 > self.label.area_bytes {
            return Ok(false);
        }
        let place = Shelf { disk: self.disk, label: self.label, arena: &self.arena };
        for (Entry { page, sum, .. }, spot) in header.spots() {
            let into = self.arena.allocate(self.label.page_length())?;
            let contents = place.fetch("recovering the zones", spot, into).await?.contents;
            if checksum(page, &contents) != sum {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Wipes headers that a run left behind, and flushes, so that no later opening takes them for its own. Recovery that
    /// is cut off here finds the same end again: what is wiped lies beyond it.
    async fn wipe(&self, headers: &[Header]) -> Result<(), PageError> {
        let mut zeros = self.arena.allocate(BLOCK_BYTES)?;
        zeros.fill(0);
        let zeros = zeros.freeze();
        for header in headers {
            let from: WriteBuffers = [zeros.clone()].into_iter().collect();
            let offset_bytes = self.label.area_offset + header.position * BLOCK_BYTES as u64;
            self.disk.write("wiping what a power cut left behind", offset_bytes, from).await?;
        }
        self.disk.flush().await
    }
}
