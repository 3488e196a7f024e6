//! State of every superblock: valid units, age and wear, and the free list.
#![allow(clippy::indexing_slicing, reason = "superblock numbers are made here and never leave the mapping")]

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Bits per cell of a superblock, from its opening until it is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CellUse {
    /// All bits of a cell.
    AllBits,
    /// One bit a cell: less capacity, faster programming.
    SingleLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Use {
    Free,
    Open,
    Closed,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Superblock {
    usage: Use,
    cells: CellUse,
    valid_units: u32,
    erases: u32,
    /// Number of superblocks closed before this one.
    closed_at: u64,
}

/// Superblock that can be cleaned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) index: u32,
    pub(crate) valid_units: u32,
    /// Superblocks closed since this one was.
    pub(crate) age: u64,
}

/// State of all superblocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Superblocks {
    blocks: Vec<Superblock>,
    free: VecDeque<u32>,
    /// Number of open and closed superblocks with one bit a cell.
    single_level: u32,
    closed: u64,
}

impl Superblocks {
    pub(crate) fn new(superblocks: u32) -> Self {
        let fresh =
            Superblock { usage: Use::Free, cells: CellUse::AllBits, valid_units: 0, erases: 0, closed_at: 0 };
        Self {
            blocks: vec![fresh; superblocks as usize],
            free: (0..superblocks).collect(),
            single_level: 0,
            closed: 0,
        }
    }

    pub(crate) fn cells_of(&self, index: u32) -> CellUse {
        self.blocks[index as usize].cells
    }

    pub(crate) fn free(&self) -> u32 {
        super::super::units::saturating_u32(self.free.len() as u64)
    }

    /// Number of superblocks with one bit a cell.
    pub(crate) fn single_level(&self) -> u32 {
        self.single_level
    }

    /// Opens the superblock that has been free longest.
    pub(crate) fn open(&mut self, cells: CellUse) -> Option<u32> {
        let index = self.free.pop_front()?;
        let block = &mut self.blocks[index as usize];
        block.usage = Use::Open;
        block.cells = cells;
        self.single_level += u32::from(cells == CellUse::SingleLevel);
        Some(index)
    }

    pub(crate) fn close(&mut self, index: u32) {
        self.closed += 1;
        let block = &mut self.blocks[index as usize];
        block.usage = Use::Closed;
        block.closed_at = self.closed;
    }

    /// Counts an erase and makes the superblock free.
    pub(crate) fn erased(&mut self, index: u32) {
        let block = &mut self.blocks[index as usize];
        debug_assert!(block.usage == Use::Closed, "only what is closed is cleaned");
        block.usage = Use::Free;
        block.valid_units = 0;
        block.erases += 1;
        self.single_level -= u32::from(block.cells == CellUse::SingleLevel);
        self.free.push_back(index);
    }

    pub(crate) fn valid_units(&self, index: u32) -> u32 {
        self.blocks[index as usize].valid_units
    }

    #[inline]
    pub(crate) fn add_valid(&mut self, index: u32, units: u32) {
        self.blocks[index as usize].valid_units += units;
    }

    #[inline]
    pub(crate) fn remove_valid(&mut self, index: u32) {
        self.blocks[index as usize].valid_units -= 1;
    }

    /// Marks all units as invalid.
    pub(crate) fn invalidate_all(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.valid_units = 0);
    }

    /// Superblocks closed since this one was; 0 for an open one.
    pub(crate) fn age(&self, index: u32) -> u64 {
        let block = &self.blocks[index as usize];
        if block.usage == Use::Closed { self.closed - block.closed_at } else { 0 }
    }

    /// Candidate for cleaning, if the superblock is closed.
    pub(crate) fn candidate(&self, index: u32) -> Option<Candidate> {
        let block = &self.blocks[index as usize];
        (block.usage == Use::Closed).then(|| Candidate {
            index,
            valid_units: block.valid_units,
            age: self.closed - block.closed_at,
        })
    }

    pub(crate) fn candidates(&self) -> impl Iterator<Item = Candidate> {
        (0..self.len()).filter_map(move |index| self.candidate(index))
    }

    /// Candidates with this use of the cells.
    pub(crate) fn candidates_with(&self, cells: CellUse) -> impl Iterator<Item = Candidate> {
        self.candidates().filter(move |candidate| self.cells_of(candidate.index) == cells)
    }

    /// Returns true if nothing has ever been written.
    pub(crate) fn are_new(&self) -> bool {
        self.blocks.iter().all(|block| block.usage == Use::Free && block.erases == 0)
    }

    pub(crate) fn len(&self) -> u32 {
        super::super::units::saturating_u32(self.blocks.len() as u64)
    }

    pub(crate) fn erases(&self, index: u32) -> u32 {
        self.blocks[index as usize].erases
    }

    pub(crate) fn erase_counts(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().map(|block| block.erases)
    }
}
