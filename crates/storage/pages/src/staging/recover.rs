//! Recovery of the staging area: see the formats of the [header](super::header) and the
//! [ledger](super::ledger). Writes nothing, so that it can be interrupted and repeated. It doesn't
//! rewrite pages in place either: a drive that tears inside blocks could destroy the only
//! acknowledged copy. The array's owner resynchronises a mirror's legs below this layer.

use std::collections::BTreeMap;

use nandle_io::Arena;

use super::close::Mark;
use super::directory;
use super::header::Header;
use super::ledger::{HeadersSeal, Ledger};
use super::space::{Placement, Slot, Space};
use super::table::{Entry, Table};
use crate::defects::Defect;
use crate::extents::{Rotation, Scan};
use crate::home::Home;
use crate::home_sums::{self, HomeSums, Rounds};
use crate::label::Label;
use crate::page::checksum;
use crate::policy::Parts;
use crate::size::to_usize;
use crate::{PageError, PageNumber};

/// State recovered from the staging area.
pub(super) struct Recovered {
    pub(super) table: Table,
    pub(super) blocks: Blocks,
    /// Sequence up to which all extents are known to be durable. They are in the table.
    pub(super) durable: u64,
    /// Last sequence that counts.
    pub(super) end: u64,
    /// Extents behind `durable`, in order. Their blocks are allocated, but they are not in the
    /// table.
    pub(super) tail: Vec<Header>,
    /// Headers taken from the [directory](super::directory), as they are bad at their places.
    pub(super) restored: Vec<Header>,
}

/// Recovered state of the blocks.
pub(super) struct Blocks {
    pub(super) sums: Option<HomeSums>,
    /// Pages discarded later than the ledger, with sequences.
    pub(super) forgotten: Vec<(PageNumber, u64)>,
    /// Sequence up to which the ledger lists the extents.
    pub(super) ledger_durable: u64,
    pub(super) space: Space,
    /// Headers of the live extents, by position.
    pub(super) headers: BTreeMap<u64, Header>,
    /// Slots with superseded versions, and the sequences of the newer extents.
    pub(super) superseded: Vec<(Slot, u64)>,
    pub(super) epoch: u64,
    pub(super) rotation: Rotation,
}

// long: one step after the other, each of which needs what those before it found
pub(super) async fn recover(parts: &Parts, placement: Placement) -> Result<Recovered, PageError> {
    let label = parts.home.label();
    let area = Area { scan: Scan::new(parts.home.disk(), label)? };
    let scan = &area.scan;
    let is_bound = label.has_close_marks();
    let decode = |copy: &[u8]| Ledger::decode(label.id, label.area_blocks(), is_bound, copy);
    let (ledger, rotation) = scan.ledger(decode).await?;
    let mark = Mark::found(scan, rotation.generation()).await?;
    let rotation = mark.map_or(rotation, |mark| rotation.with_missing(mark.generation));
    let headers = scan.headers(|position, block| Header::decode(label.id, position, block)).await?;
    area.refuse_pages_beyond(&headers)?;
    let mut headers: BTreeMap<u64, Header> =
        headers.into_iter().map(|header| (header.position, header)).collect();
    area.refuse_later_epochs(&ledger, &headers)?;
    let restored = area.restore_from_directory(mark, &ledger, &mut headers).await?;
    let mut alive = area.told_by(&ledger, &mut headers)?;
    let of_epoch = |it: &Header| it.epoch == ledger.epoch || Defect::EpochIgnored.is_seeded();
    let chain = headers.into_values().filter(|it| of_epoch(it) && it.sequence > ledger.durable);
    let mut chain: BTreeMap<u64, Header> = chain.map(|header| (header.sequence, header)).collect();
    let promised = (ledger.durable, mark.map(|mark| mark.sequence));
    let followed = scan.follow(promised, &chain, async |header| area.is_whole(header).await).await?;
    if let Some(mark) = mark {
        area.hold_against(mark, followed.end, &chain)?;
    }
    chain.retain(|sequence, _| *sequence <= followed.end);
    debug_assert!(
        Defect::GapsAccepted.is_seeded() || chain.len() as u64 == followed.end - ledger.durable,
        "{} extents lead from {} to {}",
        chain.len(),
        ledger.durable,
        followed.end
    );
    let cursor = chain.values().next_back().or(alive.last()).map_or(0, |last| area.end_of(last));
    alive.sort_unstable_by_key(|header| header.sequence);
    // A clean close also promises durability.
    let durable =
        if Defect::TailTrusted.is_seeded() || mark.is_some() { followed.end } else { followed.promised };
    let tail = chain.split_off(&(durable + 1));
    let newest = ledger.bound.map_or(0, |bound| bound.sums_round);
    let complete_after = mark.and_then(|mark| mark.complete_after);
    let rounds = Rounds { newest, complete_after };
    let blocks = Blocks {
        sums: home_sums::recover(scan, rounds, parts.options.forget_lost_sums).await?,
        forgotten: Vec::new(),
        ledger_durable: ledger.durable,
        space: Space::new(label.area_blocks(), label.page_blocks(), placement),
        headers: BTreeMap::new(),
        superseded: Vec::new(),
        epoch: ledger.epoch,
        rotation,
    };
    let tail = tail.into_values().collect();
    let mut recovered =
        Recovered { table: Table::default(), blocks, durable, end: followed.end, tail, restored };
    debug_assert!(recovered.durable <= recovered.end, "what is durable is there");
    let alive_pages = ledger.alive_pages(label, &alive);
    debug_assert_eq!(alive.len(), alive_pages.len(), "the pages of each extent");
    recovered.enter_told(&alive, &alive_pages);
    recovered.enter_chain(chain.values());
    if let Some(block) = recovered.blocks.space.overlap() {
        return Err(scan.corrupt("two extents that count lie on the same block", block));
    }
    recovered.blocks.space.go_on_from(cursor);
    recovered.remember_home(&parts.home);
    Ok(recovered)
}

impl Recovered {
    /// Enters the extents listed by the ledger, with their live pages.
    fn enter_told(&mut self, alive: &[Header], pages_of_use: &[Vec<bool>]) {
        for (header, pages) in alive.iter().zip(pages_of_use) {
            self.enter(header, |index| pages.get(index) == Some(&true));
        }
        // Discards covered by the ledger are durable.
        self.blocks.forgotten.clear();
        debug_assert!(
            self.table.len() <= alive.iter().map(|header| header.pages.len()).sum(),
            "no page twice"
        );
    }

    /// Enters later extents, and allocates the blocks of the tail.
    fn enter_chain<'a>(&mut self, chain: impl Iterator<Item = &'a Header>) {
        for header in chain {
            self.enter(header, |_| true);
        }
        for header in &self.tail {
            debug_assert!(header.sequence > self.durable, "what is durable is no tail");
            let extent = (header.sequence, header.seal);
            self.blocks.space.restore(header.position, header.pages.len(), extent, |_| true);
            self.blocks.headers.insert(header.position, header.clone());
        }
    }

    /// Enters the pages of the tail as well, for a read-only store.
    pub(super) fn with_tail(mut self) -> Self {
        for header in std::mem::take(&mut self.tail) {
            self.enter_pages(&header, |_| true);
        }
        self
    }

    /// Records the knowledge about home pages. A page with an entry in the staging area may have
    /// been in flight to home, so its home contents are unknown, even if it is discarded now.
    fn remember_home(&self, home: &Home) {
        self.blocks.sums.iter().for_each(|sums| sums.tell(home));
        let discarded = self.blocks.forgotten.iter().map(|(page, _)| *page);
        let of_tail = self.tail.iter().flat_map(|header| {
            header.pages.iter().map(|(page, _)| *page).chain(header.discards.iter().copied())
        });
        for page in self.table.pages().chain(discarded).chain(of_tail) {
            home.forget(page);
        }
    }

    /// Enters an extent later than all before it.
    fn enter(&mut self, header: &Header, is_alive: impl Fn(usize) -> bool) {
        let extent = (header.sequence, header.seal);
        self.blocks.space.restore(header.position, header.pages.len(), extent, &is_alive);
        self.blocks.headers.insert(header.position, header.clone());
        self.enter_pages(header, is_alive);
    }

    /// Enters the pages of an extent whose blocks are allocated.
    fn enter_pages(&mut self, header: &Header, is_alive: impl Fn(usize) -> bool) {
        debug_assert!(header.durable < header.sequence, "{header:?}");
        for (index, (page, sum)) in header.pages.iter().enumerate().filter(|(index, _)| is_alive(*index)) {
            let slot = Slot { extent: header.position, index };
            if Defect::OldestWins.is_seeded() && self.table.get(*page).is_some() {
                continue;
            }
            let entry = Entry { sequence: header.sequence, slot, sum: *sum, memory: None };
            let older = self.table.put(*page, entry);
            self.blocks.superseded.extend(older.map(|older| (older, header.sequence)));
        }
        for page in &header.discards {
            let older = self.table.remove(*page);
            // The page may have been in flight to home, whether or not its extent still exists.
            self.blocks.forgotten.push((*page, header.sequence));
            self.blocks.superseded.extend(older.map(|older| (older, header.sequence)));
        }
    }
}

/// The staging area being scanned.
struct Area<'a> {
    scan: Scan<'a>,
}

impl Area<'_> {
    fn end_of(&self, header: &Header) -> u64 {
        header.position + 1 + header.pages.len() as u64 * self.scan.label.page_blocks()
    }

    /// Refuses headers that name pages beyond the end. Pages are only used once a label with them
    /// is durable.
    fn refuse_pages_beyond(&self, headers: &[Header]) -> Result<(), PageError> {
        let pages = self.scan.label.pages;
        match headers.iter().find(|header| !header.is_of_pages(pages)) {
            Some(beyond) => Err(Label::older_than(self.scan.label.offset_of(beyond.position))),
            None => Ok(()),
        }
    }

    /// Refuses extents of a later epoch than the ledger's. An opening makes its ledger durable
    /// before it writes extents, so a power cut can't explain the missing ledger.
    fn refuse_later_epochs(&self, ledger: &Ledger, headers: &BTreeMap<u64, Header>) -> Result<(), PageError> {
        let later = headers.values().find(|header| header.epoch > ledger.epoch);
        let Some(later) = later else { return Ok(()) };
        Err(self.scan.corrupt("the ledger of the opening that wrote an extent is damaged", later.position))
    }

    /// Checks that a closed store ends where its mark says.
    fn hold_against(&self, mark: Mark, end: u64, chain: &BTreeMap<u64, Header>) -> Result<(), PageError> {
        if mark.sequence == end {
            return Ok(());
        }
        let what = "the store was closed, and the last of what it had staged is missing";
        let last = chain.range(..=mark.sequence).next_back().map_or(0, |(_, last)| self.end_of(last));
        Err(self.scan.corrupt(what, last))
    }

    /// Takes missing headers of a closed store from the directory. Returns those that are bad at
    /// their places.
    async fn restore_from_directory(
        &self,
        mark: Option<Mark>,
        ledger: &Ledger,
        headers: &mut BTreeMap<u64, Header>,
    ) -> Result<Vec<Header>, PageError> {
        let Scan { label, .. } = self.scan;
        let found = mark.and_then(|mark| Some((mark.generation, mark.directory?.range(label)?)));
        let Some((generation, range)) = found else { return Ok(Vec::new()) };
        let bytes = to_usize(range.end - range.start);
        let into = Arena::new(bytes)?.allocate(bytes)?;
        let blocks = self.scan.disk.read_blocks("reading the directory", range.start, into).await?;
        let directory = directory::decode(label.id, generation, blocks.blocks());
        let restored: Vec<Header> = directory::missing(directory, ledger, headers, label).collect();
        headers.extend(restored.iter().map(|header| (header.position, header.clone())));
        Ok(restored)
    }

    /// Collects the headers that the ledger names.
    fn told_by(
        &self,
        ledger: &Ledger,
        headers: &mut BTreeMap<u64, Header>,
    ) -> Result<Vec<Header>, PageError> {
        let (mut alive, mut seal) = (Vec::new(), HeadersSeal::default());
        for position in ledger.headers.ones() {
            let header = headers.remove(&position).filter(|header| header.sequence <= ledger.durable);
            let what =
                "the header of an extent is damaged or was never written, and its pages were acknowledged";
            let header = header.ok_or_else(|| self.scan.corrupt(what, position))?;
            seal.add(position, header.seal);
            alive.push(header);
        }
        if ledger.bound.is_some_and(|bound| bound.headers_seal != seal.0) {
            let what = "the header of an extent is an older one than the ledger names";
            return Err(self.scan.corrupt(what, 0));
        }
        Ok(alive)
    }

    /// Returns true if the pages of an extent match its header.
    async fn is_whole(&self, header: &Header) -> Result<bool, PageError> {
        let label = self.scan.label;
        if self.end_of(header) > label.area_blocks() {
            return Ok(false);
        }
        for (index, (page, sum)) in header.pages.iter().enumerate() {
            let block = header.position + 1 + index as u64 * label.page_blocks();
            let contents = self.scan.read(label.offset_of(block), label.page_bytes).await?;
            if contents.whole().is_none_or(|contents| checksum(*page, contents) != *sum) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
