//! Indexes over sets of numbers.

mod runs;

pub(crate) use runs::{Run, Runs};

/// Reference implementation that scans all numbers.
#[cfg(test)]
pub(crate) mod naive {
    use std::collections::BTreeSet;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::Run;

    /// Random changes: true for an addition, the number, and the resulting set.
    pub(crate) fn changes(seed: u64, below: u64) -> impl Iterator<Item = (bool, u64, BTreeSet<u64>)> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut numbers = BTreeSet::new();
        (0..300).map(move |_| {
            let number = random.random_range(0..below);
            let added = numbers.insert(number);
            if !added {
                numbers.remove(&number);
            }
            (added, number, numbers.clone())
        })
    }

    pub(crate) fn runs(numbers: &BTreeSet<u64>) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for &number in numbers {
            match runs.last_mut() {
                Some(run) if run.end() == number => run.length += 1,
                _ => runs.push(Run { length: 1, start: number }),
            }
        }
        runs
    }
}
