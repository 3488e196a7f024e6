//! Rows as codes, and the keys of their groups.

use super::{CountError, KeySpace};

/// A column of rows, by a dictionary of their own, as that of a row group.
#[derive(Debug, Clone, Copy)]
pub struct CodeColumn<'a> {
    /// What each entry of the dictionary contributes to keys: [`KeySpace::shifted`].
    pub shifted: &'a [u64],
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
    /// There are more or fewer columns than the space has, or of different lengths, or their tables are another space's.
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
        let largest = columns.iter().map(|column| column.shifted.iter().copied().max().unwrap_or_default());
        let got = largest.fold(0_u64, u64::saturating_add);
        if got >= space.cells() {
            return Err(CountError::Table { got, cells: space.cells() });
        }
        Ok(Self { columns, rows })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The keys of the next rows from `from` on, as many as are made at once.
    pub(super) fn keys(&self, from: usize, keys: &mut Vec<u64>) -> Result<(), CountError> {
        keys.clear();
        let to = (from + Self::TILE_ROWS).min(self.rows);
        for (number, column) in self.columns.iter().enumerate() {
            let codes = column.codes.get(from..to).unwrap_or_default();
            let table = column.shifted;
            let mut is_damaged = false;
            let mut look_up = |code: &u32| {
                table.get(*code as usize).copied().unwrap_or_else(|| {
                    is_damaged = true;
                    0
                })
            };
            if number == 0 {
                keys.extend(codes.iter().map(&mut look_up));
            } else {
                keys.iter_mut().zip(codes).for_each(|(key, code)| *key += look_up(code));
            }
            if is_damaged {
                let code = codes.iter().copied().max().unwrap_or_default();
                return Err(CountError::Code { column: number, code, codes: table.len() });
            }
        }
        Ok(())
    }
}
