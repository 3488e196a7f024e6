//! Reads the remains of a damaged staging area for [salvage](crate::salvage).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::close::{Mark, Standing};
use super::directory;
use super::header::{ENTRIES_MAX, Header};
use super::ledger::{Bits, HeadersSeal, Ledger};
use crate::extents::Stamp;
use crate::home_sums::Rounds;
use crate::label::Label;
use crate::salvage::{
    CopyState, Problem, Resolved, Severity, Structure, TailExtent, Version, at_block, finding,
    ledger_findings, newest, problem_of,
};
use crate::{BLOCK_BYTES, PageNumber};

/// Structures of a staging area, as found.
pub(crate) struct StagedEvidence {
    label: Label,
    ledgers: Vec<CopyState<(Stamp, Ledger)>>,
    marks: Vec<CopyState<Mark>>,
    /// Headers by position.
    headers: BTreeMap<u64, Header>,
    unreadable: BTreeMap<u64, Problem>,
    /// Blocks of the directory; `None` where unreadable.
    directory: Vec<Option<Vec<u8>>>,
}

impl StagedEvidence {
    pub(crate) fn new(label: &Label) -> Self {
        Self {
            label: label.clone(),
            ledgers: Vec::new(),
            marks: Vec::new(),
            headers: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            directory: Vec::new(),
        }
    }

    /// Enters the next copy of the ledger.
    pub(crate) fn enter_ledger(&mut self, copy: Result<&[u8], Problem>) {
        let (id, blocks) = (self.label.id, self.label.area_blocks());
        let is_bound = self.label.has_close_marks();
        self.ledgers.push(CopyState::of(copy, |copy| Ledger::decode(id, blocks, is_bound, copy)));
    }

    /// Enters the next copy of the mark of a close.
    pub(crate) fn enter_mark(&mut self, copy: Result<&[u8], Problem>) {
        let id = self.label.id;
        self.marks.push(CopyState::of(copy, |copy| Mark::decode(id, copy)));
    }

    /// Enters a block of the area.
    pub(crate) fn enter_block(&mut self, position: u64, block: Result<&[u8], Problem>) {
        match block {
            Ok(block) => {
                let header = Header::decode(self.label.id, position, block);
                let header = header.filter(|header| header.is_of_pages(self.label.pages));
                self.headers.extend(header.map(|header| (position, header)));
            }
            Err(problem) => {
                self.unreadable.insert(position, problem);
            }
        }
    }

    /// Valid rounds of the checksums of home pages.
    pub(crate) fn sums_rounds(&self) -> Option<Rounds> {
        let (stamp, ledger) = newest(&self.ledgers)?;
        let complete_after = self.mark_of_close(stamp.generation).and_then(|mark| mark.complete_after);
        Some(Rounds { newest: ledger.bound.map_or(0, |bound| bound.sums_round), complete_after })
    }

    /// Byte range of the directory, if the store was closed.
    pub(crate) fn directory_range(&self) -> Option<Range<u64>> {
        let (stamp, _) = newest(&self.ledgers)?;
        self.mark_of_close(stamp.generation)?.directory?.range(&self.label)
    }

    /// Enters the next block of the directory.
    pub(crate) fn enter_directory_block(&mut self, block: Result<&[u8], Problem>) {
        self.directory.push(block.ok().map(<[u8]>::to_vec));
    }

    fn newest_mark(&self) -> Option<Mark> {
        self.marks.iter().filter_map(CopyState::valid).max().copied()
    }

    /// Mark of the close, unless a later opening wrote the newest ledger.
    fn mark_of_close(&self, generation: u64) -> Option<Mark> {
        self.newest_mark().filter(|mark| mark.standing(generation) == Standing::Counts)
    }

    /// Evaluates all structures together.
    pub(crate) fn resolve(mut self) -> Resolved {
        let mut resolved = Resolved::default();
        let found = newest(&self.ledgers);
        let generation = found.as_ref().map_or(0, |(stamp, _)| stamp.generation);
        let closed = self.mark_of_close(generation);
        resolved.is_closed = Some(closed.is_some());
        resolved.findings = ledger_findings(&self.label, &self.ledgers, closed.is_some());
        self.judge_marks(closed.is_some(), &mut resolved);
        resolved.others = self.versions();
        if let (Some(mark), Some((_, ledger))) = (closed, &found) {
            self.restore_headers(mark, ledger, &mut resolved);
        }
        let later_epoch = |ledger: &Ledger| self.headers.values().any(|it| it.epoch > ledger.epoch);
        let is_lost = self.newest_mark().map(|mark| mark.standing(generation)) == Some(Standing::LedgerLost);
        match found.map(|(_, ledger)| ledger) {
            Some(ledger) if !is_lost && !later_epoch(&ledger) => {
                self.by_ledger(&ledger, closed.map(|mark| mark.sequence), &mut resolved);
            }
            ledger => self.without_ledger(ledger.as_ref(), &mut resolved),
        }
        self.judge_unreadable(&mut resolved);
        resolved
    }

    fn versions(&self) -> Vec<Version> {
        let mut versions = Vec::with_capacity(self.headers.values().map(|header| header.pages.len()).sum());
        versions.extend(self.headers.values().flat_map(|header| self.versions_of(header)));
        versions
    }

    /// Takes headers from the directory that are bad at their places, as an opening does.
    fn restore_headers(&mut self, mark: Mark, ledger: &Ledger, resolved: &mut Resolved) {
        let Some(range) = mark.directory.and_then(|place| place.range(&self.label)) else { return };
        let blocks = self.directory.iter().map(Option::as_deref);
        let directory = directory::decode(self.label.id, mark.generation, blocks);
        let found = directory::missing(directory, ledger, &self.headers, &self.label);
        for header in found.collect::<Vec<_>>() {
            let position = header.position;
            resolved.others.extend(self.versions_of(&header));
            let is_older = self.headers.insert(position, header).is_some();
            let present = if is_older { Problem::Outdated } else { Problem::Missing };
            let problem = self.unreadable.get(&position).copied().unwrap_or(present);
            let place = at_block(self.label.offset_of(position));
            resolved.findings.push(finding(Structure::ExtentHeader, problem, Severity::Redundant, place));
        }
        self.judge_directory(mark.generation, range, resolved);
    }

    /// Reports problems of the directory's blocks.
    fn judge_directory(&self, generation: u64, range: Range<u64>, resolved: &mut Resolved) {
        for (index, (offset_bytes, block)) in range.step_by(BLOCK_BYTES).zip(&self.directory).enumerate() {
            let block = block.as_deref().ok_or(Problem::Unreadable);
            let is_valid = |block| directory::is_valid(self.label.id, generation, index, block);
            if !block.is_ok_and(is_valid) {
                let (problem, place) = (problem_of(block), at_block(offset_bytes));
                resolved.findings.push(finding(Structure::Directory, problem, Severity::Redundant, place));
            }
        }
    }

    fn judge_marks(&self, is_closed: bool, resolved: &mut Resolved) {
        for (offset_bytes, mark) in self.label.mark_places().zip(&self.marks) {
            let Some(problem) = mark.problem() else { continue };
            // Before the first close the marks are zeros, and a power cut may tear them.
            let severity = match (problem, is_closed) {
                (Problem::Unreadable, _) | (_, true) => Severity::Redundant,
                (Problem::Zeroed, false) => continue,
                (_, false) => Severity::Harmless,
            };
            resolved.findings.push(finding(Structure::CloseMark, problem, severity, at_block(offset_bytes)));
        }
    }

    /// Reports unreadable blocks that hold neither a missing header nor a live page.
    fn judge_unreadable(&self, resolved: &mut Resolved) {
        let page_bytes = self.label.page_bytes;
        let mut used: Vec<u64> = resolved.newest.values().map(|version| version.offset_bytes).collect();
        used.extend(resolved.tail.iter().flat_map(|it| it.versions.iter().map(|it| it.offset_bytes)));
        used.sort_unstable();
        let named: BTreeSet<u64> = resolved.findings.iter().map(|finding| finding.offset_bytes).collect();
        for (position, problem) in &self.unreadable {
            let at = self.label.offset_of(*position);
            let before = used.partition_point(|start| *start <= at).checked_sub(1);
            let is_used =
                before.and_then(|index| used.get(index)).is_some_and(|start| at < start + page_bytes);
            if !is_used && !named.contains(&at) {
                let free = finding(Structure::FreeSpace, *problem, Severity::Harmless, at_block(at));
                resolved.findings.push(free);
            }
        }
    }

    /// Evaluates the extents by the newest ledger; `closed_at` is the last sequence of a closed
    /// store.
    fn by_ledger(&self, ledger: &Ledger, closed_at: Option<u64>, resolved: &mut Resolved) {
        let alive = self.named_by(ledger, resolved);
        for (header, pages) in alive.iter().zip(ledger.alive_pages(&self.label, &alive)) {
            let versions = self.versions_of(header).zip(pages);
            let versions = versions.filter(|(_, is_alive)| *is_alive).map(|(version, _)| version);
            // Discards covered by the ledger are durable.
            resolved.enter(versions, header.discards.iter().copied());
        }
        resolved.discarded.clear();
        let of_epoch = |it: &&Header| it.epoch == ledger.epoch && it.sequence > ledger.durable;
        let chain = self.headers.values().filter(of_epoch).map(|header| (header.sequence, header));
        let chain: BTreeMap<u64, &Header> = chain.collect();
        let promised = chain.values().map(|header| header.durable).chain(closed_at).max().unwrap_or(0);
        let promised = promised.max(ledger.durable);
        let behind = promised + 1;
        for header in chain.range(..behind).map(|(_, header)| header) {
            resolved.enter(self.versions_of(header), header.discards.iter().copied());
        }
        let missing = promised - ledger.durable - chain.range(..behind).count() as u64;
        if missing > 0 {
            let present = (ledger.durable + 1..behind).rev().find(|sequence| !chain.contains_key(sequence));
            resolved.doubt(present.unwrap_or(promised), missing.saturating_mul(ENTRIES_MAX as u64));
            let gap = chain
                .range(..present.unwrap_or(0))
                .next_back()
                .map_or(0, |(_, it)| it.end_block(&self.label));
            self.miss_header(gap.min(self.label.area_blocks().saturating_sub(1)), resolved);
        }
        let tail = chain.range(behind..).zip(behind..);
        let tail = tail.take_while(|((sequence, _), expected)| **sequence == *expected);
        resolved.tail = tail.map(|((_, header), _)| self.tail_extent(header)).collect();
    }

    /// Valid headers that the ledger names, by sequence.
    fn named_by(&self, ledger: &Ledger, resolved: &mut Resolved) -> Vec<Header> {
        let (mut alive, mut seal, mut missing) = (Vec::new(), HeadersSeal::default(), Vec::new());
        for position in ledger.headers.ones() {
            let header = self.headers.get(&position).filter(|header| header.sequence <= ledger.durable);
            match header {
                Some(header) => {
                    seal.add(position, header.seal);
                    alive.push(header.clone());
                }
                None => missing.push(position),
            }
        }
        alive.sort_unstable_by_key(|header| header.sequence);
        if missing.is_empty() && ledger.bound.is_some_and(|bound| bound.headers_seal != seal.0) {
            resolved.doubt(ledger.durable, ENTRIES_MAX as u64);
            let place = (self.label.area_offset, self.label.area_bytes);
            resolved.findings.push(finding(
                Structure::ExtentHeader,
                Problem::Outdated,
                Severity::Loss,
                place,
            ));
        }
        if !missing.is_empty() {
            resolved.doubt(ledger.durable, self.uncovered(ledger, &alive));
        }
        for position in missing {
            self.miss_header(position, resolved);
        }
        alive
    }

    /// Number of live pages without a header.
    fn uncovered(&self, ledger: &Ledger, alive: &[Header]) -> u64 {
        let mut covered = Bits::new(self.label.area_blocks());
        for header in alive {
            (header.position..header.end_block(&self.label)).for_each(|block| covered.set(block));
        }
        ledger.slots.ones().filter(|block| !covered.get(*block)).count() as u64
    }

    fn miss_header(&self, position: u64, resolved: &mut Resolved) {
        let problem = self.unreadable.get(&position).copied().unwrap_or(Problem::Missing);
        let place = at_block(self.label.offset_of(position));
        resolved.findings.push(finding(Structure::ExtentHeader, problem, Severity::Loss, place));
    }

    /// Evaluates the headers alone. Dead versions and missing extents can't be recognised.
    fn without_ledger(&self, older: Option<&Ledger>, resolved: &mut Resolved) {
        let is_named = |header: &Header| {
            older.is_none_or(|it| header.sequence > it.durable || it.headers.get(header.position))
        };
        let mut headers: Vec<&Header> = self.headers.values().filter(|header| is_named(header)).collect();
        headers.sort_unstable_by_key(|header| header.sequence);
        for header in headers {
            resolved.enter(self.versions_of(header), header.discards.iter().copied());
        }
        resolved.doubt(u64::MAX, self.label.pages);
        let place = (self.label.ledger_offset, self.label.ledger_copies * self.label.ledger_bytes);
        resolved.findings.push(finding(Structure::Ledger, Problem::Missing, Severity::Loss, place));
    }

    fn tail_extent(&self, header: &Header) -> TailExtent {
        TailExtent {
            sequence: header.sequence,
            is_last: header.is_last,
            offset_bytes: self.label.offset_of(header.position),
            versions: self.versions_of(header).collect(),
            discards: header.discards.clone(),
        }
    }

    fn versions_of(&self, header: &Header) -> impl Iterator<Item = Version> {
        let (page_blocks, blocks) = (self.label.page_blocks(), self.label.area_blocks());
        let first = (header.position + 1).min(blocks);
        let (sequence, label) = (header.sequence, self.label.clone());
        let places = (first..=blocks.saturating_sub(page_blocks)).step_by(crate::size::to_usize(page_blocks));
        let pages: Vec<(PageNumber, u32)> = header.pages.clone();
        let stored_bytes = crate::size::to_u32(label.page_bytes);
        places.zip(pages).map(move |(block, (page, sum))| Version {
            page,
            sequence,
            offset_bytes: label.offset_of(block),
            stored_bytes,
            sum,
        })
    }
}
