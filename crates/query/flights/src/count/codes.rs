//! Rows as codes, and the keys of their groups.

use std::ops::Range;

use nandle_columns::{CodeRun, Codes, greatest_code};

use super::{CountError, KeySpace};

/// Part of a key for each entry of a dictionary: [`KeySpace::shifted`].
#[derive(Debug, Clone)]
pub struct Shifted {
    /// Padded to a power of two, so that a masked code is a valid index.
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

    /// Returns a code's part of the key; any value for an invalid code.
    #[inline]
    pub(super) fn of(&self, code: u32) -> u64 {
        let place = code as usize & (self.table.len() - 1);
        self.table.get(place).copied().unwrap_or_default()
    }
}

impl Default for Shifted {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// A column of rows with its own dictionary, such as that of a row group.
#[derive(Debug, Clone, Copy)]
pub struct CodeColumn<'a> {
    /// Parts of keys by dictionary entry.
    pub shifted: &'a Shifted,
    /// Dictionary entries of the rows.
    pub codes: Codes<'a>,
}

/// Rows in the columns of a [`KeySpace`].
#[derive(Debug, Clone, Copy)]
pub struct CodeBatch<'a> {
    columns: &'a [CodeColumn<'a>],
    rows: usize,
}

impl<'a> CodeBatch<'a> {
    /// Keys computed at once: they stay in the nearest cache.
    pub(super) const TILE_ROWS: usize = 2048;

    /// Creates rows of a space.
    ///
    /// # Errors
    /// The number of columns differs from the space's, they have different lengths, their tables
    /// belong to another space, a run doesn't end after the previous one, or a code isn't in its
    /// dictionary.
    pub fn new(space: &KeySpace, columns: &'a [CodeColumn<'a>]) -> Result<Self, CountError> {
        if columns.len() != space.columns() {
            return Err(CountError::Columns { expected: space.columns(), got: columns.len() });
        }
        let rows = columns.first().map_or(0, |column| column.codes.rows());
        let differs = columns.iter().position(|column| column.codes.rows() != rows);
        if let Some(column) = differs {
            let got = columns.get(column).map_or(0, |column| column.codes.rows());
            return Err(CountError::Rows { column, expected: rows, got });
        }
        let got = columns.iter().map(|column| column.shifted.largest).fold(0_u64, u64::saturating_add);
        if got >= space.cells() {
            return Err(CountError::Table { got, cells: space.cells() });
        }
        if let Some(column) = columns.iter().position(|column| !is_rising(column.codes)) {
            return Err(CountError::Runs { column });
        }
        for (number, column) in columns.iter().enumerate().filter(|_| rows > 0) {
            let (code, codes) = (greatest(column.codes), column.shifted.entries);
            if code as usize >= codes {
                return Err(CountError::Code { column: number, code, codes });
            }
        }
        Ok(Self { columns, rows })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn column(&self, number: usize) -> Option<&CodeColumn<'a>> {
        self.columns.get(number)
    }

    /// Computes the keys of the next rows from `from` on, one tile.
    pub(super) fn keys(&self, from: usize, keys: &mut Vec<u64>) {
        self.keys_without(None, from..(from + Self::TILE_ROWS).min(self.rows), keys);
    }

    /// Computes keys of rows without a column's part.
    pub(super) fn keys_without(&self, column: Option<usize>, rows: Range<usize>, keys: &mut Vec<u64>) {
        let columns = || self.columns.iter().enumerate().filter(|(number, _)| column != Some(*number));
        // Many columns have one value in many rows, such as the month.
        let same = columns().filter_map(|(_, column)| Some(column.shifted.of(one_code(column, &rows)?)));
        let same: u64 = same.sum();
        keys.clear();
        for (_, column) in columns() {
            let Codes::Each(codes) = column.codes else { continue };
            let codes = codes.get(rows.clone()).unwrap_or_default();
            if keys.is_empty() {
                keys.extend(codes.iter().map(|code| column.shifted.of(*code) + same));
            } else {
                keys.iter_mut().zip(codes).for_each(|(key, code)| *key += column.shifted.of(*code));
            }
        }
        keys.resize(rows.len(), same);
        for (_, column) in columns() {
            let Codes::Runs(runs) = column.codes else { continue };
            if one_code(column, &rows).is_none() {
                add_runs(column.shifted, runs, &rows, keys);
            }
        }
    }

    /// Returns true if all columns except one are runs, so that [`each_run`](Self::each_run) is
    /// applicable.
    pub(super) fn are_runs(&self, but: Option<usize>) -> bool {
        let mut columns = self.columns.iter().enumerate();
        columns.all(|(number, column)| but == Some(number) || matches!(column.codes, Codes::Runs(_)))
    }

    /// Calls `with` for each run of equal keys, without a column's part. The other columns must be
    /// runs.
    pub(super) fn each_run(&self, but: Option<usize>, rows: Range<usize>, mut with: impl FnMut(u64, usize)) {
        let columns = self.columns.iter().enumerate().filter(|(number, _)| but != Some(*number));
        let mut columns: Vec<(&Shifted, &[CodeRun])> = columns
            .filter_map(|(_, column)| match column.codes {
                Codes::Runs(runs) => Some((column.shifted, from_row(runs, rows.start))),
                Codes::Each(_) => None,
            })
            .collect();
        let mut at = rows.start;
        while at < rows.end {
            let (mut key, mut end) = (0, rows.end);
            for (shifted, runs) in &columns {
                let Some(run) = runs.first() else { unreachable!("runs have all rows of a batch") };
                key += shifted.of(run.code);
                end = end.min(run.end);
            }
            with(key, end - at);
            at = end;
            for (_, runs) in &mut columns {
                *runs = from_row(runs, at);
            }
        }
    }
}

/// Returns the runs from a row on.
fn from_row(runs: &[CodeRun], row: usize) -> &[CodeRun] {
    // Usually the first or the second.
    let passed = match runs {
        [first, ..] if row < first.end => 0,
        [_, second, ..] if row < second.end => 1,
        _ => runs.partition_point(|run| run.end <= row),
    };
    runs.get(passed..).unwrap_or_default()
}

/// Returns the code of all rows in a column of runs, if it is the same.
fn one_code(column: &CodeColumn<'_>, rows: &Range<usize>) -> Option<u32> {
    let Codes::Runs(runs) = column.codes else { return None };
    from_row(runs, rows.start).first().filter(|run| run.end >= rows.end).map(|run| run.code)
}

/// Adds a column's runs to the keys of rows.
fn add_runs(shifted: &Shifted, runs: &[CodeRun], rows: &Range<usize>, keys: &mut [u64]) {
    let mut rest = keys;
    let mut at = rows.start;
    for run in from_row(runs, rows.start) {
        let end = run.end.min(rows.end);
        let (now, later) = rest.split_at_mut(end - at);
        let more = shifted.of(run.code);
        for key in now {
            *key += more;
        }
        (rest, at) = (later, end);
        if at == rows.end {
            break;
        }
    }
}

fn greatest(codes: Codes<'_>) -> u32 {
    match codes {
        Codes::Each(codes) => greatest_code(codes),
        Codes::Runs(runs) => runs.iter().map(|run| run.code).max().unwrap_or_default(),
    }
}

/// Returns true if each run ends after the previous one.
fn is_rising(codes: Codes<'_>) -> bool {
    match codes {
        Codes::Runs(runs) => {
            let ends = runs.iter().map(|run| run.end);
            std::iter::once(0).chain(ends).is_sorted_by(|one, next| one < next)
        }
        Codes::Each(_) => true,
    }
}

/// Returns true if all elements are equal.
pub(super) fn is_repeated<T: Copy + PartialEq>(all: &[T]) -> bool {
    let Some(first) = all.first().copied() else { return true };
    // Without a branch, the comparison is vectorised.
    all.iter().filter(|one| **one != first).count() == 0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int32Array};
    use nandle_columns::{CodeRun, Codes};

    use super::{CodeBatch, CodeColumn, KeySpace};

    /// Runs of these lengths with codes 0, 1, ….
    fn runs(lengths: &[usize]) -> Vec<CodeRun> {
        let mut end = 0;
        let run = |(code, length): (u32, &usize)| {
            end += length;
            CodeRun { end, code }
        };
        (0..).zip(lengths).map(run).collect()
    }

    #[test]
    fn keys_are_the_same_by_runs_and_by_each_row() {
        let column = |name: &str| {
            let values: ArrayRef = Arc::new(Int32Array::from_iter_values(0..10));
            (name.to_owned(), values)
        };
        let space = KeySpace::new(["a", "b", "c"].map(column).to_vec()).unwrap();
        let shifted = [0, 1, 2].map(|column| space.shifted(column, &(0..10).collect::<Vec<_>>()).unwrap());
        let runs = [runs(&[700, 1, 2, 3, 294]), runs(&[1000]), runs(&[1, 998, 1])];
        let each = [0, 1, 2].map(|column| Codes::Runs(&runs[column]).to_vec());
        let expected: Vec<u64> =
            (0..1000).map(|row| each.iter().fold(0, |key, codes| key * 10 + u64::from(codes[row]))).collect();
        for are_runs in 0..8 {
            let columns = [0, 1, 2].map(|column| CodeColumn {
                shifted: &shifted[column],
                codes: if are_runs >> column & 1 == 1 {
                    Codes::Runs(&runs[column])
                } else {
                    Codes::Each(&each[column])
                },
            });
            let batch = CodeBatch::new(&space, &columns).unwrap();
            for rows in [0..1000, 0..1, 699..702, 703..1000, 5..5] {
                let mut keys = vec![77];
                batch.keys_without(None, rows.clone(), &mut keys);
                assert_eq!(keys, expected[rows.clone()], "{are_runs} {rows:?}");
                batch.keys_without(Some(0), rows.clone(), &mut keys);
                let without: Vec<u64> = expected[rows.clone()].iter().map(|key| key % 100).collect();
                assert_eq!(keys, without, "{are_runs} {rows:?}");
                assert_eq!(batch.are_runs(Some(0)), are_runs >> 1 == 3);
                if batch.are_runs(Some(0)) {
                    keys.clear();
                    batch.each_run(Some(0), rows, |key, rows| keys.resize(keys.len() + rows, key));
                    assert_eq!(keys, without);
                }
            }
        }
    }
}
