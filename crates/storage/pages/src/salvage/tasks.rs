//! Tasks of an inspection.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::evidence::{TailExtent, finding};
use super::finding::{Finding, Problem, Severity, Structure};
use super::inspection::{Evidence, Inspection};
use super::judge::is_whole;
use super::piece::PIECE_BYTES;
use super::report::PageState;
use crate::home_sums::SumsEvidence;
use crate::label::Label;
use crate::{BLOCK_BYTES, PageError, PageNumber};

const BLOCK: u64 = BLOCK_BYTES as u64;

/// A step of the inspection.
#[derive(Debug)]
pub(super) enum Task {
    /// Reads a copy of the ledger.
    Ledger(u64),
    /// Reads the marks of a close.
    Marks,
    /// Plans reads of the structures that the ledgers name.
    Named,
    /// Reads blocks of the directory of extents.
    Directory(Range<u64>),
    /// Reads blocks of the table of checksums.
    Table(Range<u64>),
    /// Reads the log of checksums from a round on.
    Log(u64),
    /// Reads blocks of a slot of the saved map.
    Map(Range<u64>),
    /// Reads blocks of the area.
    Area(Range<u64>),
    /// Combines all structures.
    Resolve,
    /// Reads an extent of the tail, by index.
    Tail(usize),
    /// Sorts the pages by place.
    Place,
    /// Reads pages in the area, from an index on.
    Placed(usize),
    /// Reads home pages, from a page on.
    Homes(u64),
    /// Reports findings about checksums after all pages were read.
    Conclude,
}

/// Initial tasks of an inspection.
pub(super) fn first_tasks(label: &Label) -> VecDeque<Task> {
    let has_area = label.policy.has_zones() || label.policy.has_staging_area();
    let mut tasks = VecDeque::new();
    if has_area {
        tasks.extend((0..label.ledger_copies).map(Task::Ledger));
        let has_marks = !label.policy.has_zones() && label.has_close_marks();
        tasks.extend(has_marks.then_some(Task::Marks));
        tasks.extend([Task::Named, Task::Area(label.area_offset..label.area_offset + label.area_bytes)]);
        tasks.extend([Task::Resolve, Task::Tail(0), Task::Place, Task::Placed(0)]);
    }
    tasks.extend((!label.policy.has_zones()).then_some(Task::Homes(0)));
    tasks.push_back(Task::Conclude);
    tasks
}

/// First piece of a range, and its rest.
fn cut(range: Range<u64>) -> (Range<u64>, Option<Range<u64>>) {
    let middle = range.end.min(range.start + PIECE_BYTES);
    (range.start..middle, (middle < range.end).then_some(middle..range.end))
}

impl Inspection {
    pub(super) async fn perform(
        &mut self,
        task: Task,
        visit: &mut dyn FnMut(PageNumber, &[u8], PageState),
    ) -> Result<(), PageError> {
        match task {
            Task::Ledger(copy) => self.read_ledger(copy).await,
            Task::Marks => self.read_marks().await,
            Task::Named => {
                self.plan_named();
                Ok(())
            }
            Task::Directory(range) => self.read_directory(range).await,
            Task::Table(range) => self.read_table(range).await,
            Task::Log(round) => self.read_log(round).await,
            Task::Map(range) => self.read_map(range).await,
            Task::Area(range) => self.read_area(range).await,
            Task::Resolve => {
                self.resolve();
                Ok(())
            }
            Task::Tail(index) => self.follow_tail(index).await,
            Task::Place => {
                self.place();
                Ok(())
            }
            Task::Placed(index) => self.read_placed(index, visit).await,
            Task::Homes(first) => self.read_homes(first, visit).await,
            Task::Conclude => {
                self.conclude();
                Ok(())
            }
        }
    }

    /// Puts a task before all others.
    fn next(&mut self, task: Option<Task>) {
        if let Some(task) = task {
            self.tasks.push_front(task);
        }
    }

    async fn read_ledger(&mut self, copy: u64) -> Result<(), PageError> {
        let piece = self.reader.read(self.label.ledger_at(copy), self.label.ledger_bytes).await?;
        match &mut self.evidence {
            Evidence::Staged(evidence) => evidence.enter_ledger(piece.whole()),
            Evidence::Zones(evidence) => evidence.enter_ledger(piece.whole()),
            Evidence::InPlace => {}
        }
        Ok(())
    }

    async fn read_marks(&mut self) -> Result<(), PageError> {
        let Evidence::Staged(evidence) = &mut self.evidence else { return Ok(()) };
        for place in self.label.mark_places() {
            let piece = self.reader.read(place, BLOCK).await?;
            evidence.enter_mark(piece.whole());
        }
        Ok(())
    }

    /// Plans reads of the structures that the ledgers name.
    fn plan_named(&mut self) {
        match &mut self.evidence {
            Evidence::Staged(evidence) => {
                let rounds = evidence.sums_rounds();
                self.sums = rounds.and_then(|rounds| SumsEvidence::new(&self.label, rounds));
                let directory = evidence.directory_range();
                if let Some(sums) = &self.sums {
                    self.tasks.push_front(Task::Log(1));
                    self.tasks.push_front(Task::Table(sums.table()));
                }
                self.next(directory.map(Task::Directory));
            }
            Evidence::Zones(evidence) => {
                let slots = evidence.map_slots();
                for (offset_bytes, length_bytes) in slots.into_iter().rev() {
                    self.tasks.push_front(Task::Map(offset_bytes..offset_bytes + length_bytes));
                }
            }
            Evidence::InPlace => {}
        }
    }

    async fn read_directory(&mut self, range: Range<u64>) -> Result<(), PageError> {
        let (first, rest) = cut(range);
        self.next(rest.map(Task::Directory));
        let piece = self.reader.read(first.start, first.end - first.start).await?;
        if let Evidence::Staged(evidence) = &mut self.evidence {
            piece.blocks().for_each(|(_, block)| evidence.enter_directory_block(block));
        }
        Ok(())
    }

    async fn read_table(&mut self, range: Range<u64>) -> Result<(), PageError> {
        let (first, rest) = cut(range);
        self.next(rest.map(Task::Table));
        let Some(sums) = &mut self.sums else { return Ok(()) };
        if !first.is_empty() {
            let piece = self.reader.read(first.start, first.end - first.start).await?;
            piece.blocks().for_each(|(at, block)| sums.enter_table_block(at, block));
            self.advance(first.end - first.start);
        }
        Ok(())
    }

    async fn read_log(&mut self, round: u64) -> Result<(), PageError> {
        let Some(sums) = &mut self.sums else { return Ok(()) };
        let Some((first, range)) = sums.logs_from(round, PIECE_BYTES) else {
            sums.complete();
            return Ok(());
        };
        let length_bytes = range.end - range.start;
        let piece = self.reader.read(range.start, length_bytes).await?;
        for (round, (at, block)) in (first..).zip(piece.blocks()) {
            sums.enter_log_block(round, at, block);
        }
        self.tasks.push_front(Task::Log(first + length_bytes / BLOCK));
        self.advance(length_bytes);
        Ok(())
    }

    async fn read_map(&mut self, range: Range<u64>) -> Result<(), PageError> {
        let (first, rest) = cut(range);
        self.next(rest.map(Task::Map));
        let piece = self.reader.read(first.start, first.end - first.start).await?;
        if let Evidence::Zones(evidence) = &mut self.evidence {
            piece.blocks().for_each(|(at, block)| evidence.enter_map_block(at, block));
        }
        Ok(())
    }

    async fn read_area(&mut self, range: Range<u64>) -> Result<(), PageError> {
        let (first, rest) = cut(range);
        self.next(rest.map(Task::Area));
        if first.is_empty() {
            return Ok(());
        }
        let piece = self.reader.read(first.start, first.end - first.start).await?;
        let positions = (first.start - self.label.area_offset) / BLOCK..;
        for (position, (_, block)) in positions.zip(piece.blocks()) {
            match &mut self.evidence {
                Evidence::Staged(evidence) => evidence.enter_block(position, block),
                Evidence::Zones(evidence) => evidence.enter_block(position, block),
                Evidence::InPlace => {}
            }
        }
        self.advance(first.end - first.start);
        Ok(())
    }

    fn resolve(&mut self) {
        self.resolved = match std::mem::replace(&mut self.evidence, Evidence::InPlace) {
            Evidence::Staged(evidence) => evidence.resolve(),
            Evidence::Zones(evidence) => evidence.resolve(),
            Evidence::InPlace => return,
        };
        // The ledger may be outdated, and so may its record of checksums.
        if self.resolved.doubt.is_some() {
            self.sums.iter_mut().for_each(SumsEvidence::doubt_all);
        }
        self.resolved.others.sort_unstable_by_key(|version| (version.page, version.sequence));
        self.findings.append(&mut self.resolved.findings);
        self.report.is_closed = self.resolved.is_closed;
        let in_doubt = self.resolved.doubt.map_or(0, |doubt| doubt.pages_max);
        self.report.doubtful_max =
            in_doubt.saturating_add(self.resolved.unplaced.len()).min(self.label.pages);
    }

    /// Reads an extent of the tail, which counts if it and its group are complete.
    async fn follow_tail(&mut self, index: usize) -> Result<(), PageError> {
        let Some(extent) = self.resolved.tail.get(index).cloned() else {
            let unended = std::mem::take(&mut self.group);
            self.leave_tail(&unended);
            return Ok(());
        };
        if !self.is_extent_whole(&extent).await? {
            let rest = self.resolved.tail.get(index..).unwrap_or_default().to_vec();
            let unended = std::mem::take(&mut self.group);
            self.leave_tail(&[unended, rest].concat());
            return Ok(());
        }
        self.tasks.push_front(Task::Tail(index + 1));
        let is_last = extent.is_last;
        self.group.push(extent);
        if is_last {
            for extent in std::mem::take(&mut self.group) {
                self.resolved.enter(extent.versions, extent.discards);
            }
        }
        Ok(())
    }

    async fn is_extent_whole(&self, extent: &TailExtent) -> Result<bool, PageError> {
        for version in &extent.versions {
            let first = version.offset_bytes / BLOCK * BLOCK;
            let end = (version.offset_bytes + u64::from(version.stored_bytes)).next_multiple_of(BLOCK);
            let piece = self.reader.read(first, end - first).await?;
            let stored = piece.bytes(version.offset_bytes, version.stored_bytes.into());
            if !stored.is_ok_and(|stored| is_whole(version, stored, self.page_bytes()).is_some()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reports incomplete batches, as left by a power cut.
    fn leave_tail(&mut self, extents: &[TailExtent]) {
        let (Some(first), Some(last)) = (extents.first(), extents.last()) else { return };
        debug_assert!(first.sequence <= last.sequence, "extents in their order");
        let changed = extents.iter().flat_map(|extent| {
            extent.versions.iter().map(|version| version.page).chain(extent.discards.iter().copied())
        });
        let length_bytes = extents.iter().map(|it| BLOCK + it.versions.len() as u64 * self.label.page_bytes);
        let place = (first.offset_bytes, length_bytes.sum());
        let found = finding(Structure::StagedPage, Problem::Unfinished, Severity::Harmless, place);
        let structure =
            if self.label.policy.has_zones() { Structure::ZonePage } else { Structure::StagedPage };
        self.findings.push(Finding { structure, pages: changed.collect(), ..found });
    }

    fn place(&mut self) {
        self.placed = self.resolved.newest.values().copied().collect();
        self.placed.sort_unstable_by_key(|version| version.offset_bytes);
        let bytes: u64 = self.placed.iter().map(|version| u64::from(version.stored_bytes)).sum();
        self.advance(self.label.area_bytes.saturating_sub(bytes));
        if self.label.policy.has_zones() {
            let doubt = self.resolved.doubt;
            for page in self.page_set().iter().filter(|page| !self.resolved.newest.contains_key(page)) {
                // A live page has a header in its zone, so a page without one was most likely never
                // written.
                if self.resolved.unplaced.contains(page) {
                    self.report.count_doubtful(self.label.outer(page));
                } else {
                    self.report.count_empty(self.label.outer(page), doubt);
                }
            }
            // Pages in zones have no home places to check.
            self.resolved.newest = FxHashMap::default();
        }
    }

    fn conclude(&mut self) {
        let findings = self.sums.as_ref().map(SumsEvidence::findings);
        self.findings.extend(findings.into_iter().flatten());
    }
}
