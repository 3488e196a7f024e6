//! Keys and how often each came: a hash table with open addressing, which is used again for one partition after the other.

/// No key is as large as this.
const FREE: u64 = u64::MAX;

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

pub(super) struct Table {
    slots: Vec<Pair>,
    groups: usize,
}

impl Table {
    const SLOTS_MIN: usize = 1 << 10;
    /// Bytes of a table for each group at most: it is doubled when half of it is taken, the old one beside the new.
    pub(super) const GROUP_BYTES_MAX: usize = 6 * size_of::<Pair>();

    pub(super) fn new() -> Self {
        Self { slots: vec![(FREE, 0); Self::SLOTS_MIN], groups: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, key: u64, count: u64) {
        let mask = self.slots.len() - 1;
        let mut place = self.place(key);
        loop {
            let Some(slot) = self.slots.get_mut(place & mask) else {
                unreachable!("a mask is less than the length")
            };
            if slot.0 == key {
                slot.1 += count;
                return;
            }
            if slot.0 == FREE {
                *slot = (key, count);
                self.groups += 1;
                if self.groups * 2 > self.slots.len() {
                    self.grow();
                }
                return;
            }
            place += 1;
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "it is masked by the table's length")]
    fn place(&self, key: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        ((hash(key) << PARTITION_BITS) >> (u64::BITS - bits)) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let longer = vec![(FREE, 0); 2 * self.slots.len()];
        let old = std::mem::replace(&mut self.slots, longer);
        self.groups = 0;
        for (key, count) in old {
            if key != FREE {
                self.add(key, count);
            }
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
        for (key, count) in self.slots.get(from..).unwrap_or_default() {
            if keys.len() == groups_max {
                break;
            }
            at += 1;
            if *key != FREE {
                keys.push(*key);
                counts.push(*count);
            }
        }
        at
    }

    /// The groups, in no order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.slots.iter().copied().filter(|(key, _)| *key != FREE)
    }

    /// Forgets everything but its memory, unless that is far more than was needed of late.
    pub(super) fn clear(&mut self) {
        if self.slots.len() > Self::SLOTS_MIN && self.groups * 16 < self.slots.len() {
            self.slots = vec![(FREE, 0); self.slots.len() / 4];
        } else {
            self.slots.fill((FREE, 0));
        }
        self.groups = 0;
    }
}
