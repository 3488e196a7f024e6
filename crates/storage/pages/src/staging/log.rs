//! Staging area's part of the [write log](crate::write_log): staged pages, and changes by extents.

use std::rc::Rc;

use nandle_io::{Buffer, Durability};

use super::header::{ENTRIES_MAX, Header, NO_EPOCH};
use super::space::{Room, Slot};
use super::table::{Entry, Table};
use crate::defects::Defect;
use crate::page::checksum;
use crate::write_log::{Changes, Found, From, Stored, Versions, WriteLog};
use crate::{PageError, PageNumber};

/// Write log of a staging area.
pub(super) type StagingLog = WriteLog<StagedPages>;

/// Newest version of each staged page.
pub(super) struct StagedPages {
    table: Table,
    /// Number of pages whose contents may stay in memory.
    keep_pages: usize,
    /// Epoch of new extents: that of the ledger, or none in a [renewal](super::renew).
    epoch: u64,
}

/// Changes by an extent.
pub(super) struct Appended {
    pub(super) position: u64,
    pub(super) sequence: u64,
    /// Pages with contents, in the order of their slots.
    pub(super) pages: Vec<PageNumber>,
    /// Discarded pages.
    pub(super) discarded: Vec<PageNumber>,
    /// Slots of superseded versions.
    pub(super) superseded: Vec<Slot>,
    pub(super) ends_group: bool,
    pub(super) header: Header,
}

impl Versions for StagedPages {
    type Header = Header;
    type Place = Slot;
    const PLACE: &'static str = "the staging area";
    const COMMITS_FLUSH_FOR_OTHERS: bool = true;

    fn find(&self, page: PageNumber, from: From, written: u64) -> Found<Slot> {
        match self.table.get(page) {
            Some(Entry { memory: Some(contents), sequence, .. })
                if from == From::Memory || *sequence > written =>
            {
                Found::InMemory(contents.clone())
            }
            Some(Entry { sequence, slot, sum, .. }) => {
                debug_assert!(*sequence <= written, "{page} is in memory until it is on the device");
                Found::Stored(Stored { sequence: *sequence, place: *slot, sum: *sum })
            }
            None => Found::Absent,
        }
    }

    fn written(&mut self, header: &Header) {
        let pages = header.pages.iter().map(|(page, _)| *page);
        let keep_pages = if header.epoch == NO_EPOCH { 0 } else { self.keep_pages };
        self.table.written(header.sequence, pages, keep_pages);
    }
}

impl StagedPages {
    /// Staged pages after recovery.
    pub(super) fn new(table: Table, keep_pages: usize) -> Self {
        Self { table, keep_pages, epoch: NO_EPOCH }
    }

    /// Newest staged version of a page.
    pub(super) fn get(&self, page: PageNumber) -> Option<&Entry> {
        self.table.get(page)
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = PageNumber> {
        self.table.pages()
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Removes a destaged version unless a newer one exists. Returns its slot if it was removed.
    pub(super) fn destaged(&mut self, page: PageNumber, sequence: u64) -> Option<Slot> {
        self.table.remove_version(page, sequence)
    }

    /// Sets the epoch of future extents.
    pub(super) fn begin_epoch(&mut self, epoch: u64) {
        debug_assert!(epoch > self.epoch, "epochs count up: {epoch} after {}", self.epoch);
        self.epoch = epoch;
    }

    /// Enters the pages of an extent. Returns their former slots, and their new ones with
    /// checksums.
    fn stage(
        &mut self,
        (position, sequence): (u64, u64),
        puts: &[(PageNumber, Buffer)],
    ) -> (Vec<Slot>, Vec<(PageNumber, u32)>) {
        let (mut older, mut pages) = (Vec::new(), Vec::with_capacity(puts.len()));
        for (index, (page, contents)) in puts.iter().enumerate() {
            let sum = checksum(*page, contents);
            let slot = Slot { extent: position, index };
            let entry = Entry { sequence, slot, sum, memory: Some(contents.clone()) };
            older.extend(self.table.put(*page, entry));
            pages.push((*page, sum));
        }
        (older, pages)
    }

    /// Removes discarded pages. Returns their former slots.
    fn discard(&mut self, pages: &[PageNumber]) -> impl Iterator<Item = Slot> {
        let older: Vec<_> = pages.iter().filter_map(|page| self.table.remove(*page)).collect();
        older.into_iter().filter(|_| !Defect::DiscardKeepsSlot.is_seeded())
    }
}

impl StagingLog {
    /// Number of pages for the next extent of the group, or `None` at its end.
    pub(super) fn wanted_pages(&self) -> Option<usize> {
        self.puts_ahead(ENTRIES_MAX)
    }

    /// Newest staged version of a page, if its whole group is in flight.
    pub(super) fn version_of_whole_group(&self, page: PageNumber) -> Option<Entry> {
        let whole_groups = self.tail.assigned_groups();
        self.versions().get(page).filter(|entry| entry.sequence <= whole_groups).cloned()
    }

    /// Starts the write of the group's next extent. It is durable if wanted and possible in one
    /// request.
    pub(super) fn append(self: &Rc<Self>, room: Room, wanted: Durability) -> Result<Appended, PageError> {
        let Changes { puts, discards, ends_group } = self.take(ENTRIES_MAX, room.pages);
        debug_assert!(!puts.is_empty() || !discards.is_empty(), "an extent of a group that isn't at its end");
        let staged = &mut *self.versions_mut();
        let (epoch, position) = (staged.epoch, room.position);
        // A renewal is not part of the chain.
        let is_last = ends_group && epoch != NO_EPOCH;
        let place = self.tail.assign(puts.len() + discards.len(), is_last);
        let (sequence, durable) = (place.sequence, place.durable);
        let (mut superseded, pages) = staged.stage((position, sequence), &puts);
        self.count_absorbed(superseded.len() as u64);
        superseded.extend(staged.discard(&discards));
        let (numbers, contents) = puts.into_iter().unzip();
        let mut header = Header {
            epoch,
            sequence,
            durable,
            position,
            is_last,
            pages,
            discards: discards.clone(),
            seal: 0,
        };
        let block = self.seal(&mut header)?;
        let sealed = header.clone();
        self.send("writing to the staging area", (header, block), contents, wanted);
        let (pages, discarded) = (numbers, discards);
        let (ends_group, header) = (is_last, sealed);
        Ok(Appended { position, sequence, pages, discarded, superseded, ends_group, header })
    }
}
