use std::collections::BinaryHeap;

/// Consecutive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Run {
    pub(crate) length: u64,
    pub(crate) start: u64,
}

impl Run {
    pub(crate) fn end(self) -> u64 {
        self.start + self.length
    }
}

/// Set of numbers below a limit, stored as maximal runs that can be found by place and by length.
///
/// Uses tables indexed by number, and a heap of lengths whose outdated entries are dropped at the
/// top. A change takes a few memory accesses, however many runs there are.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    /// Length of the run that starts at each number, or 0.
    from: Vec<u32>,
    /// Length of the run that ends at each number, or 0.
    to: Vec<u32>,
    /// Bitmap of the starts of runs.
    starts: Vec<u64>,
    /// All current runs, and outdated ones.
    by_length: BinaryHeap<Run>,
    count: usize,
    numbers: u64,
}

impl Runs {
    /// Empty set for numbers below `limit`.
    pub(crate) fn none_below(limit: u64) -> Self {
        let limit = place(limit);
        let (from, to) = (vec![0; limit], vec![0; limit]);
        let starts = vec![0; limit.div_ceil(64)];
        Self { from, to, starts, by_length: BinaryHeap::new(), count: 0, numbers: 0 }
    }

    /// Count of numbers.
    pub(crate) fn len(&self) -> u64 {
        self.numbers
    }

    /// Longest run; of equal ones the last.
    pub(crate) fn longest(&mut self) -> Option<Run> {
        while let Some(run) = self.by_length.peek().copied() {
            if self.beginning_at(run.start) == Some(run) {
                return Some(run);
            }
            self.by_length.pop();
        }
        None
    }

    /// Run that contains a number.
    pub(crate) fn containing(&self, number: u64) -> Option<Run> {
        let mut word = place(number / 64);
        let mut bits = self.starts.get(word)? & u64::MAX >> (63 - number % 64);
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = *self.starts.get(word)?;
        }
        let start = word as u64 * 64 + u64::from(bits.ilog2());
        self.beginning_at(start).filter(|run| number < run.end())
    }

    /// Adds numbers, none of which may be present.
    pub(crate) fn add(&mut self, added: Run) {
        debug_assert!(
            added.length > 0 && added.end() <= self.from.len() as u64,
            "{added:?} of {}",
            self.from.len()
        );
        debug_assert_eq!(self.containing(added.start), None, "{added:?} is there already");
        self.numbers += added.length;
        let mut joined = added;
        if let Some(before) = added.start.checked_sub(1).and_then(|last| self.ending_at(last)) {
            self.forget(before);
            joined = Run { start: before.start, length: before.length + joined.length };
        }
        if let Some(behind) = self.beginning_at(added.end()) {
            self.forget(behind);
            joined.length += behind.length;
        }
        self.keep(joined);
    }

    /// Removes numbers, all of which must be present.
    pub(crate) fn remove(&mut self, removed: Run) {
        let Some(run) = self.containing(removed.start) else {
            debug_assert!(false, "{removed:?} isn't there");
            return;
        };
        debug_assert!(removed.end() <= run.end(), "{removed:?} isn't all there: {run:?} is");
        self.numbers -= removed.length;
        self.forget(run);
        self.keep(Run { start: run.start, length: removed.start - run.start });
        self.keep(Run { start: removed.end(), length: run.end().saturating_sub(removed.end()) });
    }

    fn beginning_at(&self, start: u64) -> Option<Run> {
        let length = self.from.get(place(start)).copied().filter(|length| *length > 0)?;
        Some(Run { length: u64::from(length), start })
    }

    fn ending_at(&self, last: u64) -> Option<Run> {
        let length = u64::from(self.to.get(place(last)).copied().filter(|length| *length > 0)?);
        Some(Run { length, start: last + 1 - length })
    }

    fn keep(&mut self, run: Run) {
        if run.length == 0 {
            return;
        }
        self.count += 1;
        self.mark(run, run.length);
        self.by_length.push(run);
        if self.by_length.len() > 64 + 4 * self.count {
            let known = self.by_length.drain().collect::<Vec<_>>();
            let alive = known.into_iter().filter(|run| self.beginning_at(run.start) == Some(*run));
            let mut alive: Vec<_> = alive.collect();
            alive.sort_unstable();
            alive.dedup();
            self.by_length = alive.into();
        }
    }

    fn forget(&mut self, run: Run) {
        debug_assert_eq!(self.beginning_at(run.start), Some(run), "a run is forgotten as it was kept");
        self.count -= 1;
        self.mark(run, 0);
    }

    /// Stores the length of a run at both of its ends.
    fn mark(&mut self, run: Run, length: u64) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.from.get_mut(place(run.start)).into_iter().for_each(|entry| *entry = length);
        self.to.get_mut(place(run.end() - 1)).into_iter().for_each(|entry| *entry = length);
        let bit = 1 << (run.start % 64);
        if let Some(word) = self.starts.get_mut(place(run.start / 64)) {
            *word = if length > 0 { *word | bit } else { *word & !bit };
        }
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::naive::{self, changes};

    #[test]
    fn the_same_as_counted_from_scratch() {
        for seed in 0..20 {
            let mut runs = Runs::none_below(200);
            for (added, number, numbers) in changes(seed, 200) {
                let one = Run { length: 1, start: number };
                if added {
                    runs.add(one);
                } else {
                    runs.remove(one);
                }
                let expected = naive::runs(&numbers);
                assert_eq!(runs.longest(), expected.iter().max().copied(), "seed {seed}");
                for number in 0..200 {
                    let within = expected.iter().find(|run| (run.start..run.end()).contains(&number));
                    assert_eq!(runs.containing(number), within.copied(), "seed {seed}: {number}");
                }
                assert_eq!(runs.count, expected.len(), "seed {seed}");
                assert_eq!(runs.len(), numbers.len() as u64);
            }
        }
    }

    #[test]
    fn whole_ranges_come_and_go() {
        let mut runs = Runs::none_below(100);
        runs.add(Run { start: 0, length: 100 });
        runs.remove(Run { start: 10, length: 20 });
        runs.remove(Run { start: 99, length: 1 });
        assert_eq!(runs.longest(), Some(Run { start: 30, length: 69 }));
        runs.add(Run { start: 10, length: 20 });
        assert_eq!((runs.longest(), runs.len()), (Some(Run { start: 0, length: 99 }), 99));
    }
}
