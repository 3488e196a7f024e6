use std::collections::{BTreeMap, BTreeSet};

/// Numbers with the same distance from each to the next that is in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stretch {
    /// How many distances there are: one less than numbers.
    pub(crate) steps: u64,
    pub(crate) start: u64,
    pub(crate) distance: u64,
}

impl Stretch {
    fn end(self) -> u64 {
        self.start + self.steps * self.distance
    }

    /// Its numbers, in ascending order.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u64> {
        (0..=self.steps).map(move |step| self.start + step * self.distance)
    }
}

/// The distances in a sorted set, cut where they change. A stretch begins with the number that ends the one before it.
/// Whoever changes the set names the neighbours.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stretches {
    by_start: BTreeMap<u64, Stretch>,
    by_steps: BTreeSet<Stretch>,
}

impl Stretches {
    /// The stretch with the most numbers.
    pub(crate) fn longest(&self) -> Option<Stretch> {
        self.by_steps.last().copied()
    }

    /// A number came between its neighbours.
    pub(crate) fn add(&mut self, before: Option<u64>, number: u64, after: Option<u64>) {
        if let (Some(before), Some(after)) = (before, after) {
            self.cut(before, after);
        }
        if let Some(before) = before {
            self.join(before, number);
        }
        if let Some(after) = after {
            self.join(number, after);
        }
    }

    /// A number went from between its neighbours.
    pub(crate) fn remove(&mut self, before: Option<u64>, number: u64, after: Option<u64>) {
        if let Some(before) = before {
            self.cut(before, number);
        }
        if let Some(after) = after {
            self.cut(number, after);
        }
        if let (Some(before), Some(after)) = (before, after) {
            self.join(before, after);
        }
    }

    /// Takes the distance between two neighbours out.
    fn cut(&mut self, before: u64, after: u64) {
        let Some((_, &stretch)) = self.by_start.range(..=before).next_back() else { return };
        self.forget(stretch);
        let left = (before - stretch.start) / stretch.distance;
        self.keep(Stretch { steps: left, ..stretch });
        self.keep(Stretch { steps: stretch.steps - left - 1, start: after, ..stretch });
    }

    /// Puts the distance between two neighbours in.
    fn join(&mut self, before: u64, after: u64) {
        let mut joined = Stretch { steps: 1, start: before, distance: after - before };
        let left = self.by_start.range(..before).next_back().map(|(_, stretch)| *stretch);
        if let Some(left) = left.filter(|left| left.end() == before && left.distance == joined.distance) {
            self.forget(left);
            joined = Stretch { steps: left.steps + 1, ..left };
        }
        let right = self.by_start.get(&after).copied();
        if let Some(right) = right.filter(|right| right.distance == joined.distance) {
            self.forget(right);
            joined.steps += right.steps;
        }
        self.keep(joined);
    }

    fn keep(&mut self, stretch: Stretch) {
        if stretch.steps > 0 {
            self.by_start.insert(stretch.start, stretch);
            self.by_steps.insert(stretch);
        }
    }

    fn forget(&mut self, stretch: Stretch) {
        self.by_start.remove(&stretch.start);
        self.by_steps.remove(&stretch);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::index::naive::changes;

    fn naive(numbers: &BTreeSet<u64>) -> Vec<Stretch> {
        let numbers: Vec<u64> = numbers.iter().copied().collect();
        let mut stretches: Vec<Stretch> = Vec::new();
        for pair in numbers.windows(2) {
            let distance = pair[1] - pair[0];
            match stretches.last_mut() {
                Some(last) if last.distance == distance => last.steps += 1,
                _ => stretches.push(Stretch { steps: 1, start: pair[0], distance }),
            }
        }
        stretches
    }

    #[test]
    fn the_same_as_counted_from_scratch() {
        for seed in 0..30 {
            let mut stretches = Stretches::default();
            for (added, number, numbers) in changes(seed, 30) {
                let before = numbers.range(..number).next_back().copied();
                let after = numbers.range(number + 1..).next().copied();
                if added {
                    stretches.add(before, number, after);
                } else {
                    stretches.remove(before, number, after);
                }
                let found: Vec<Stretch> = stretches.by_start.values().copied().collect();
                assert_eq!(found, naive(&numbers), "seed {seed}");
                assert_eq!(stretches.longest(), found.into_iter().max());
            }
        }
    }
}
