use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::Page;

use super::hybrid::{Hybrid, Malformed};
use super::runs::CodeBuffer;
use super::{NULL_CODE, greatest_code};

/// Error while reading a page's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The page isn't dictionary-encoded although the chunk's footer says so; or the encoding of
    /// its levels has been deprecated since 2013.
    Encoding(Encoding),
    /// The bytes are invalid.
    Malformed,
    /// A code is beyond the end of the dictionary.
    Code(u32),
}

impl From<Malformed> for Refusal {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

/// Codes of a data page, read sequentially.
#[derive(Debug, Default)]
pub(super) struct PageCodes {
    /// 1 for a value, 0 for a null; `None` if the column has no nulls.
    levels: Option<Hybrid>,
    codes: Hybrid,
    /// Remaining rows.
    pub(super) rows_left: usize,
    /// Null rows among those counted last.
    nulls: Vec<u32>,
}

impl PageCodes {
    /// Starts another page.
    pub(super) fn open(&mut self, page: Page, is_optional: bool) -> Result<(), Refusal> {
        let (levels, values, encoding, rows) = split(page, is_optional)?;
        if !matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) {
            return Err(Refusal::Encoding(encoding));
        }
        self.levels = levels.map(|levels| Hybrid::new(levels, 1)).transpose()?;
        // A page of nulls may be empty, without even the width.
        let width = values.first().copied().unwrap_or_default();
        self.codes = Hybrid::new(values.slice(values.len().min(1)..), width)?;
        self.rows_left = rows;
        Ok(())
    }

    /// Drops references to the bytes of a step.
    pub(super) fn detach(&mut self) {
        if self.rows_left == 0 {
            (self.levels, self.codes) = (None, Hybrid::default());
        }
        self.levels.iter_mut().chain([&mut self.codes]).for_each(Hybrid::detach);
    }

    /// Appends the codes of the next rows; all are less than `values`. At least `rows` rows must be
    /// left. Returns true if a row is null.
    pub(super) fn add(&mut self, rows: usize, values: usize, into: &mut CodeBuffer) -> Result<bool, Refusal> {
        let as_runs = self.add_runs(rows, values, into)?;
        if as_runs == rows {
            return Ok(false);
        }
        let each = into.each();
        let before = each.len();
        each.resize(before + rows - as_runs, 0);
        self.fill(each.get_mut(before..).unwrap_or_default(), values)
    }

    /// Appends non-null rows as runs, while runs are worthwhile. Returns the number of rows.
    fn add_runs(&mut self, rows: usize, values: usize, into: &mut CodeBuffer) -> Result<usize, Refusal> {
        let Some(mut runs) = into.runs() else { return Ok(0) };
        if let Some(levels) = &mut self.levels
            && !matches!(levels.repeated()?, (1, length) if length >= rows)
        {
            return Ok(0);
        }
        let added = self.codes.fill_runs(rows, &mut runs)?;
        let greatest = runs.greatest();
        if added > 0 && greatest as usize >= values {
            return Err(Refusal::Code(greatest));
        }
        self.levels.iter_mut().try_for_each(|levels| levels.skip(added))?;
        self.rows_left -= added;
        Ok(added)
    }

    /// Fills `into` with the codes of the next rows; all are less than `values`. At least as many
    /// rows must be left. Returns true if a row is null.
    fn fill(&mut self, into: &mut [u32], values: usize) -> Result<bool, Refusal> {
        self.rows_left -= into.len();
        let present = self.present(into.len())?;
        let filled = into.get_mut(..present).unwrap_or_default();
        self.codes.fill(filled)?;
        let greatest = greatest_code(filled);
        if present > 0 && greatest as usize >= values {
            return Err(Refusal::Code(greatest));
        }
        if present < into.len() {
            spread(into, &self.nulls);
        }
        Ok(present < into.len())
    }

    /// Skips rows, at most as many as are left.
    pub(super) fn skip(&mut self, rows: usize) -> Result<(), Refusal> {
        self.rows_left -= rows;
        let present = self.present(rows)?;
        Ok(self.codes.skip(present)?)
    }

    /// Counts the non-null rows among the next ones, and records the nulls.
    fn present(&mut self, rows: usize) -> Result<usize, Refusal> {
        let Some(levels) = &mut self.levels else { return Ok(rows) };
        levels.zeros(rows, &mut self.nulls)?;
        Ok(rows - self.nulls.len())
    }
}

/// Moves the codes from the front to the non-null rows.
fn spread(into: &mut [u32], nulls: &[u32]) {
    let mut end = into.len();
    // Backwards, so that no code is overwritten before it moves. A row moves by the number of nulls
    // before it.
    for (before, null) in nulls.iter().enumerate().rev() {
        let row = *null as usize;
        into.copy_within(row - before..end - before - 1, row + 1);
        into.get_mut(row).into_iter().for_each(|slot| *slot = NULL_CODE);
        end = row;
    }
}

/// Returns levels, values, their encoding, and the number of rows.
fn split(page: Page, is_optional: bool) -> Result<(Option<Bytes>, Bytes, Encoding, usize), Refusal> {
    match page {
        Page::DataPage { mut buf, num_values, encoding, def_level_encoding, .. } => {
            let rows = num_values as usize;
            if !is_optional {
                return Ok((None, buf, encoding, rows));
            }
            if def_level_encoding != Encoding::RLE {
                return Err(Refusal::Encoding(def_level_encoding));
            }
            let length =
                buf.first_chunk().copied().map(u32::from_le_bytes).ok_or(Refusal::Malformed)? as usize;
            if buf.len() - 4 < length {
                return Err(Refusal::Malformed);
            }
            let mut levels = buf.split_to(4 + length);
            Ok((Some(levels.split_off(4)), buf, encoding, rows))
        }
        Page::DataPageV2 {
            mut buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
        } => {
            let (repetition, definition) = (rep_levels_byte_len as usize, def_levels_byte_len as usize);
            if buf.len() < repetition.saturating_add(definition) {
                return Err(Refusal::Malformed);
            }
            let mut levels = buf.split_to(repetition + definition);
            let levels = is_optional.then(|| levels.split_off(repetition));
            Ok((levels, buf, encoding, num_values as usize))
        }
        Page::DictionaryPage { encoding, .. } => Err(Refusal::Encoding(encoding)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn codes_are_spread_to_the_rows_that_are_not_null(rows in prop::collection::vec(prop::option::weighted(0.8, 0_u32..1000), 0..100)) {
            let present = rows.iter().flatten().copied();
            let nulls: Vec<u32> =
                (0..).zip(&rows).filter(|(_, row)| row.is_none()).map(|(number, _)| number).collect();
            let mut codes: Vec<u32> = present.chain(nulls.iter().map(|_| 12_345)).collect();
            spread(&mut codes, &nulls);
            let expected: Vec<u32> = rows.iter().map(|row| row.unwrap_or(NULL_CODE)).collect();
            prop_assert_eq!(codes, expected);
        }
    }
}
