use crate::{FileId, Want};

use super::PlanFile;

/// Contiguous wanted blocks of a file, rounded outwards and limited to the readable part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) file: FileId,
    pub(crate) start_block: u64,
    pub(crate) end_block: u64,
    pub(crate) first_step: u32,
}

impl Stretch {
    /// Returns the blocks that a want touches, or `None` if it lies behind the readable part.
    pub(crate) fn of(want: &Want, file: &PlanFile, align_bytes: u64) -> Option<Self> {
        let end_bytes = want.end_bytes().min(file.readable_bytes);
        // `align_bytes` is a power of two.
        let shift = align_bytes.trailing_zeros();
        let (start_block, end_block) = (want.offset_bytes >> shift, (end_bytes + (align_bytes - 1)) >> shift);
        let stretch = Self { file: want.file, start_block, end_block, first_step: want.step };
        (want.offset_bytes < file.readable_bytes).then_some(stretch)
    }
}

/// Sorts stretches by offset and joins those that touch or overlap.
pub(crate) fn join(stretches: &mut Vec<Stretch>) {
    let place = |stretch: &Stretch| (stretch.file, stretch.start_block);
    if !stretches.is_sorted_by_key(place) {
        stretches.sort_unstable_by_key(place);
    }
    stretches.dedup_by(|next, last| {
        let touches = next.file == last.file && next.start_block <= last.end_block;
        if touches {
            last.end_block = last.end_block.max(next.end_block);
            last.first_step = last.first_step.min(next.first_step);
        }
        touches
    });
}
