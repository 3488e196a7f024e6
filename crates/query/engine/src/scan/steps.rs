//! Wants of a partition's pieces, in steps that fit the memory.

use std::ops::Range;

use nandle_reads::{FileId, Want};

use super::pieces::Piece;

/// Wants of consecutive pieces.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    pub(crate) wants: Vec<Want>,
    /// Steps of each piece.
    pub(crate) of_piece: Vec<Range<u32>>,
}

impl Steps {
    /// Creates the steps. Each belongs to one piece and wants at most `step_bytes`, so that several
    /// steps fit in memory; longer ranges are split.
    pub(crate) fn new(pieces: &[Piece], step_bytes: u64) -> Self {
        let mut steps = Self::default();
        let mut next = 0;
        for piece in pieces {
            let (first, mut in_step) = (next, 0);
            for range in &piece.ranges {
                for part in cut(range.clone(), step_bytes) {
                    let length_bytes = part.end - part.start;
                    let opens = next == first || in_step + length_bytes > step_bytes;
                    if opens {
                        next += 1;
                        in_step = 0;
                    }
                    in_step += length_bytes;
                    let file = FileId(u32::try_from(piece.number).unwrap_or(u32::MAX));
                    steps.wants.push(Want { file, offset_bytes: part.start, length_bytes, step: next - 1 });
                }
            }
            steps.of_piece.push(first..next);
        }
        steps
    }
}

/// Splits a range at multiples of `part_bytes`.
fn cut(range: Range<u64>, part_bytes: u64) -> impl Iterator<Item = Range<u64>> {
    let part_bytes = part_bytes.max(1);
    let mut start = range.start;
    std::iter::from_fn(move || {
        let end = ((start / part_bytes + 1) * part_bytes).min(range.end);
        let whole = if range.end - start <= part_bytes { range.end } else { end };
        let part = (start < range.end).then_some(start..whole);
        start = whole;
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_stretches_are_cut_at_multiples() {
        let parts = |range, bytes| cut(range, bytes).map(|part| (part.start, part.end)).collect::<Vec<_>>();
        assert_eq!(parts(5..35, 10), [(5, 10), (10, 20), (20, 30), (30, 35)]);
        assert_eq!(parts(5..15, 10), [(5, 15)], "what fits stays whole");
        assert_eq!(parts(7..7, 10), []);
    }
}
