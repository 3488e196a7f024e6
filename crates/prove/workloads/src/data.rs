//! Generates the rows of a workload from its seed.

use xxhash_rust::xxh3::xxh3_64;

use crate::Workload;

/// Generator of the rows of a workload's tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowGenerator {
    pub(crate) rows: u64,
    pub(crate) row_bytes: usize,
    pub(crate) key_bytes: usize,
    seed: u64,
    /// Stride through the keys that gives the second table its own order; coprime to the number of
    /// rows.
    step: u64,
}

impl RowGenerator {
    pub(crate) fn of(workload: &Workload) -> Self {
        let Workload { rows, row_bytes, key_bytes, seed, .. } = *workload;
        let first = mixed(seed ^ 0x5EED) % rows.max(1);
        let step = (first.max(1)..u64::MAX).find(|step| divisor(*step, rows) == 1).unwrap_or(1);
        Self { rows, row_bytes, key_bytes, seed: mixed(seed), step }
    }

    /// Writes row `row` of table `table` into `into`.
    pub(crate) fn row(&self, table: u64, row: u64, into: &mut [u8]) {
        let key = if table == 0 { row } else { self.in_second(row) };
        let (key_into, payload) = into.split_at_mut(self.key_bytes.min(into.len()));
        words(self.seed, key, key_into);
        words(self.seed.rotate_left(17) ^ table.wrapping_add(1), key, payload);
    }

    /// Key of a row of the second table.
    fn in_second(&self, row: u64) -> u64 {
        let place = u128::from(row) * u128::from(self.step) % u128::from(self.rows.max(1));
        u64::try_from(place).unwrap_or_default()
    }

    /// Checksum of the expected result, independent of row order.
    pub(crate) fn expected(&self, workload: &Workload) -> RowChecksum {
        let mut row = vec![0; workload.result_row_bytes()];
        let mut sum = RowChecksum::default();
        for key in 0..self.rows {
            let (key_into, payload) = row.split_at_mut(self.key_bytes);
            words(self.seed, key, key_into);
            for (table, payload) in (1..).zip(payload.chunks_mut((self.row_bytes - self.key_bytes).max(1))) {
                words(self.seed.rotate_left(17) ^ table, key, payload);
            }
            sum.add(&row);
        }
        sum
    }
}

/// Sum of the hashes of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowChecksum(u64);

impl RowChecksum {
    pub(crate) fn add(&mut self, row: &[u8]) {
        self.0 = self.0.wrapping_add(xxh3_64(row));
    }
}

/// Fills a buffer with pseudo-random words derived from a number. The first word is different for
/// each number.
fn words(seed: u64, number: u64, into: &mut [u8]) {
    let mut state = seed.wrapping_add(number.wrapping_mul(STEP));
    for part in into.chunks_mut(size_of::<u64>()) {
        let word = mixed(state).to_be_bytes();
        part.iter_mut().zip(word).for_each(|(into, byte)| *into = byte);
        state = mixed(state ^ seed);
    }
}

/// Odd, so that the multiplication is a bijection.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Final mix of `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014); a bijection.
pub(crate) fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Greatest common divisor.
fn divisor(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Operator;

    fn keys(data: &RowGenerator, table: u64) -> BTreeSet<Vec<u8>> {
        let key = |row| {
            let mut into = vec![0; data.row_bytes];
            data.row(table, row, &mut into);
            into.truncate(data.key_bytes);
            into
        };
        (0..data.rows).map(key).collect()
    }

    #[test]
    fn both_tables_have_every_key_once() {
        for (rows, seed) in [(1, 1), (2, 9), (1000, 1), (1024, 2), (997, 3)] {
            let workload = Workload { rows, seed, ..Workload::of_the_study(Operator::Join) };
            let data = RowGenerator::of(&workload);
            let first = keys(&data, 0);
            assert_eq!(first.len() as u64, rows, "seed {seed}");
            assert_eq!(first, keys(&data, 1), "seed {seed}");
        }
    }

    #[test]
    fn second_table_has_another_order() {
        let data = RowGenerator::of(&Workload { rows: 1000, ..Workload::of_the_study(Operator::Join) });
        let at_home = (0..1000).filter(|row| data.in_second(*row) == *row).count();
        assert!(at_home < 20, "{at_home}");
    }
}
