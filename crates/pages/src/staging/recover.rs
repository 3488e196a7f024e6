//! What an opening finds in the staging area: see the formats of the [header](super::header) and the
//! [ledger](super::ledger). Nothing is changed here, so that recovery can be cut and begun again: what wasn't known to be
//! durable and yet is there is written once more as it is, because a mirror's other leg may not have it.

use std::collections::BTreeMap;
use std::rc::Rc;

use nandle_io::{Arena, Buffer, WriteBuffers};

use super::header::Header;
use super::ledger::Ledger;
use super::space::{Placement, Slot, Space};
use super::table::{Entry, Table};
use crate::disk::Disk;
use crate::label::Label;
use crate::page::checksum;
use crate::policy::Parts;
use crate::{BLOCK_BYTES, PageError};

const SCAN_BYTES: u64 = 1 << 20;

/// What was in the staging area.
pub(super) struct Recovered {
    pub(super) table: Table,
    pub(super) space: Space,
    /// Slots with a version that a later extent made obsolete.
    pub(super) superseded: Vec<(Slot, u64)>,
    pub(super) durable: u64,
    pub(super) epoch: u64,
    pub(super) generation: u64,
}

struct Scan<'a> {
    disk: &'a Rc<Disk>,
    label: &'a Label,
    arena: Arena,
    read_only: bool,
}

pub(super) async fn recover(parts: &Parts, placement: Placement) -> Result<Recovered, PageError> {
    let label = parts.home.label();
    let bytes =
        usize::try_from(SCAN_BYTES.max(label.ledger_bytes).max(label.page_bytes)).unwrap_or(usize::MAX);
    let read_only = parts.options.read_only;
    let scan = Scan { disk: parts.home.disk(), label, arena: Arena::new(bytes)?, read_only };
    let ledger = scan.ledger().await?;
    let mut headers = scan.headers().await?;
    let mut alive = scan.told_by(&ledger, &mut headers)?;
    let mut chain: BTreeMap<u64, Header> = BTreeMap::new();
    for header in headers.into_values().filter(|it| it.epoch == ledger.epoch && it.sequence > ledger.durable)
    {
        chain.insert(header.sequence, header);
    }
    let durable = scan.follow(&ledger, &chain).await?;
    chain.retain(|sequence, _| *sequence <= durable);
    let cursor = chain.values().next_back().or(alive.last()).map_or(0, |last| scan.end_of(last));
    alive.sort_unstable_by_key(|header| header.sequence);
    let mut recovered = Recovered {
        table: Table::default(),
        space: Space::new(scan.blocks(), label.page_blocks(), placement),
        superseded: Vec::new(),
        durable,
        epoch: ledger.epoch,
        generation: ledger.generation,
    };
    for header in &alive {
        let block_of = |index: usize| header.position + 1 + index as u64 * label.page_blocks();
        recovered.enter(header, |index| ledger.slots.get(block_of(index)));
    }
    for header in chain.values() {
        recovered.enter(header, |_| true);
    }
    recovered.space.go_on_from(cursor);
    Ok(recovered)
}

impl Recovered {
    /// Enters an extent, later than all before it.
    fn enter(&mut self, header: &Header, is_alive: impl Fn(usize) -> bool) {
        self.space.restore(header.position, header.pages.len(), header.sequence, &is_alive);
        for (index, (page, sum)) in header.pages.iter().enumerate().filter(|(index, _)| is_alive(*index)) {
            let slot = Slot { extent: header.position, index };
            let entry = Entry { sequence: header.sequence, slot, sum: *sum, memory: None };
            let older = self.table.put(*page, entry);
            self.superseded.extend(older.map(|older| (older, header.sequence)));
        }
        for page in &header.discards {
            let older = self.table.remove(*page);
            self.superseded.extend(older.map(|older| (older, header.sequence)));
        }
    }
}

impl Scan<'_> {
    fn blocks(&self) -> u64 {
        self.label.area_bytes / BLOCK_BYTES as u64
    }

    fn end_of(&self, header: &Header) -> u64 {
        header.position + 1 + header.pages.len() as u64 * self.label.page_blocks()
    }

    fn corrupt(&self, what: &'static str, block: u64) -> PageError {
        PageError::Corrupt { what, offset_bytes: self.label.area_offset + block * BLOCK_BYTES as u64 }
    }

    async fn read(&self, offset_bytes: u64, bytes: u64) -> Result<Buffer, PageError> {
        let into = self.arena.allocate(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        self.disk.read("recovering the staging area", offset_bytes, into).await
    }

    /// The newest valid ledger.
    async fn ledger(&self) -> Result<Ledger, PageError> {
        let mut newest: Option<Ledger> = None;
        for copy in 0..2 {
            let offset_bytes = self.label.ledger_offset + copy * self.label.ledger_bytes;
            let bytes = self.read(offset_bytes, self.label.ledger_bytes).await?;
            let found = Ledger::decode(self.label.id, self.blocks(), &bytes);
            newest = newest.into_iter().chain(found).max_by_key(|ledger| ledger.generation);
        }
        newest.ok_or(PageError::Corrupt {
            what: "both copies of the ledger are damaged",
            offset_bytes: self.label.ledger_offset,
        })
    }

    /// All valid headers, by position.
    async fn headers(&self) -> Result<BTreeMap<u64, Header>, PageError> {
        let mut headers = BTreeMap::new();
        let mut done_bytes = 0;
        while done_bytes < self.label.area_bytes {
            let length = (self.label.area_bytes - done_bytes).min(SCAN_BYTES);
            let bytes = self.read(self.label.area_offset + done_bytes, length).await?;
            for (position, block) in (done_bytes / BLOCK_BYTES as u64..).zip(bytes.chunks(BLOCK_BYTES)) {
                if let Some(header) = Header::decode(self.label.id, position, block) {
                    headers.insert(position, header);
                }
            }
            done_bytes += length;
        }
        Ok(headers)
    }

    /// Takes the headers that the ledger names.
    fn told_by(
        &self,
        ledger: &Ledger,
        headers: &mut BTreeMap<u64, Header>,
    ) -> Result<Vec<Header>, PageError> {
        let mut alive = Vec::new();
        for position in ledger.headers.ones() {
            let header = headers.remove(&position).filter(|header| header.sequence <= ledger.durable);
            let what =
                "the header of an extent is damaged or was never written, and its pages were acknowledged";
            alive.push(header.ok_or_else(|| self.corrupt(what, position))?);
        }
        Ok(alive)
    }

    /// The end of the last group that is there as a whole.
    async fn follow(&self, ledger: &Ledger, chain: &BTreeMap<u64, Header>) -> Result<u64, PageError> {
        let promised = chain.values().map(|header| header.durable).max().unwrap_or(0).max(ledger.durable);
        let mut durable = ledger.durable;
        for (expected, (sequence, header)) in (ledger.durable + 1..).zip(chain) {
            if *sequence != expected || !self.is_whole(header, expected <= promised).await? {
                break;
            }
            if header.is_last {
                durable = expected;
            }
        }
        if durable < promised {
            let what = "an extent that was durable is missing, and its pages were acknowledged";
            return Err(self.corrupt(what, chain.get(&(durable + 1)).map_or(0, |header| header.position)));
        }
        Ok(durable)
    }

    /// Whether the pages of an extent are those that its header describes. What isn't durable for sure is made so.
    async fn is_whole(&self, header: &Header, is_durable: bool) -> Result<bool, PageError> {
        if self.end_of(header) > self.blocks() {
            return Ok(false);
        }
        for (index, (page, sum)) in header.pages.iter().enumerate() {
            let block = header.position + 1 + index as u64 * self.label.page_blocks();
            let offset_bytes = self.label.area_offset + block * BLOCK_BYTES as u64;
            let contents = self.read(offset_bytes, self.label.page_bytes).await?;
            if checksum(*page, &contents) != *sum {
                return Ok(false);
            }
            if !is_durable {
                self.write_again(offset_bytes, contents).await?;
            }
        }
        if !is_durable {
            let mut block = self.arena.allocate(BLOCK_BYTES)?;
            header.encode(self.label.id, &mut block);
            let offset_bytes = self.label.area_offset + header.position * BLOCK_BYTES as u64;
            self.write_again(offset_bytes, block.freeze()).await?;
        }
        Ok(true)
    }

    /// Writes what is there already, so that a tear does no harm. The opening flushes before its ledger.
    async fn write_again(&self, offset_bytes: u64, contents: Buffer) -> Result<(), PageError> {
        if self.read_only {
            return Ok(());
        }
        let from: WriteBuffers = [contents].into_iter().collect();
        self.disk.write("recovering the staging area", offset_bytes, from).await
    }
}
