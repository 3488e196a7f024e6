use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// How many numbers are in each bucket of the same width, and which two buckets side by side have the most.
#[derive(Debug, Clone)]
pub(crate) struct Clusters {
    width: u64,
    counts: FxHashMap<u64, u64>,
    /// Numbers in a bucket and its right neighbour, and the bucket.
    pairs: BTreeSet<(u64, u64)>,
}

impl Clusters {
    pub(crate) fn new(width: u64) -> Self {
        Self { width: width.max(1), counts: FxHashMap::default(), pairs: BTreeSet::new() }
    }

    /// The most numbers in two buckets side by side, and where they start and end.
    pub(crate) fn largest(&self) -> Option<(u64, u64, u64)> {
        let (count, left) = *self.pairs.last()?;
        Some((count, left * self.width, (left + 2) * self.width))
    }

    pub(crate) fn add(&mut self, number: u64) {
        let bucket = number / self.width;
        self.change(bucket, |count| count + 1);
    }

    pub(crate) fn remove(&mut self, number: u64) {
        let bucket = number / self.width;
        self.change(bucket, |count| count.saturating_sub(1));
    }

    fn count(&self, bucket: u64) -> u64 {
        self.counts.get(&bucket).copied().unwrap_or(0)
    }

    fn change(&mut self, bucket: u64, new: impl Fn(u64) -> u64) {
        let (old_count, new_count) = (self.count(bucket), new(self.count(bucket)));
        let lefts = [bucket.checked_sub(1), Some(bucket)];
        for left in lefts.into_iter().flatten() {
            let other = if left == bucket { self.count(bucket + 1) } else { self.count(left) };
            self.pairs.remove(&(old_count + other, left));
            if new_count + other > 0 {
                self.pairs.insert((new_count + other, left));
            }
        }
        match new_count {
            0 => self.counts.remove(&bucket),
            _ => self.counts.insert(bucket, new_count),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::naive::changes;

    #[test]
    fn the_same_as_counted_from_scratch() {
        for seed in 0..20 {
            let mut clusters = Clusters::new(10);
            for (added, number, numbers) in changes(seed, 100) {
                if added {
                    clusters.add(number)
                } else {
                    clusters.remove(number)
                }
                let counts = (0..10).map(|left| numbers.range(left * 10..(left + 2) * 10).count() as u64);
                let most = counts.max().filter(|count| *count > 0);
                assert_eq!(clusters.largest().map(|(count, _, _)| count), most);
                if let Some((count, start, end)) = clusters.largest() {
                    assert_eq!(numbers.range(start..end).count() as u64, count);
                }
            }
        }
    }
}
