//! Keys and how often each came: a hash table with open addressing, which is used again for one partition after the other.

use std::collections::HashMap;

use super::KeySpace;

/// 2⁶⁴ divided by the golden ratio (Knuth, *The Art of Computer Programming* 3, §6.4): its products' high bits are spread evenly.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many high bits of a hash number a partition; the table takes those below.
pub(super) const PARTITION_BITS: u32 = 8;

#[inline]
pub(super) fn hash(key: u64) -> u64 {
    // The upper half is folded in, because a product's high bits depend on all of the factor only so.
    (key ^ (key >> 32)).wrapping_mul(MULTIPLIER)
}

/// A key, and how often it came.
pub(super) type Pair = (u64, u64);

/// A slot is a key, and in the bits that keys leave free its count, so that it takes 8 bytes: the fewer, the more slots are in a cache.
pub(super) struct Table {
    /// 0: it is free, since no count is 0.
    slots: Vec<u64>,
    groups: usize,
    count_bits: u32,
    /// What a slot has no bits for.
    beyond: HashMap<u64, u64>,
}

impl Table {
    const SLOTS_MIN: usize = 1 << 10;
    const SLOT_BYTES: usize = size_of::<u64>();
    /// Bytes of a table for each group at most: it is doubled when half of it is taken, the old one beside the new.
    pub(super) const GROUP_BYTES_MAX: usize = 6 * Self::SLOT_BYTES;
    /// Bytes of the shortest one.
    pub(super) const BYTES_MIN: usize = Self::SLOTS_MIN * Self::SLOT_BYTES;

    /// A table of a space's keys.
    pub(super) fn new(space: &KeySpace) -> Self {
        Self {
            slots: vec![0; Self::SLOTS_MIN],
            groups: 0,
            count_bits: u64::BITS - space.key_bits(),
            beyond: HashMap::new(),
        }
    }

    /// The memory of its slots.
    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * Self::SLOT_BYTES
    }

    /// How many groups it has.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// Whether so many more groups fit before it is doubled.
    pub(super) fn has_room(&self, groups: usize) -> bool {
        (self.groups + groups) * 2 <= self.slots.len()
    }

    #[inline]
    pub(super) fn add(&mut self, key: u64, count: u64) {
        let mask = self.slots.len() - 1;
        let counts_max = (1 << self.count_bits) - 1;
        let mut place = self.place(key) & mask;
        loop {
            let Some(slot) = self.slots.get_mut(place) else {
                unreachable!("a mask is less than the length")
            };
            let found = *slot;
            if found == 0 {
                break;
            }
            if found >> self.count_bits == key {
                if (found & counts_max) + count <= counts_max {
                    *slot = found + count;
                } else {
                    self.set_beyond(place, key, (found & counts_max) + count);
                }
                return;
            }
            place = (place + 1) & mask;
        }
        self.insert(place, key, count);
    }

    fn insert(&mut self, place: usize, key: u64, count: u64) {
        if count >> self.count_bits == 0 {
            self.slots.get_mut(place).into_iter().for_each(|slot| *slot = key << self.count_bits | count);
        } else {
            self.set_beyond(place, key, count);
        }
        self.groups += 1;
        if !self.has_room(0) {
            self.grow();
        }
    }

    /// Keeps 1 in the slot, and what it has no bits for beside it.
    #[cold]
    fn set_beyond(&mut self, place: usize, key: u64, count: u64) {
        self.slots.get_mut(place).into_iter().for_each(|slot| *slot = key << self.count_bits | 1);
        *self.beyond.entry(key).or_default() += count - 1;
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "it is masked by the table's length")]
    fn place(&self, key: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        ((hash(key) << PARTITION_BITS) >> (u64::BITS - bits)) as usize
    }

    /// Doubles it.
    #[cold]
    pub(super) fn grow(&mut self) {
        let longer = vec![0; 2 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, longer);
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut place = self.place(slot >> self.count_bits);
            while self.slots.get(place & mask).is_some_and(|taken| *taken != 0) {
                place += 1;
            }
            self.slots.get_mut(place & mask).into_iter().for_each(|free| *free = slot);
        }
    }

    /// Adds groups from a place in the table on, until there are so many of them. Returns the place to go on from.
    pub(super) fn take(
        &self,
        from: usize,
        groups_max: usize,
        keys: &mut Vec<u64>,
        counts: &mut Vec<u64>,
    ) -> usize {
        let mut at = from;
        for slot in self.slots.get(from..).unwrap_or_default() {
            if keys.len() == groups_max {
                break;
            }
            at += 1;
            if *slot != 0 {
                let (key, count) = pair(*slot, self.count_bits, &self.beyond);
                keys.push(key);
                counts.push(count);
            }
        }
        at
    }

    /// The groups, in no order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.slots.iter().filter(|slot| **slot != 0).map(|slot| pair(*slot, self.count_bits, &self.beyond))
    }

    /// Takes all groups out, so that it is empty.
    pub(super) fn compact(&mut self) -> Groups {
        let mut slots = vec![0; self.groups + 1];
        let mut at = 0;
        // Without a branch: half of the slots are free, and which ones can't be foreseen.
        for slot in &self.slots {
            slots.get_mut(at).into_iter().for_each(|place| *place = *slot);
            at += usize::from(*slot != 0);
        }
        slots.truncate(self.groups);
        let groups = Groups { slots, count_bits: self.count_bits, beyond: std::mem::take(&mut self.beyond) };
        self.clear();
        groups
    }

    /// Forgets everything but its memory, unless that is far more than was needed of late.
    pub(super) fn clear(&mut self) {
        if self.slots.len() > Self::SLOTS_MIN && self.groups * 16 < self.slots.len() {
            self.slots = vec![0; self.slots.len() / 4];
        } else {
            self.slots.fill(0);
        }
        self.groups = 0;
        self.beyond.clear();
    }
}

/// Groups that were counted, one after the other.
pub(super) struct Groups {
    slots: Vec<u64>,
    count_bits: u32,
    beyond: HashMap<u64, u64>,
}

impl Groups {
    /// The memory of them.
    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * Table::SLOT_BYTES
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Those from a place on, at most so many.
    pub(super) fn pairs(&self, from: usize, groups_max: usize) -> impl Iterator<Item = Pair> {
        let end = from.saturating_add(groups_max).min(self.slots.len());
        let slots = self.slots.get(from..end).unwrap_or_default();
        slots.iter().map(|slot| pair(*slot, self.count_bits, &self.beyond))
    }

    /// Of pairs whose keys are different ones, in a space.
    pub(super) fn of(pairs: &[Pair], space: &KeySpace) -> Self {
        let (count_bits, mut beyond) = (u64::BITS - space.key_bits(), HashMap::new());
        let slots = pairs.iter().map(|(key, count)| {
            let kept = if *count >> count_bits == 0 { *count } else { 1 };
            if kept < *count {
                beyond.insert(*key, count - kept);
            }
            key << count_bits | kept
        });
        Self { slots: slots.collect(), count_bits, beyond }
    }
}

fn pair(slot: u64, count_bits: u32, beyond: &HashMap<u64, u64>) -> Pair {
    let (key, count) = (slot >> count_bits, slot & ((1 << count_bits) - 1));
    let more = if beyond.is_empty() { None } else { beyond.get(&key) };
    (key, count + more.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array};

    use super::{KeySpace, Table};

    #[test]
    fn counts_beyond_a_slots_bits_are_right() {
        // 62 bits of keys leave two for counts.
        let column = |name: &str| {
            let values: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1 << 21));
            (name.to_owned(), values)
        };
        let space = KeySpace::new(["a", "b"].map(column).to_vec()).unwrap();
        let mut table = Table { count_bits: 2, ..Table::new(&space) };
        let mut expected = Vec::new();
        for key in 0..3000_u64 {
            let counts = [1, key % 5, 1, key % 7];
            counts.into_iter().filter(|count| *count > 0).for_each(|count| table.add(key, count));
            expected.push((key, counts.iter().sum::<u64>()));
        }
        let mut pairs: Vec<_> = table.pairs().collect();
        pairs.sort_unstable();
        assert_eq!(pairs, expected);
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        table.take(0, usize::MAX, &mut keys, &mut counts);
        assert_eq!(counts.iter().sum::<u64>(), expected.iter().map(|(_, count)| count).sum::<u64>());
        let groups = table.compact();
        let mut pairs: Vec<_> = groups.pairs(0, 1000).chain(groups.pairs(1000, usize::MAX)).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, expected);
        assert_eq!((groups.len(), table.pairs().count(), table.groups), (3000, 0, 0));
    }
}
