//! Reads the remains of damaged checksums of home pages for [salvage](crate::salvage).

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::format::{CHUNK_PAGES, Entry, LogBlock, decode_chunk};
use super::{Area, Rounds};
use crate::label::Label;
use crate::salvage::{Finding, PageSet, Problem, Severity, Structure, at_block, finding, problem_of};
use crate::size::to_usize;
use crate::{BLOCK_BYTES, PageNumber};

const PAGES: u64 = CHUNK_PAGES as u64;

/// Checksum of a home page, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HomeSum {
    /// Known.
    Known(u32),
    /// Known, but possibly superseded by a lost one.
    KnownOnce(u32),
    /// Lost.
    Lost,
    /// None: the page was never written home, or its contents don't matter.
    None,
}

/// Checksums as of a round, assembled from blocks: first the table, then the log.
pub(crate) struct SumsEvidence {
    area: Area,
    counted: Rounds,
    /// Number of pages of the store.
    pages: u64,
    /// Round that wrote each chunk found, or 0.
    rounds: Vec<u64>,
    sums: Vec<u32>,
    /// Round up to which log blocks are lost. Chunks written before it may lack their entries.
    lost_before: u64,
    /// Pages entered by later rounds.
    entered_since: FxHashSet<PageNumber>,
    /// Pages whose newest checksum may be lost, after all blocks were entered.
    uncertain: PageSet,
    damaged: Vec<Damaged>,
}

/// A block other than the one written by its round.
struct Damaged {
    structure: Structure,
    round: u64,
    offset_bytes: u64,
    problem: Problem,
}

impl SumsEvidence {
    /// Returns `None` if the store has no checksums.
    pub(crate) fn new(label: &Label, counted: Rounds) -> Option<Self> {
        let area = Area::of(label)?;
        let chunks = to_usize(area.chunks);
        Some(Self {
            area,
            counted,
            pages: label.pages,
            rounds: vec![0; chunks],
            sums: vec![0; chunks * CHUNK_PAGES],
            lost_before: 0,
            entered_since: FxHashSet::default(),
            uncertain: PageSet::default(),
            damaged: Vec::new(),
        })
    }

    /// Blocks of the table.
    pub(crate) fn table(&self) -> Range<u64> {
        let blocks = if self.counted.newest > 0 {
            2 * self.area.stride_blocks..4 * self.area.stride_blocks
        } else {
            0..0
        };
        self.at(blocks.start)..self.at(blocks.end)
    }

    /// Round and place of a series of adjacent log blocks, starting at `round` or later.
    pub(crate) fn logs_from(&self, round: u64, length_bytes: u64) -> Option<(u64, Range<u64>)> {
        let round = round.max(self.first_log());
        let first = self.area.log_block(round);
        let blocks = self.area.log_run(round).min((self.counted.newest + 1).checked_sub(round)?);
        let blocks = blocks.min(length_bytes / BLOCK_BYTES as u64);
        (blocks > 0).then(|| (round, self.at(first)..self.at(first + blocks)))
    }

    fn at(&self, block: u64) -> u64 {
        self.area.offset_bytes + block * BLOCK_BYTES as u64
    }

    /// First round with a log block in the ring.
    fn first_log(&self) -> u64 {
        (self.counted.newest + 1).saturating_sub(2 * self.area.chunks).max(1)
    }

    /// Enters a block of the table.
    pub(crate) fn enter_table_block(&mut self, offset_bytes: u64, block: Result<&[u8], Problem>) {
        let index = (offset_bytes - self.area.offset_bytes) / BLOCK_BYTES as u64;
        let chunk = index % self.area.stride_blocks;
        if chunk >= self.area.chunks {
            return;
        }
        let Some(newest) = self.area.newest(chunk, self.counted.newest) else { return };
        let older = newest.checked_sub(self.area.chunks).filter(|round| *round > 0);
        let written = [Some(newest), older].into_iter().flatten();
        let Some(round) = written.into_iter().find(|round| self.area.chunk_block(*round) == index) else {
            return;
        };
        let sums = block.ok().and_then(|block| decode_chunk(self.area.id, round, chunk, block));
        let Some(of_chunk) = self.rounds.get_mut(to_usize(chunk)) else { return };
        match sums {
            Some(sums) if *of_chunk < round => {
                *of_chunk = round;
                let place = self.sums.chunks_mut(CHUNK_PAGES).nth(to_usize(chunk));
                let Some(place) = place else { unreachable!("the area has chunk {chunk}") };
                place.copy_from_slice(&sums);
            }
            Some(_) => {}
            None if self.is_later(block, chunk, round) => {}
            None => self.damaged.push(Damaged {
                structure: Structure::ChecksumTable,
                round,
                offset_bytes,
                problem: problem_of(block),
            }),
        }
    }

    /// Returns true if a later round, not valid yet, has overwritten this one's chunk.
    fn is_later(&self, block: Result<&[u8], Problem>, chunk: u64, round: u64) -> bool {
        let later = round + 2 * self.area.chunks;
        block.is_ok_and(|block| decode_chunk(self.area.id, later, chunk, block).is_some())
    }

    /// Enters a block of the log. Blocks must arrive in the order of their rounds.
    pub(crate) fn enter_log_block(&mut self, round: u64, offset_bytes: u64, block: Result<&[u8], Problem>) {
        debug_assert_eq!(self.at(self.area.log_block(round)), offset_bytes, "round {round}");
        let decoded = block.ok().and_then(|block| LogBlock::decode(self.area.id, round, block));
        let has_chunk = |(page, _): &Entry| page.0 / PAGES < self.area.chunks;
        match decoded.filter(|block| block.entries.iter().all(has_chunk)) {
            Some(LogBlock { entries, table: 0 }) => self.enter(round, &entries),
            Some(LogBlock { table, .. }) => self.lose_before((round + 1).saturating_sub(u64::from(table))),
            None => {
                if !self.counted.is_without_entries(round) {
                    self.lose_before(round);
                }
                let later = round + 2 * self.area.chunks;
                let is_later = |block: &[u8]| LogBlock::decode(self.area.id, later, block).is_some();
                if !block.is_ok_and(is_later) {
                    let (structure, problem) = (Structure::ChecksumLog, problem_of(block));
                    self.damaged.push(Damaged { structure, round, offset_bytes, problem });
                }
            }
        }
    }

    fn enter(&mut self, round: u64, entries: &[Entry]) {
        for (page, sum) in entries {
            let is_older = self.rounds.get(to_usize(page.0 / PAGES)).is_some_and(|written| *written < round);
            if let (true, Some(place)) = (is_older, self.sums.get_mut(to_usize(page.0))) {
                *place = *sum;
                if self.lost_before > 0 {
                    self.entered_since.insert(*page);
                }
            }
        }
    }

    /// Marks chunks written before a round as incomplete. Log blocks arrive in the order of their
    /// rounds.
    fn lose_before(&mut self, round: u64) {
        if round > self.lost_before {
            self.lost_before = round;
            self.entered_since.clear();
        }
    }

    fn pages_of(&self, chunk: u64) -> PageSet {
        PageSet::of((chunk * PAGES).min(self.pages)..((chunk + 1) * PAGES).min(self.pages))
    }

    /// Completes the evidence after all blocks. An unreadable chunk is lost unless the log covers
    /// all of it.
    pub(crate) fn complete(&mut self) {
        for chunk in (0..).zip(&self.rounds).filter(|(_, written)| **written < self.lost_before) {
            self.uncertain.extend(&self.pages_of(chunk.0));
        }
        for page in std::mem::take(&mut self.entered_since) {
            self.uncertain.remove(page);
        }
        let is_whole_log = self.first_log() == 1;
        let lost = (0..self.area.chunks)
            .filter(|chunk| !is_whole_log && self.rounds.get(to_usize(*chunk)) == Some(&0))
            .filter(|chunk| self.area.newest(*chunk, self.counted.newest).is_some());
        for chunk in lost.collect::<Vec<_>>() {
            let pages = self.pages_of(chunk);
            let unknown = pages.iter().filter(|page| self.sums.get(to_usize(page.0)) == Some(&0));
            self.uncertain.extend(&unknown.collect());
        }
    }

    /// Marks all sums as uncertain, as they may be older ones.
    pub(crate) fn doubt_all(&mut self) {
        self.uncertain = PageSet::of(0..self.pages);
    }

    /// Confirms the sum of a page whose contents match it.
    pub(crate) fn confirm(&mut self, page: PageNumber) {
        self.uncertain.remove(page);
    }

    /// Problems of the blocks, after comparing the pages with the sums.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        // A lost log block may have named any page, so a single finding lists them all.
        let first_log = self.damaged.iter().position(|damaged| damaged.structure == Structure::ChecksumLog);
        let findings = self.damaged.iter().enumerate();
        findings.map(|(index, damaged)| self.finding(damaged, first_log == Some(index))).collect()
    }

    fn finding(&self, damaged: &Damaged, names_pages: bool) -> Finding {
        let Damaged { structure, round, offset_bytes, problem } = *damaged;
        let (is_loss, lost) = match structure {
            Structure::ChecksumTable => {
                let pages = self.pages_of(self.area.chunk(round));
                let lost: PageSet = pages.iter().filter(|page| self.uncertain.contains(*page)).collect();
                (!lost.is_empty(), lost)
            }
            _ if names_pages => (!self.uncertain.is_empty(), self.uncertain.clone()),
            _ => (!self.uncertain.is_empty(), PageSet::default()),
        };
        let is_newest = round + self.area.chunks > self.counted.newest;
        let severity = match (is_loss, is_newest || problem == Problem::Unreadable) {
            (true, _) => Severity::Loss,
            (false, true) => Severity::Redundant,
            // A round interrupted by a power cut overwrote the block.
            (false, false) => Severity::Harmless,
        };
        let finding = finding(structure, problem, severity, at_block(offset_bytes));
        Finding { pages: lost, ..finding }
    }

    /// Checksum of a page.
    pub(crate) fn of(&self, page: PageNumber) -> HomeSum {
        let sum = self.sums.get(to_usize(page.0)).copied().unwrap_or(0);
        match (sum, self.uncertain.contains(page)) {
            (0, false) => HomeSum::None,
            (0, true) => HomeSum::Lost,
            (sum, false) => HomeSum::Known(sum),
            (sum, true) => HomeSum::KnownOnce(sum),
        }
    }
}
