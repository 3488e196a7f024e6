//! Rows as codes, and the keys of their groups.

use nandle_columns::greatest_code;

use super::{CountError, KeySpace};

/// What each entry of a dictionary contributes to keys: [`KeySpace::shifted`].
#[derive(Debug, Clone)]
pub struct Shifted {
    /// As long as a power of two, so that a masked code is a place in it.
    table: Vec<u64>,
    entries: usize,
    largest: u64,
}

impl Shifted {
    pub(super) fn new(mut table: Vec<u64>) -> Self {
        let (entries, largest) = (table.len(), table.iter().copied().max().unwrap_or_default());
        table.resize(entries.next_power_of_two(), 0);
        Self { table, entries, largest }
    }

    /// What a code contributes; anything where it is no place in the dictionary.
    #[inline]
    fn of(&self, code: u32) -> u64 {
        let place = code as usize & (self.table.len() - 1);
        self.table.get(place).copied().unwrap_or_default()
    }
}

impl Default for Shifted {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// A column of rows, by a dictionary of their own, as that of a row group.
#[derive(Debug, Clone, Copy)]
pub struct CodeColumn<'a> {
    /// What the dictionary's entries contribute to keys.
    pub shifted: &'a Shifted,
    /// The rows' entries.
    pub codes: &'a [u32],
}

/// Rows, in the columns of a [`KeySpace`].
#[derive(Debug, Clone, Copy)]
pub struct CodeBatch<'a> {
    columns: &'a [CodeColumn<'a>],
    rows: usize,
}

impl<'a> CodeBatch<'a> {
    /// So many keys are made at once: they stay in the nearest cache.
    pub(super) const TILE_ROWS: usize = 2048;

    /// Rows of a space.
    ///
    /// # Errors
    /// There are more or fewer columns than the space has, or of different lengths, or their tables are another space's; a code isn't in
    /// its dictionary.
    pub fn new(space: &KeySpace, columns: &'a [CodeColumn<'a>]) -> Result<Self, CountError> {
        if columns.len() != space.columns() {
            return Err(CountError::Columns { expected: space.columns(), got: columns.len() });
        }
        let rows = columns.first().map_or(0, |column| column.codes.len());
        let differs = columns.iter().position(|column| column.codes.len() != rows);
        if let Some(column) = differs {
            let got = columns.get(column).map_or(0, |column| column.codes.len());
            return Err(CountError::Rows { column, expected: rows, got });
        }
        let got = columns.iter().map(|column| column.shifted.largest).fold(0_u64, u64::saturating_add);
        if got >= space.cells() {
            return Err(CountError::Table { got, cells: space.cells() });
        }
        for (number, column) in columns.iter().enumerate().filter(|_| rows > 0) {
            let (code, codes) = (greatest_code(column.codes), column.shifted.entries);
            if code as usize >= codes {
                return Err(CountError::Code { column: number, code, codes });
            }
        }
        Ok(Self { columns, rows })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The keys of the next rows from `from` on, as many as are made at once.
    pub(super) fn keys(&self, from: usize, keys: &mut Vec<u64>) {
        let to = (from + Self::TILE_ROWS).min(self.rows);
        let tiles = self
            .columns
            .iter()
            .map(|column| (column.shifted, column.codes.get(from..to).unwrap_or_default()));
        // Many columns have one value in many rows: those of a month lie together.
        let (repeated, varying): (Vec<_>, Vec<_>) = tiles.partition(|(_, codes)| is_repeated(codes));
        let codes = repeated.iter().filter_map(|(shifted, codes)| Some(shifted.of(*codes.first()?)));
        let all: u64 = codes.sum();
        keys.clear();
        let mut varying = varying.into_iter();
        match varying.next() {
            Some((shifted, codes)) => keys.extend(codes.iter().map(|code| shifted.of(*code) + all)),
            None => keys.resize(to - from, all),
        }
        for (shifted, codes) in varying {
            keys.iter_mut().zip(codes).for_each(|(key, code)| *key += shifted.of(*code));
        }
    }
}

/// Whether all are the same.
pub(super) fn is_repeated<T: Copy + PartialEq>(all: &[T]) -> bool {
    let Some(first) = all.first().copied() else { return true };
    // Blocks without a branch inside are compared many at once.
    all.chunks(64).all(|block| block.iter().filter(|one| **one != first).count() == 0)
}

#[cfg(test)]
mod tests {
    use super::is_repeated;

    #[test]
    fn one_other_value_ends_a_repetition() {
        let mut all = vec![7; 200];
        assert!(is_repeated(&all) && is_repeated::<u8>(&[]));
        for place in [0, 63, 64, 199] {
            all[place] = 8;
            assert!(!is_repeated(&all), "{place}");
            all[place] = 7;
        }
    }
}
