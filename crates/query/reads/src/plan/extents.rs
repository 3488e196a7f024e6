//! From stretches to extents and their requests, by strategy.

use std::ops::Range;

use crate::costs::Prices;
use crate::{FileId, Want};

use super::cover::Cover;
use super::stretches::{Stretch, join};
use super::{Extent, Groups, PlanFile, Strategy};

/// What a window's wants are read as, with the memory in which it is found: windows are many, and their memory is used again.
#[derive(Default)]
pub(crate) struct WindowExtents {
    pub(crate) extents: Vec<Extent>,
    /// For each want of the window, in their order.
    pub(crate) of_wants: Vec<Option<u32>>,
    stretches: Vec<Stretch>,
    cover: Cover,
}

/// Blocks and groups are no longer: no file is.
const BLOCK_BYTES_MAX: u64 = 1 << 48;

pub(crate) struct Maker<'a> {
    pub(crate) files: &'a [PlanFile],
    pub(crate) prices: &'a Prices,
    pub(crate) strategy: Strategy,
}

impl Maker<'_> {
    /// Extents in order of place, but of one-by-one in that of the wants.
    pub(crate) fn make(&self, wants: &[Want], made: &mut WindowExtents) {
        made.extents.clear();
        made.stretches.clear();
        match self.strategy {
            Strategy::Flexible => self.flexible(wants, made),
            Strategy::FixedBlock { block_bytes: None } => self.wants_as_blocks(wants, made),
            Strategy::FixedBlock { block_bytes: Some(bytes) } => self.blocks(wants, bytes, made),
            Strategy::WholeGroup => self.groups(wants, made),
            Strategy::OneByOne { .. } => return self.one_by_one(wants, made),
        }
        self.find(wants, made);
    }

    /// As [`make`](Self::make), but nothing is read that isn't wanted, as far as the alignment allows.
    pub(crate) fn make_scarce(&self, wants: &[Want], made: &mut WindowExtents) {
        made.extents.clear();
        self.stretches(wants, &mut made.stretches);
        join(&mut made.stretches);
        self.each_stretch(made);
        self.find(wants, made);
    }

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

    /// Each stretch is an extent.
    fn each_stretch(&self, made: &mut WindowExtents) {
        let largest_bytes = self.prices.largest_bytes();
        made.extents.extend(made.stretches.iter().map(|stretch| self.extent(stretch, largest_bytes)));
    }

    /// The cheapest requests, file by file.
    fn flexible(&self, wants: &[Want], made: &mut WindowExtents) {
        self.stretches(wants, &mut made.stretches);
        join(&mut made.stretches);
        let last_file = made.stretches.last().map(|stretch| stretch.file);
        for of_file in made.stretches.chunk_by(|one, other| one.file == other.file) {
            let is_last_file = of_file.first().map(|stretch| stretch.file) == last_file;
            let mut first = 0;
            for &end in made.cover.cheapest(of_file, is_last_file, self.prices) {
                let members = of_file.get(first..end).unwrap_or_default();
                first = end;
                let whole = whole(members);
                made.extents.extend(whole.map(|stretch| self.extent(&stretch, self.prices.largest_bytes())));
            }
        }
        self.turn(&mut made.extents);
    }

    /// A request for each block; neighbouring ones lie together in memory.
    fn blocks(&self, wants: &[Want], block_bytes: u64, made: &mut WindowExtents) {
        let align_bytes = self.prices.align_bytes();
        let block_bytes = block_bytes.min(BLOCK_BYTES_MAX).next_multiple_of(align_bytes).max(align_bytes);
        let widened = wants.iter().filter_map(|want| {
            let file = self.file(want.file)?;
            let start = want.offset_bytes - want.offset_bytes % block_bytes;
            let end = want.end_bytes().next_multiple_of(block_bytes).min(file.readable_bytes);
            let (start_block, end_block) = (start / align_bytes, end.div_ceil(align_bytes));
            let stretch = Stretch { file: want.file, start_block, end_block, first_step: want.step };
            (want.offset_bytes < file.readable_bytes).then_some(stretch)
        });
        made.stretches.extend(widened);
        join(&mut made.stretches);
        made.extents.extend(made.stretches.iter().map(|stretch| Extent {
            request_bytes: block_bytes.min(self.prices.largest_bytes()),
            ..self.extent(stretch, block_bytes)
        }));
    }

    /// Each want is a block: as many requests as there are different ones. Wants that aren't aligned share logical blocks with their
    /// neighbours; such a chain lies together in memory, and is read in requests as long as its longest want, so that no block is read
    /// twice.
    fn wants_as_blocks(&self, wants: &[Want], made: &mut WindowExtents) {
        self.stretches(wants, &mut made.stretches);
        let stretches = &mut made.stretches;
        stretches.sort_unstable_by_key(|stretch| (stretch.file, stretch.start_block));
        let mut chains: Vec<Chain> = Vec::with_capacity(stretches.len());
        for &stretch in stretches.iter() {
            match chains.last_mut() {
                Some(last) if last.overlaps(&stretch) => last.add(&stretch),
                _ => chains.push(Chain { longest_blocks: stretch.end_block - stretch.start_block, stretch }),
            }
        }
        made.extents.extend(chains.iter().map(|Chain { stretch, longest_blocks }| {
            let block_bytes = longest_blocks * self.prices.align_bytes();
            Extent {
                request_bytes: block_bytes.min(self.prices.largest_bytes()),
                ..self.extent(stretch, block_bytes)
            }
        }));
    }

    fn groups(&self, wants: &[Want], made: &mut WindowExtents) {
        let align_bytes = self.prices.align_bytes();
        let widened = wants.iter().filter_map(|want| {
            let file = self.file(want.file)?;
            let Range { start, end } = group_of(want, file);
            let of_group = Want { offset_bytes: start, length_bytes: end - start, ..*want };
            Stretch::of(want, file, align_bytes).and(Stretch::of(&of_group, file, align_bytes))
        });
        made.stretches.extend(widened);
        join(&mut made.stretches);
        self.each_stretch(made);
    }

    fn one_by_one(&self, wants: &[Want], made: &mut WindowExtents) {
        let align_bytes = self.prices.align_bytes();
        let extents = &mut made.extents;
        made.of_wants.clear();
        made.of_wants.extend(wants.iter().map(|want| {
            let stretch = Stretch::of(want, self.file(want.file)?, align_bytes)?;
            extents.push(self.extent(&stretch, self.prices.largest_bytes()));
            u32::try_from(extents.len() - 1).ok()
        }));
    }

    fn extent(&self, stretch: &Stretch, first_request_bytes: u64) -> Extent {
        let align_bytes = self.prices.align_bytes();
        let offset_bytes = stretch.start_block * align_bytes;
        // The alignment is that of all files; this one may end at a smaller one.
        let Some(file) = self.file(stretch.file) else { unreachable!("stretches are of planned files") };
        let end_bytes = (stretch.end_block * align_bytes).min(file.readable_bytes);
        let length_bytes = end_bytes - offset_bytes;
        let is_last = end_bytes == file.readable_bytes;
        Extent {
            file: stretch.file,
            offset_bytes,
            length_bytes,
            tail_bytes: if is_last { file.length_bytes - file.readable_bytes } else { 0 },
            first_step: stretch.first_step,
            first_request_bytes: first_request_bytes.min(self.prices.largest_bytes()).min(length_bytes),
            request_bytes: self.prices.largest_bytes(),
            is_backward: false,
        }
    }

    /// Where reading ahead would cost more than it gives, extents are read from last to first. One that is all of its window goes on in the next.
    fn turn(&self, extents: &mut [Extent]) {
        if extents.len() > 1 {
            for extent in extents {
                extent.is_backward = self.prices.is_better_backward(extent.requests() as u64);
            }
        }
    }

    /// Finds the extent of each want, among extents in order of place that don't overlap.
    fn find(&self, wants: &[Want], made: &mut WindowExtents) {
        let extents = &made.extents;
        // Wants mostly come in order of place, so that the extent is that of the want before, or one soon behind it.
        let mut index = 0;
        let mut of_want = |want: &Want| {
            let file = self.file(want.file)?;
            if want.offset_bytes >= file.readable_bytes {
                return None;
            }
            let place = (want.file, want.offset_bytes);
            let is_before = |extent: &Extent| (extent.file, extent.offset_bytes) <= place;
            if extents.get(index).is_some_and(is_before) {
                while extents.get(index + 1).is_some_and(is_before) {
                    index += 1;
                }
            } else {
                index = extents.partition_point(is_before).checked_sub(1)?;
            }
            let extent = extents.get(index)?;
            let end_bytes = want.end_bytes().min(file.readable_bytes);
            assert!(
                extent.file == want.file && end_bytes <= extent.end_bytes(),
                "{want:?} lies in no extent of its window: {extent:?}"
            );
            u32::try_from(index).ok()
        };
        made.of_wants.clear();
        made.of_wants.extend(wants.iter().map(&mut of_want));
    }
}

/// Stretches of which each overlaps one before it.
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

/// From the first stretch to the last.
fn whole(stretches: &[Stretch]) -> Option<Stretch> {
    let (first, last) = stretches.first().zip(stretches.last())?;
    let first_step = stretches.iter().map(|stretch| stretch.first_step).min()?;
    Some(Stretch { end_block: last.end_block, first_step, ..*first })
}

/// The groups that a want touches, from the first one's start to the last one's end.
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
