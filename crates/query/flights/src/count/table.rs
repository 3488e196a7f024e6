//! Hash table of keys and counts with open addressing, reused for successive partitions.

use std::collections::HashMap;

use super::KeySpace;

/// 2⁶⁴ divided by the golden ratio (Knuth, *The Art of Computer Programming* 3, §6.4): spreads the
/// high bits of its products evenly.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// High bits of a hash that select a partition; the table uses those below.
pub(super) const PARTITION_BITS: u32 = 8;

#[inline]
pub(super) fn hash(key: u64) -> u64 {
    // Fold in the upper half: only then do a product's high bits depend on the whole key.
    (key ^ (key >> 32)).wrapping_mul(MULTIPLIER)
}

/// A key and its count.
pub(super) type Pair = (u64, u64);

/// Each slot stores a key and, in the bits it leaves free, its count: 8 bytes, so that many slots
/// fit in a cache.
pub(super) struct Table {
    /// 0 if free: no count is 0.
    slots: Vec<u64>,
    groups: usize,
    count_bits: u32,
    /// Part of a count that exceeds its slot.
    beyond: HashMap<u64, u64>,
}

impl Table {
    const SLOTS_MIN: usize = 1 << 10;
    const SLOT_BYTES: usize = size_of::<u64>();
    /// Maximum bytes per group: the table doubles when half full, and the old one exists meanwhile.
    pub(super) const GROUP_BYTES_MAX: usize = 6 * Self::SLOT_BYTES;
    /// Bytes of the smallest table.
    pub(super) const BYTES_MIN: usize = Self::SLOTS_MIN * Self::SLOT_BYTES;

    /// Creates a table for a space's keys.
    pub(super) fn new(space: &KeySpace) -> Self {
        Self {
            slots: vec![0; Self::SLOTS_MIN],
            groups: 0,
            count_bits: u64::BITS - space.key_bits(),
            beyond: HashMap::new(),
        }
    }

    /// Memory of its slots.
    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * Self::SLOT_BYTES
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// Returns true if this many further groups fit without growing.
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

    /// Sets the slot's count to 1, and stores the rest separately.
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

    /// Doubles its size.
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

    /// Appends groups from a position on, at most `groups_max`. Returns the position to continue
    /// from.
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

    /// Groups in no particular order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.slots.iter().filter(|slot| **slot != 0).map(|slot| pair(*slot, self.count_bits, &self.beyond))
    }

    /// Takes all groups out.
    pub(super) fn compact(&mut self) -> Groups {
        let mut slots = vec![0; self.groups + 1];
        let mut at = 0;
        // Branch-free: half of the slots are free at random.
        for slot in &self.slots {
            slots.get_mut(at).into_iter().for_each(|place| *place = *slot);
            at += usize::from(*slot != 0);
        }
        slots.truncate(self.groups);
        let groups = Groups { slots, count_bits: self.count_bits, beyond: std::mem::take(&mut self.beyond) };
        self.clear();
        groups
    }

    /// Clears the table. Keeps its memory, unless that far exceeds recent needs.
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

/// Counted groups in a sequence.
pub(super) struct Groups {
    slots: Vec<u64>,
    count_bits: u32,
    beyond: HashMap<u64, u64>,
}

impl Groups {
    /// Memory of the groups.
    pub(super) fn bytes(&self) -> usize {
        self.slots.len() * Table::SLOT_BYTES
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns at most `groups_max` groups from a position on.
    pub(super) fn pairs(&self, from: usize, groups_max: usize) -> impl Iterator<Item = Pair> {
        let end = from.saturating_add(groups_max).min(self.slots.len());
        let slots = self.slots.get(from..end).unwrap_or_default();
        slots.iter().map(|slot| pair(*slot, self.count_bits, &self.beyond))
    }

    /// Creates groups from pairs with distinct keys.
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
        // Keys of 62 bits leave two for counts.
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
