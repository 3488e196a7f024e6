//! Idle gaps in order of time, in blocks. Each block stores the length of its longest gap, so a
//! search passes over blocks whose gaps are all too short.

use std::collections::VecDeque;

/// Capacity of a block; a larger one is split.
const BLOCK_GAPS: usize = 16;

/// Idle time between two reservations; never empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
}

impl Gap {
    fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// Consecutive gaps, at least one.
#[derive(Debug, Clone)]
struct Block {
    /// Upper bound of the gaps' lengths.
    longest_ns: u64,
    end_ns: u64,
    gaps: Vec<Gap>,
}

impl Block {
    fn of(gaps: Vec<Gap>) -> Self {
        let longest_ns = gaps.iter().map(Gap::length_ns).max().unwrap_or(0);
        let end_ns = gaps.last().map_or(0, |gap| gap.end_ns);
        Self { longest_ns, end_ns, gaps }
    }

    /// Index of the first gap with `duration_ns` left from `earliest_ns` on.
    fn find(&mut self, earliest_ns: u64, duration_ns: u64) -> Option<usize> {
        let mut longest_ns = 0;
        for (index, gap) in self.gaps.iter().enumerate() {
            if gap.start_ns.max(earliest_ns) + duration_ns <= gap.end_ns {
                return Some(index);
            }
            longest_ns = longest_ns.max(gap.length_ns());
        }
        self.longest_ns = longest_ns;
        None
    }

    /// Reserves `duration_ns` in the first fitting gap. Each remainder becomes a gap of its own,
    /// unless it is shorter than `least_ns`.
    fn take(&mut self, earliest_ns: u64, duration_ns: u64, least_ns: u64) -> Option<u64> {
        let index = self.find(earliest_ns, duration_ns)?;
        let gap = self.gaps.get_mut(index)?;
        let start_ns = gap.start_ns.max(earliest_ns);
        let before = Gap { start_ns: gap.start_ns, end_ns: start_ns };
        gap.start_ns = start_ns + duration_ns;
        match (before.length_ns() >= least_ns, gap.length_ns() >= least_ns) {
            (true, false) => *gap = before,
            (true, true) => self.gaps.insert(index, before),
            (false, false) => drop(self.gaps.remove(index)),
            (false, true) => {}
        }
        Some(start_ns)
    }
}

/// Gaps of one resource.
#[derive(Debug, Clone)]
pub(super) struct Gaps {
    /// Upper bounds of the gaps' ends and lengths: most searches fail on these alone.
    latest_end_ns: u64,
    longest_ns: u64,
    /// Shorter gaps are not stored.
    least_ns: u64,
    blocks: VecDeque<Block>,
    /// Block where the last search started; the next one starts near it.
    near: usize,
}

impl Gaps {
    /// No gaps yet, for a resource whose reservations last at least `least_ns`.
    pub(super) fn of_at_least(least_ns: u64) -> Self {
        Self { latest_end_ns: 0, longest_ns: 0, least_ns: least_ns.max(1), blocks: VecDeque::new(), near: 0 }
    }

    /// Adds a gap later than all others. Gaps that end by `past_ns` may be dropped.
    #[inline]
    pub(super) fn push(&mut self, gap: Gap, past_ns: u64) {
        debug_assert!(
            gap.start_ns < gap.end_ns && self.latest_end_ns <= gap.start_ns,
            "{gap:?} is out of order"
        );
        if gap.length_ns() < self.least_ns {
            return;
        }
        self.latest_end_ns = gap.end_ns;
        self.longest_ns = self.longest_ns.max(gap.length_ns());
        match self.blocks.back_mut().filter(|last| last.gaps.len() < BLOCK_GAPS) {
            Some(last) => {
                last.longest_ns = last.longest_ns.max(gap.length_ns());
                last.end_ns = gap.end_ns;
                last.gaps.push(gap);
            }
            None => self.begin_block(gap, past_ns),
        }
    }

    /// Reserves `duration_ns` in the first fitting gap; returns the start.
    #[inline]
    pub(super) fn take(&mut self, earliest_ns: u64, duration_ns: u64) -> Option<u64> {
        if earliest_ns + duration_ns > self.latest_end_ns || duration_ns > self.longest_ns {
            return None;
        }
        let first = self.first_that_ends_from(earliest_ns + duration_ns);
        self.near = first;
        let least_ns = self.least_ns;
        let long_enough = |(_, block): &(usize, &mut Block)| block.longest_ns >= duration_ns;
        let (index, start_ns) = (first..)
            .zip(self.blocks.range_mut(first..))
            .filter(long_enough)
            .find_map(|(index, block)| Some((index, block.take(earliest_ns, duration_ns, least_ns)?)))?;
        self.tidy(index);
        Some(start_ns)
    }

    /// First block that ends at `time_ns` or later.
    fn first_that_ends_from(&self, time_ns: u64) -> usize {
        let ends_early = |index: usize| self.blocks.get(index).is_some_and(|block| block.end_ns < time_ns);
        let is_first = |index: usize| (index == 0 || ends_early(index - 1)) && !ends_early(index);
        let near = self.near.min(self.blocks.len());
        if let Some(index) = [near, near + 1].into_iter().find(|index| is_first(*index)) {
            return index;
        }
        self.blocks.partition_point(|block| block.end_ns < time_ns)
    }

    /// Starts a new block. Drops the oldest blocks whose gaps have all passed.
    #[cold]
    fn begin_block(&mut self, gap: Gap, past_ns: u64) {
        let oldest = self.blocks.pop_front().filter(|block| block.end_ns > past_ns);
        while oldest.is_none() && self.blocks.front().is_some_and(|block| block.end_ns <= past_ns) {
            self.blocks.pop_front();
        }
        if let Some(oldest) = oldest {
            self.blocks.push_front(oldest);
        }
        let mut gaps = Vec::with_capacity(BLOCK_GAPS + 1);
        gaps.push(gap);
        self.blocks.push_back(Block::of(gaps));
        self.longest_ns = self.blocks.iter().map(|block| block.longest_ns).max().unwrap_or(0);
    }

    /// Removes an empty block; splits an oversized one.
    fn tidy(&mut self, index: usize) {
        let Some(block) = self.blocks.get_mut(index) else { return };
        if block.gaps.is_empty() {
            self.blocks.remove(index);
        } else if block.gaps.len() > BLOCK_GAPS {
            let upper = block.gaps.split_off(BLOCK_GAPS / 2);
            *block = Block::of(std::mem::take(&mut block.gaps));
            self.blocks.insert(index + 1, Block::of(upper));
        }
    }

    /// Number of gaps.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.gaps.len()).sum()
    }
}
