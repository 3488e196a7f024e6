//! The state of every superblock: valid units, age, wear, and which are free.
#![allow(clippy::indexing_slicing, reason = "superblock numbers are made here and never leave the mapping")]

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Which kind of cells a superblock is used with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pool {
    /// All bits of a cell.
    Main,
    /// One bit a cell.
    Slc,
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
    valid_units: u32,
    erases: u32,
    /// Count of superblocks that had been closed when this one was.
    closed_at: u64,
}

/// A superblock that could be cleaned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) index: u32,
    pub(crate) valid_units: u32,
    /// Superblocks that have been closed since this one was.
    pub(crate) age: u64,
}

/// All superblocks; those from number `main` on form the single-level region.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Superblocks {
    blocks: Vec<Superblock>,
    main: u32,
    free: VecDeque<u32>,
    free_slc: VecDeque<u32>,
    closed: u64,
}

impl Superblocks {
    pub(crate) fn new(main: u32, slc: u32) -> Self {
        let fresh = Superblock { usage: Use::Free, valid_units: 0, erases: 0, closed_at: 0 };
        Self {
            blocks: vec![fresh; (main + slc) as usize],
            main,
            free: (0..main).collect(),
            free_slc: (main..main + slc).collect(),
            closed: 0,
        }
    }

    pub(crate) fn pool_of(&self, index: u32) -> Pool {
        if index < self.main { Pool::Main } else { Pool::Slc }
    }

    pub(crate) fn free_in(&self, pool: Pool) -> u32 {
        let list = if pool == Pool::Slc { &self.free_slc } else { &self.free };
        super::super::units::saturating_u32(list.len() as u64)
    }

    /// Opens the superblock that has been free longest.
    pub(crate) fn open(&mut self, pool: Pool) -> Option<u32> {
        let list = if pool == Pool::Slc { &mut self.free_slc } else { &mut self.free };
        let index = list.pop_front()?;
        self.blocks[index as usize].usage = Use::Open;
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
        block.usage = Use::Free;
        block.valid_units = 0;
        block.erases += 1;
        let list = if index < self.main { &mut self.free } else { &mut self.free_slc };
        list.push_back(index);
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

    /// Nothing is valid any more, anywhere.
    pub(crate) fn invalidate_all(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.valid_units = 0);
    }

    /// Superblocks closed since this one was; 0 for an open one.
    pub(crate) fn age(&self, index: u32) -> u64 {
        let block = &self.blocks[index as usize];
        if block.usage == Use::Closed { self.closed - block.closed_at } else { 0 }
    }

    /// The superblock as a candidate for cleaning, if it is closed and belongs to `pool`.
    pub(crate) fn candidate(&self, pool: Pool, index: u32) -> Option<Candidate> {
        let block = &self.blocks[index as usize];
        let eligible = block.usage == Use::Closed && self.pool_of(index) == pool;
        eligible.then(|| Candidate {
            index,
            valid_units: block.valid_units,
            age: self.closed - block.closed_at,
        })
    }

    pub(crate) fn candidates(&self, pool: Pool) -> impl Iterator<Item = Candidate> {
        (0..self.len()).filter_map(move |index| self.candidate(pool, index))
    }

    /// Whether both have as many superblocks of each kind.
    pub(crate) fn have_shape_of(&self, other: &Self) -> bool {
        self.main == other.main && self.blocks.len() == other.blocks.len()
    }

    /// Whether nothing has ever been written.
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
