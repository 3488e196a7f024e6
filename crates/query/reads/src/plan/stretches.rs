use crate::{FileId, Want};

use super::PlanFile;

/// Blocks of a file that are wanted, without a gap: rounded outwards, and at most up to what can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) file: FileId,
    pub(crate) start_block: u64,
    pub(crate) end_block: u64,
    pub(crate) first_step: u32,
}

impl Stretch {
    /// The blocks that a want touches; none of one that lies behind what can be read.
    pub(crate) fn of(want: &Want, file: &PlanFile, align_bytes: u64) -> Option<Self> {
        let end_bytes = want.end_bytes().min(file.readable_bytes);
        // A power of two.
        let shift = align_bytes.trailing_zeros();
        let (start_block, end_block) = (want.offset_bytes >> shift, (end_bytes + (align_bytes - 1)) >> shift);
        let stretch = Self { file: want.file, start_block, end_block, first_step: want.step };
        (want.offset_bytes < file.readable_bytes).then_some(stretch)
    }
}

/// Sorts stretches by place and joins those that touch or overlap.
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
