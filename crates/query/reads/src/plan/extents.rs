//! Builds extents and their requests from stretches, by strategy.

use std::ops::Range;

use crate::costs::Prices;
use crate::{FileId, Want};

use super::cover::Cover;
use super::stretches::{Stretch, join};
use super::{Extent, Groups, PlanFile, Strategy, request_bytes};

/// Memory for the extents of a window, reused for each window.
#[derive(Default)]
pub(crate) struct Scratch {
    stretches: Vec<Stretch>,
    cover: Cover,
}

/// Limit on the length of blocks and groups, beyond any file.
const BLOCK_BYTES_MAX: u64 = 1 << 48;

/// Appends the extents of one window to those of earlier windows.
pub(crate) struct Maker<'a> {
    pub(crate) blocks: Blocks<'a>,
    pub(crate) strategy: Strategy,
    pub(crate) scratch: &'a mut Scratch,
    /// Extents of all windows so far. This window's begin at `first`.
    pub(crate) extents: &'a mut Vec<Extent>,
    pub(crate) first: usize,
    /// Extent of each want, for all windows so far.
    pub(crate) want_extents: &'a mut Vec<Option<u32>>,
}

impl Maker<'_> {
    /// Makes the extents, in order of offset; for [`Strategy::OneByOne`] in order of the wants.
    pub(crate) fn make(&mut self, wants: &[Want]) {
        self.scratch.stretches.clear();
        match self.strategy {
            Strategy::Flexible => self.flexible(wants),
            Strategy::FixedBlock { block_bytes: None } => self.wants_as_blocks(wants),
            Strategy::FixedBlock { block_bytes: Some(bytes) } => self.fixed_blocks(wants, bytes),
            Strategy::WholeGroup => self.groups(wants),
            Strategy::OneByOne { .. } => return self.one_by_one(wants),
        }
        self.find(wants);
    }

    /// As [`make`](Self::make), but without unwanted bytes beyond the alignment.
    pub(crate) fn make_scarce(&mut self, wants: &[Want]) {
        self.blocks.stretches(wants, &mut self.scratch.stretches);
        join(&mut self.scratch.stretches);
        self.each_stretch();
        self.find(wants);
    }

    /// Makes an extent of each stretch.
    fn each_stretch(&mut self) {
        let (blocks, largest_bytes) = (self.blocks, self.blocks.prices.largest_bytes());
        let of = |stretch: &Stretch| blocks.extent(stretch, largest_bytes);
        self.extents.extend(self.scratch.stretches.iter().map(of));
    }

    /// Makes the cheapest extents, file by file.
    fn flexible(&mut self, wants: &[Want]) {
        let (blocks, prices) = (self.blocks, self.blocks.prices);
        let Scratch { stretches, cover } = &mut *self.scratch;
        blocks.stretches(wants, stretches);
        join(stretches);
        let last_file = stretches.last().map(|stretch| stretch.file);
        for of_file in stretches.chunk_by(|one, other| one.file == other.file) {
            let is_last_file = of_file.first().map(|stretch| stretch.file) == last_file;
            let mut first = 0;
            for &end in cover.cheapest(of_file, is_last_file, prices) {
                let members = of_file.get(first..end).unwrap_or_default();
                first = end;
                let whole = whole(members);
                self.extents.extend(whole.map(|stretch| blocks.extent(&stretch, prices.largest_bytes())));
            }
        }
        self.turn();
    }

    /// Makes a request for each block; neighbouring blocks are contiguous in memory.
    fn fixed_blocks(&mut self, wants: &[Want], block_bytes: u64) {
        let blocks = self.blocks;
        let align_bytes = blocks.prices.align_bytes();
        let block_bytes = block_bytes.min(BLOCK_BYTES_MAX).next_multiple_of(align_bytes).max(align_bytes);
        let widened = wants.iter().filter_map(|want| {
            let file = blocks.file(want.file)?;
            let start = want.offset_bytes - want.offset_bytes % block_bytes;
            let end = want.end_bytes().next_multiple_of(block_bytes).min(file.readable_bytes);
            let (start_block, end_block) = (start / align_bytes, end.div_ceil(align_bytes));
            let stretch = Stretch { file: want.file, start_block, end_block, first_step: want.step };
            (want.offset_bytes < file.readable_bytes).then_some(stretch)
        });
        let stretches = &mut self.scratch.stretches;
        stretches.extend(widened);
        join(stretches);
        self.extents.extend(stretches.iter().map(|stretch| blocks.extent(stretch, block_bytes)));
    }

    /// Treats each distinct want as a block. Unaligned wants share logical blocks with their
    /// neighbours. Such a chain is contiguous in memory and read in requests as long as its longest
    /// want, so that no block is read twice.
    fn wants_as_blocks(&mut self, wants: &[Want]) {
        let blocks = self.blocks;
        let stretches = &mut self.scratch.stretches;
        blocks.stretches(wants, stretches);
        stretches.sort_unstable_by_key(|stretch| (stretch.file, stretch.start_block));
        let mut chains: Vec<Chain> = Vec::with_capacity(stretches.len());
        for &stretch in stretches.iter() {
            match chains.last_mut() {
                Some(last) if last.overlaps(&stretch) => last.add(&stretch),
                _ => chains.push(Chain { longest_blocks: stretch.end_block - stretch.start_block, stretch }),
            }
        }
        self.extents.extend(chains.iter().map(|Chain { stretch, longest_blocks }| {
            blocks.extent(stretch, longest_blocks * blocks.prices.align_bytes())
        }));
    }

    fn groups(&mut self, wants: &[Want]) {
        let blocks = self.blocks;
        let align_bytes = blocks.prices.align_bytes();
        let widened = wants.iter().filter_map(|want| {
            let file = blocks.file(want.file)?;
            let Range { start, end } = group_of(want, file);
            let of_group = Want { offset_bytes: start, length_bytes: end - start, ..*want };
            Stretch::of(want, file, align_bytes).and(Stretch::of(&of_group, file, align_bytes))
        });
        self.scratch.stretches.extend(widened);
        join(&mut self.scratch.stretches);
        self.each_stretch();
    }

    fn one_by_one(&mut self, wants: &[Want]) {
        let (blocks, extents) = (self.blocks, &mut *self.extents);
        let align_bytes = blocks.prices.align_bytes();
        self.want_extents.extend(wants.iter().map(|want| {
            let stretch = Stretch::of(want, blocks.file(want.file)?, align_bytes)?;
            extents.push(blocks.extent(&stretch, blocks.prices.largest_bytes()));
            u32::try_from(extents.len() - 1).ok()
        }));
    }

    /// Marks extents to be read backwards where read-ahead costs more than it gains. An extent that
    /// is all of its window continues in the next one, so it stays forward.
    fn turn(&mut self) {
        let prices = self.blocks.prices;
        let made = self.extents.get_mut(self.first..).unwrap_or_default();
        if made.len() > 1 && prices.reads_ahead() {
            for extent in made {
                extent.is_backward = prices.is_better_backward(extent.requests() as u64);
            }
        }
    }

    /// Finds the extent of each want among disjoint extents in order of offset.
    fn find(&mut self, wants: &[Want]) {
        let made = self.extents.get(self.first..).unwrap_or_default();
        let (blocks, first) = (self.blocks, self.first);
        // Wants mostly come in order of offset: search from the extent of the last want.
        let mut index = 0;
        let of_want = |want: &Want| {
            let file = blocks.file(want.file)?;
            if want.offset_bytes >= file.readable_bytes {
                return None;
            }
            let place = (want.file, want.offset_bytes);
            let is_before = |extent: &Extent| (extent.file, extent.offset_bytes) <= place;
            if made.get(index).is_some_and(is_before) {
                while made.get(index + 1).is_some_and(is_before) {
                    index += 1;
                }
            } else {
                index = made.partition_point(is_before).checked_sub(1)?;
            }
            let extent = made.get(index)?;
            let end_bytes = want.end_bytes().min(file.readable_bytes);
            assert!(
                extent.file == want.file && end_bytes <= extent.end_bytes(),
                "{want:?} lies in no extent of its window: {extent:?}"
            );
            u32::try_from(first + index).ok()
        };
        self.want_extents.extend(wants.iter().map(of_want));
    }
}

/// Converts wants and stretches to whole blocks.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    pub(crate) files: &'a [PlanFile],
    pub(crate) prices: &'a Prices,
}

impl Blocks<'_> {
    fn file(&self, file: FileId) -> Option<&PlanFile> {
        self.files.get(file.0 as usize)
    }

    fn stretches(&self, wants: &[Want], stretches: &mut Vec<Stretch>) {
        let align_bytes = self.prices.align_bytes();
        stretches.clear();
        stretches.reserve(wants.len());
        let of = |want: &Want| Stretch::of(want, self.file(want.file)?, align_bytes);
        stretches.extend(wants.iter().filter_map(of));
    }

    /// Returns the extent of a stretch, in requests of at most `of_request_bytes`.
    fn extent(&self, stretch: &Stretch, of_request_bytes: u64) -> Extent {
        let align_bytes = self.prices.align_bytes();
        let offset_bytes = stretch.start_block * align_bytes;
        // `align_bytes` is common to all files; this file may end at a smaller alignment.
        let Some(file) = self.file(stretch.file) else { unreachable!("stretches are of planned files") };
        let end_bytes = (stretch.end_block * align_bytes).min(file.readable_bytes);
        Extent {
            offset_bytes,
            length_bytes: end_bytes - offset_bytes,
            file: stretch.file,
            first_step: stretch.first_step,
            request_bytes: request_bytes(of_request_bytes.min(self.prices.largest_bytes())),
            is_backward: false,
        }
    }
}

/// Stretches that each overlap an earlier one.
struct Chain {
    stretch: Stretch,
    longest_blocks: u64,
}

impl Chain {
    fn overlaps(&self, next: &Stretch) -> bool {
        self.stretch.file == next.file && next.start_block < self.stretch.end_block
    }

    fn add(&mut self, next: &Stretch) {
        self.stretch.end_block = self.stretch.end_block.max(next.end_block);
        self.stretch.first_step = self.stretch.first_step.min(next.first_step);
        self.longest_blocks = self.longest_blocks.max(next.end_block - next.start_block);
    }
}

/// Returns the stretch from the first to the last of `stretches`.
fn whole(stretches: &[Stretch]) -> Option<Stretch> {
    let (first, last) = stretches.first().zip(stretches.last())?;
    if stretches.len() == 1 {
        return Some(*first);
    }
    let first_step = stretches.iter().map(|stretch| stretch.first_step).min()?;
    Some(Stretch { end_block: last.end_block, first_step, ..*first })
}

/// Returns the byte range of all groups that a want touches.
fn group_of(want: &Want, file: &PlanFile) -> Range<u64> {
    let own = want.offset_bytes..want.end_bytes();
    match &file.groups {
        Groups::Unknown => own,
        Groups::Every(bytes) => {
            let bytes = (*bytes).clamp(1, BLOCK_BYTES_MAX);
            own.start - own.start % bytes..own.end.next_multiple_of(bytes).min(file.length_bytes)
        }
        Groups::Listed(groups) => {
            let touching = |group: &&Range<u64>| group.start < own.end && group.end > own.start;
            let from = groups.partition_point(|group| group.end <= own.start);
            let touched = || groups.iter().skip(from).take_while(touching);
            let start = touched().next().map_or(own.start, |group| group.start.min(own.start));
            let end = touched().last().map_or(own.end, |group| group.end.max(own.end));
            start..end.min(file.length_bytes)
        }
    }
}
