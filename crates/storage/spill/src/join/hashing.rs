//! Uses of a key's hash. The upper half selects the partition, the lower half the bucket of a
//! table, and a mix of both the bits of a filter. Rows of one partition therefore spread over all
//! buckets.

use xxhash_rust::xxh3::xxh3_64_with_seed;

const HALF_BITS: u32 = u32::BITS;
/// 2⁶⁴ divided by the golden ratio. Multiplying by it carries low bits of a hash into high bits
/// (Knuth, *The Art of Computer Programming* 3, §6.4).
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hash function of one level of a join. Levels use different seeds, so keys that collide on one
/// level are separated on the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyHash {
    seed: u64,
}

impl KeyHash {
    /// Hash function of `level`, in a space with `salt`.
    pub(super) fn of_level(level: u32, salt: u64) -> Self {
        Self { seed: xxh3_64_with_seed(&level.to_le_bytes(), salt) }
    }

    pub(super) fn of(self, key: &[u8]) -> u64 {
        xxh3_64_with_seed(key, self.seed)
    }
}

/// Returns the thread that joins the rows with this key when `shares` threads join in parallel.
/// Each thread has its own [`Joiner`](crate::Joiner) in its own world, with a part of the memory
/// and of the temporary space. It gets the rows of both sides whose keys fall into its share.
///
/// # Panics
///
/// `shares` is 0.
pub fn share_of(key: &[u8], shares: usize) -> usize {
    /// Differs from the seeds of partitions, so that each thread has rows of all partitions.
    const SEED: u64 = 0x5EED_0F5A_A4E5_0001;
    assert!(shares > 0, "keys are divided among at least one");
    scaled(xxh3_64_with_seed(key, SEED) >> HALF_BITS, shares)
}

/// Returns the partition of a hash, out of `partitions`.
pub(super) fn partition(hash: u64, partitions: usize) -> usize {
    scaled(hash >> HALF_BITS, partitions)
}

/// Returns the bucket of a hash, out of `buckets`.
pub(super) fn bucket(hash: u64, buckets: usize) -> usize {
    scaled(hash & u64::from(u32::MAX), buckets)
}

/// Scales a number below 2³² to a number below `count`.
fn scaled(half: u64, count: usize) -> usize {
    let scaled = (u128::from(half) * count as u128) >> HALF_BITS;
    let Ok(scaled) = usize::try_from(scaled) else { unreachable!("{scaled} is below {count}") };
    scaled
}

/// Returns the filter word and the bits in it that belong to a hash.
pub(super) fn filter_bits(hash: u64, words: usize) -> (usize, u64) {
    const BITS_BY_KEY: u32 = 4;
    const LOG_WORD_BITS: u32 = u64::BITS.trailing_zeros();
    let mixed = (hash ^ hash >> HALF_BITS).wrapping_mul(GOLDEN_RATIO);
    let word = scaled(mixed >> HALF_BITS, words);
    let bit = |number: u32| 1_u64 << (mixed >> (number * LOG_WORD_BITS) & u64::from(u64::BITS - 1));
    (word, (0..BITS_BY_KEY).fold(0, |bits, number| bits | bit(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_partition_spread_over_the_next_level() {
        let (first, second) = (KeyHash::of_level(0, 7), KeyHash::of_level(1, 7));
        let keys = (0..80_000_u32).map(u32::to_be_bytes);
        let of_one = keys.filter(|key| partition(first.of(key), 8) == 3);
        let mut counts = [0_u32; 8];
        of_one.for_each(|key| counts[partition(second.of(&key), 8)] += 1);
        assert!(counts.iter().all(|count| (1_000..1_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn keys_of_one_partition_spread_over_buckets_and_filter() {
        let hash = KeyHash::of_level(0, 7);
        let keys = (0..80_000_u32).map(|key| hash.of(&key.to_be_bytes()));
        let (mut buckets, mut words) = ([0_u32; 10], [0_u32; 10]);
        for hash in keys.filter(|hash| partition(*hash, 8) == 3) {
            buckets[bucket(hash, 10)] += 1;
            words[filter_bits(hash, 10).0] += 1;
        }
        assert!(
            buckets.iter().chain(&words).all(|count| (800..1_200).contains(count)),
            "{buckets:?} {words:?}"
        );
    }
}
