use std::collections::{BTreeMap, BTreeSet};

/// Numbers that follow one another.
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

/// A set of numbers as its longest possible runs, by place and by length. Every change costs a handful of steps in
/// trees, however many numbers there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs {
    by_start: BTreeMap<u64, u64>,
    by_length: BTreeSet<Run>,
    numbers: u64,
}

impl Runs {
    /// How many numbers there are.
    pub(crate) fn len(&self) -> u64 {
        self.numbers
    }

    /// The longest run; of equal ones that with the greatest numbers.
    pub(crate) fn longest(&self) -> Option<Run> {
        self.by_length.last().copied()
    }

    /// The run that a number is in.
    pub(crate) fn containing(&self, number: u64) -> Option<Run> {
        let (&start, &length) = self.by_start.range(..=number).next_back()?;
        (number < start + length).then_some(Run { length, start })
    }

    /// Adds numbers, none of which is there.
    pub(crate) fn add(&mut self, added: Run) {
        self.numbers += added.length;
        let mut joined = added;
        if let Some(before) = added.start.checked_sub(1).and_then(|number| self.containing(number)) {
            self.forget(before);
            joined = Run { start: before.start, length: before.length + joined.length };
        }
        if let Some(&length) = self.by_start.get(&added.end()) {
            self.forget(Run { length, start: added.end() });
            joined.length += length;
        }
        self.keep(joined);
    }

    /// Takes numbers away, all of which are there.
    pub(crate) fn remove(&mut self, removed: Run) {
        let Some(run) = self.containing(removed.start) else { return };
        self.numbers -= removed.length;
        self.forget(run);
        self.keep(Run { start: run.start, length: removed.start - run.start });
        self.keep(Run { start: removed.end(), length: run.end().saturating_sub(removed.end()) });
    }

    fn keep(&mut self, run: Run) {
        if run.length > 0 {
            self.by_start.insert(run.start, run.length);
            self.by_length.insert(run);
        }
    }

    fn forget(&mut self, run: Run) {
        self.by_start.remove(&run.start);
        self.by_length.remove(&run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::naive::{self, changes};

    #[test]
    fn the_same_as_counted_from_scratch() {
        for seed in 0..20 {
            let mut runs = Runs::default();
            for (added, number, numbers) in changes(seed, 40) {
                let one = Run { length: 1, start: number };
                if added {
                    runs.add(one);
                } else {
                    runs.remove(one);
                }
                let mut found: Vec<Run> = runs.by_length.iter().copied().collect();
                assert_eq!(runs.longest(), found.last().copied(), "seed {seed}");
                found.sort_unstable_by_key(|run| run.start);
                assert_eq!(found, naive::runs(&numbers), "seed {seed}");
                assert_eq!(runs.containing(number).is_some(), added);
                assert_eq!(runs.len(), numbers.len() as u64);
            }
        }
    }

    #[test]
    fn whole_ranges_come_and_go() {
        let mut runs = Runs::default();
        runs.add(Run { start: 0, length: 100 });
        runs.remove(Run { start: 10, length: 20 });
        runs.remove(Run { start: 99, length: 1 });
        assert_eq!(runs.longest(), Some(Run { start: 30, length: 69 }));
        runs.add(Run { start: 10, length: 20 });
        assert_eq!((runs.longest(), runs.len()), (Some(Run { start: 0, length: 99 }), 99));
    }
}
