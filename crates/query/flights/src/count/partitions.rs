//! Keys partitioned so that the groups of a partition fit in a cache.
//!
//! Memory is taken in blocks and reused, because first use of memory is expensive. Keys are
//! condensed to groups whenever they reach a limit. The limit rises only if that frees little.

use super::KeySpace;
use super::table::{PARTITION_BITS, Pair, Table, hash};

const PARTITIONS: usize = 1 << PARTITION_BITS;
const BLOCK_KEYS: usize = 1024;
const BLOCK_BYTES: usize = BLOCK_KEYS * size_of::<u64>();

/// A partition of the keys.
#[derive(Default)]
pub(super) struct Partition {
    /// Keys in order of arrival; all blocks except the last are full.
    blocks: Vec<Vec<u64>>,
    /// Groups of earlier keys.
    groups: Vec<Pair>,
    /// Number of leading groups with distinct keys.
    different: usize,
}

impl Partition {
    /// Growth of the groups' capacity, as 1 / n of their number, so that repeated additions seldom
    /// move them.
    const GROWTH_PART: usize = 4;

    /// Memory of its groups.
    fn groups_bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Pair>()
    }

    /// Appends groups counted elsewhere; their keys may overlap with its own.
    fn add_groups(&mut self, more: &[Pair]) {
        if self.groups.capacity() - self.groups.len() < more.len() {
            self.groups.reserve_exact(more.len().max(self.groups.len() / Self::GROWTH_PART));
        }
        self.groups.extend_from_slice(more);
    }

    /// Counts all its keys and groups.
    pub(super) fn count(&self, table: &mut Table) {
        table.clear();
        for (key, count) in &self.groups {
            table.add(*key, *count);
        }
        for key in self.blocks.iter().flatten() {
            table.add(*key, 1);
        }
    }
}

pub(super) struct Partitions {
    parts: Vec<Partition>,
    /// Current block of each partition.
    open: Vec<Vec<u64>>,
    spare: Vec<Vec<u64>>,
    table: Table,
    /// Bytes of blocks, including spare ones, and of groups.
    taken_bytes: usize,
    /// Keys that aren't condensed yet.
    waiting_keys: usize,
    /// Bytes at which keys are condensed.
    limit_bytes: usize,
    max_bytes: usize,
    pub(super) condensed: u64,
}

impl Partitions {
    /// Minimum memory.
    pub(super) const BYTES_MIN: usize = 4 * PARTITIONS * BLOCK_BYTES;
    /// Approximate size of a processor's caches.
    const FIRST_LIMIT_BYTES: usize = 32 << 20;

    /// Creates partitions within `max_bytes`.
    pub(super) fn new(space: &KeySpace, max_bytes: usize) -> Self {
        // Reserve memory for a partition's table and its new groups; partitions have about equal
        // numbers of groups.
        let table_bytes = max_bytes / PARTITIONS * 2 * Table::GROUP_BYTES_MAX / size_of::<Pair>();
        let max_bytes = max_bytes.saturating_sub(table_bytes).max(PARTITIONS * BLOCK_BYTES * 2);
        Self {
            parts: (0..PARTITIONS).map(|_| Partition::default()).collect(),
            open: (0..PARTITIONS).map(|_| Vec::with_capacity(BLOCK_KEYS)).collect(),
            spare: Vec::new(),
            table: Table::new(space),
            taken_bytes: PARTITIONS * BLOCK_BYTES,
            waiting_keys: 0,
            limit_bytes: max_bytes.min(Self::FIRST_LIMIT_BYTES),
            max_bytes,
            condensed: 0,
        }
    }

    /// Makes room for this many keys. Returns false if condensing everything doesn't suffice.
    pub(super) fn make_room(&mut self, keys: usize) -> bool {
        let needed_bytes = keys.min(PARTITIONS).max(keys.div_ceil(BLOCK_KEYS)) * BLOCK_BYTES;
        while !self.has_room(needed_bytes, keys) {
            self.condense();
            if self.has_room(needed_bytes, keys) && self.groups_bytes() <= self.limit_bytes / 2 {
                return true;
            }
            if self.limit_bytes >= self.max_bytes {
                return self.has_room(needed_bytes, keys) && self.groups_bytes() <= self.max_bytes / 4 * 3;
            }
            self.limit_bytes = (2 * self.limit_bytes).min(self.max_bytes);
        }
        true
    }

    /// Returns true if this many further keys fit, also after all keys become groups, which are
    /// twice as long.
    fn has_room(&self, needed_bytes: usize, keys: usize) -> bool {
        let used_bytes = self.taken_bytes - self.spare.len() * BLOCK_BYTES;
        let counted_bytes = (self.waiting_keys + keys) * size_of::<Pair>() + PARTITIONS * BLOCK_BYTES;
        used_bytes + needed_bytes <= self.limit_bytes && self.groups_bytes() + counted_bytes <= self.max_bytes
    }

    fn groups_bytes(&self) -> usize {
        self.parts.iter().map(Partition::groups_bytes).sum()
    }

    /// Adds keys, after [`make_room`](Self::make_room).
    pub(super) fn add(&mut self, keys: &[u64]) {
        self.waiting_keys += keys.len();
        for key in keys {
            let number = partition_of(*key);
            let Some(open) = self.open.get_mut(number) else {
                unreachable!("a hash's high bits number a partition")
            };
            open.push(*key);
            if open.len() == BLOCK_KEYS {
                self.close(number);
            }
        }
    }

    #[cold]
    fn close(&mut self, number: usize) {
        let empty = self.spare.pop().unwrap_or_else(|| {
            self.taken_bytes += BLOCK_BYTES;
            Vec::with_capacity(BLOCK_KEYS)
        });
        if let (Some(open), Some(partition)) = (self.open.get_mut(number), self.parts.get_mut(number)) {
            partition.blocks.push(std::mem::replace(open, empty));
        }
    }

    /// Condenses keys to groups.
    pub(super) fn condense(&mut self) {
        self.condensed += 1;
        self.waiting_keys = 0;
        for (partition, open) in self.parts.iter_mut().zip(&mut self.open) {
            let is_condensed = partition.different == partition.groups.len();
            if partition.blocks.is_empty() && open.is_empty() && is_condensed {
                continue;
            }
            partition.count(&mut self.table);
            open.drain(..).for_each(|key| self.table.add(key, 1));
            self.taken_bytes -= partition.groups_bytes();
            // Free the old groups before the new ones are allocated.
            partition.groups = Vec::new();
            partition.groups.reserve_exact(self.table.groups());
            partition.groups.extend(self.table.pairs());
            partition.different = partition.groups.len();
            self.taken_bytes += partition.groups_bytes();
            for mut block in partition.blocks.drain(..) {
                block.clear();
                self.spare.push(block);
            }
            // Free spare blocks, because groups use separate memory.
            while self.taken_bytes > self.limit_bytes && self.spare.pop().is_some() {
                self.taken_bytes -= BLOCK_BYTES;
            }
        }
    }

    /// Takes the keys and groups of another one.
    pub(super) fn absorb(&mut self, mut other: Self) {
        other.close_all();
        for (partition, more) in self.parts.iter_mut().zip(other.parts) {
            partition.blocks.extend(more.blocks);
            if partition.groups.is_empty() {
                (partition.groups, partition.different) = (more.groups, more.different);
            } else {
                partition.groups.reserve_exact(more.groups.len());
                partition.groups.extend(more.groups);
            }
        }
        self.max_bytes += other.max_bytes;
        self.limit_bytes += other.limit_bytes;
        self.taken_bytes += other.taken_bytes;
        self.waiting_keys += other.waiting_keys;
        self.condensed += other.condensed;
    }

    fn close_all(&mut self) {
        for (partition, open) in self.parts.iter_mut().zip(&mut self.open) {
            partition.blocks.push(std::mem::take(open));
        }
    }

    /// Returns the partitions, to be counted one by one.
    pub(super) fn into_partitions(mut self) -> Vec<Partition> {
        self.close_all();
        self.parts
    }

    /// Adds groups counted elsewhere, if they fit.
    pub(super) fn try_absorb_groups(&mut self, pairs: &[Pair]) -> bool {
        let more_bytes = |this: &Self| size_of_val(pairs) + this.groups_bytes() / Partition::GROWTH_PART;
        let waiting_bytes = |this: &Self| this.waiting_keys * size_of::<Pair>() + PARTITIONS * BLOCK_BYTES;
        let fits = |this: &Self| {
            let used_bytes = this.taken_bytes - this.spare.len() * BLOCK_BYTES;
            used_bytes.max(this.groups_bytes() + waiting_bytes(this)) + more_bytes(this) <= this.max_bytes
        };
        if !fits(self) {
            self.condense();
        }
        if fits(self) {
            self.absorb_groups(pairs);
            true
        } else {
            false
        }
    }

    /// Adds groups counted elsewhere.
    pub(super) fn absorb_groups(&mut self, pairs: &[Pair]) {
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable_by_key(|(key, _)| partition_of(*key));
        for group in sorted.chunk_by(|one, other| partition_of(one.0) == partition_of(other.0)) {
            let number = group.first().map_or(0, |(key, _)| partition_of(*key));
            if let Some(partition) = self.parts.get_mut(number) {
                self.taken_bytes -= partition.groups_bytes();
                partition.add_groups(group);
                self.taken_bytes += partition.groups_bytes();
            }
        }
    }

    /// Takes all groups out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Pair> + use<> {
        self.condense();
        self.taken_bytes -= self.groups_bytes();
        let taken = self.parts.iter_mut().map(|partition| {
            partition.different = 0;
            std::mem::take(&mut partition.groups)
        });
        let taken: Vec<_> = taken.collect();
        taken.into_iter().flatten()
    }

    /// All groups.
    pub(super) fn into_pairs(mut self) -> impl Iterator<Item = Pair> {
        self.drain()
    }
}

fn partition_of(key: u64) -> usize {
    usize::try_from(hash(key) >> (u64::BITS - PARTITION_BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array};

    use super::*;

    fn space() -> KeySpace {
        let values: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1 << 20));
        KeySpace::new(vec![("a".to_owned(), values)]).unwrap()
    }

    #[test]
    fn groups_that_come_in_small_parts_are_seldom_moved_and_their_memory_is_known() {
        let mut partitions = Partitions::new(&space(), 256 << 20);
        let (mut expected, mut moves) = (BTreeMap::new(), 0);
        let mut rooms = vec![0; PARTITIONS];
        for part in 0..400_u64 {
            let pairs: Vec<Pair> =
                (0..1000).map(|number| ((part * 997 + number * 31) % (1 << 20), 1 + part)).collect();
            for (key, count) in &pairs {
                *expected.entry(*key).or_insert(0) += count;
            }
            assert!(partitions.try_absorb_groups(&pairs));
            for (partition, room) in partitions.parts.iter().zip(&mut rooms) {
                moves += usize::from(partition.groups.capacity() != *room);
                *room = partition.groups.capacity();
            }
            assert_eq!(partitions.taken_bytes, PARTITIONS * BLOCK_BYTES + partitions.groups_bytes());
        }
        assert!(moves < 40 * PARTITIONS, "{moves} moves of {PARTITIONS} partitions in 400 parts");
        assert!(rooms.iter().sum::<usize>() < 400_000 * 3 / 2);
        let got: BTreeMap<u64, u64> = partitions.into_pairs().collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn groups_without_room_are_refused() {
        let mut partitions = Partitions::new(&space(), Partitions::BYTES_MIN);
        let pairs: Vec<Pair> = (0..1 << 19).map(|key| (key, 1)).collect();
        let taken = pairs.chunks(1000).take_while(|pairs| partitions.try_absorb_groups(pairs)).count();
        assert!((1..524).contains(&taken), "{taken}");
        assert!(partitions.taken_bytes <= Partitions::BYTES_MIN, "{}", partitions.taken_bytes);
        // Groups with the same keys take no room after condensing.
        assert!((0..100).all(|_| partitions.try_absorb_groups(&pairs[..100])));
        assert_eq!(partitions.into_pairs().count(), taken * 1000);
    }
}
