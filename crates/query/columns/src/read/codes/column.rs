use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::basic::Encoding;
use parquet::column::page::PageReader;
use parquet::file::metadata::ColumnChunkMetaData;

use super::page::{PageCodes, Refusal};
use super::{CodeColumn, NULL_CODE};
use crate::number::index;
use crate::read::chunk::{Chunk, Pages};
use crate::read::file::Column;
use crate::read::{rows, values};
use crate::{ColumnsError, Place};

/// Source of a column's codes in a row group.
pub(super) enum Source {
    /// Data pages.
    Pages(Box<PageSource>),
    /// Values, if the column isn't entirely dictionary-encoded.
    Values(ValueSource),
}

impl Source {
    /// Starts a row group; sets the dictionary if it has one.
    pub(super) fn open(
        chunk: &mut Chunk,
        column: &Column,
        into: &mut CodeColumn,
    ) -> Result<Self, ColumnsError> {
        if !is_dictionary_encoded(chunk.column()) {
            return Ok(Self::Values(ValueSource::default()));
        }
        let data_type = column.value_field.data_type();
        into.dictionary = values::decode_dictionary(chunk, &column.value_levels, data_type, column.optional)?;
        into.dictionary_number += 1;
        Ok(Self::Pages(Box::default()))
    }

    /// Drops references to the bytes of a step.
    pub(super) fn detach(&mut self) {
        if let Self::Pages(source) = self {
            source.page.detach();
        }
    }

    /// Replaces the codes by those of `wanted` rows, which follow all earlier ones.
    pub(super) fn fill(
        &mut self,
        chunk: &mut Chunk,
        column: &Column,
        wanted: &[Range<u64>],
        into: &mut CodeColumn,
    ) -> Result<(), ColumnsError> {
        match self {
            Self::Pages(source) => {
                into.codes.clear();
                into.has_nulls = false;
                for range in wanted {
                    source.add(chunk, column, range, into)?;
                }
                into.codes.conclude();
            }
            Self::Values(source) => source.fill(index(rows::count(wanted)), into),
        }
        Ok(())
    }
}

/// Codes derived from values, for many rows at once, because each start is expensive.
#[derive(Default)]
pub(super) struct ValueSource {
    codes: Vec<u32>,
    /// Number of codes handed out.
    taken: usize,
}

impl ValueSource {
    /// Encodes further rows with their own dictionary.
    pub(super) fn encode(
        &mut self,
        chunk: &mut Chunk,
        column: &Column,
        rows: &[Range<u64>],
        into: &mut CodeColumn,
    ) -> Result<(), ColumnsError> {
        let array = values::decode(chunk, &column.value_levels, column.value_field.data_type(), rows)?;
        self.codes.clear();
        self.taken = 0;
        into.dictionary_number += 1;
        into.dictionary = encode(&array, &mut self.codes).map_err(|why| unsupported(&chunk.place, why))?;
        Ok(())
    }

    fn fill(&mut self, rows: usize, into: &mut CodeColumn) {
        let codes = self.codes.get(self.taken..).and_then(|rest| rest.get(..rows));
        let Some(codes) = codes else { unreachable!("rows are handed out that were encoded before") };
        into.codes.clear();
        into.codes.each().extend_from_slice(codes);
        into.has_nulls = codes.contains(&NULL_CODE);
        self.taken += rows;
    }
}

/// Position in the pages of a row group.
#[derive(Default)]
pub(super) struct PageSource {
    pages: Option<Pages>,
    page: PageCodes,
    /// The next row.
    row: u64,
}

impl PageSource {
    /// Appends the codes of some rows.
    fn add(
        &mut self,
        chunk: &mut Chunk,
        column: &Column,
        rows: &Range<u64>,
        into: &mut CodeColumn,
    ) -> Result<(), ColumnsError> {
        self.seek(chunk, column, rows.start)?;
        while self.row < rows.end {
            if self.page.rows_left == 0 {
                self.next_page(chunk, column)?;
            }
            let now = index(rows.end - self.row).min(self.page.rows_left);
            let added = self.page.add(now, into.dictionary.len(), &mut into.codes);
            into.has_nulls |= added.map_err(|refusal| refused(&chunk.place, refusal))?;
            self.row += now as u64;
        }
        Ok(())
    }

    /// Seeks to a row, within the page or in a later one.
    fn seek(&mut self, chunk: &mut Chunk, column: &Column, row: u64) -> Result<(), ColumnsError> {
        let distance = row - self.row;
        if self.pages.is_none() || distance > self.page.rows_left as u64 {
            let (pages, first) = chunk.pages_from(row)?;
            self.pages = Some(pages);
            self.row = first;
            self.page.rows_left = 0;
        }
        while self.row < row {
            if self.page.rows_left == 0 {
                self.next_page(chunk, column)?;
            }
            let passed = (row - self.row).min(self.page.rows_left as u64);
            self.page.skip(index(passed)).map_err(|refusal| refused(&chunk.place, refusal))?;
            self.row += passed;
        }
        Ok(())
    }

    fn next_page(&mut self, chunk: &Chunk, column: &Column) -> Result<(), ColumnsError> {
        let wrong = |source| ColumnsError::parquet("reading a page", &chunk.place)(source);
        let page = match &mut self.pages {
            Some(pages) => pages.get_next_page().map_err(wrong)?,
            None => None,
        };
        let page =
            page.ok_or_else(|| ColumnsError::damaged(&chunk.place, "its pages end before its rows do"))?;
        self.page.open(page, column.optional).map_err(|refusal| refused(&chunk.place, refusal))
    }
}

/// Returns true if all data pages contain dictionary codes. Without page statistics in the footer,
/// older writers list `PLAIN_DICTIONARY` but not `PLAIN` if there is no other encoding; in doubt
/// returns false.
pub(in crate::read) fn is_dictionary_encoded(column: &ColumnChunkMetaData) -> bool {
    let codes = [Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];
    if let Some(data_pages) = column.page_encoding_stats_mask() {
        return data_pages.encodings().next().is_some()
            && data_pages.encodings().all(|encoding| codes.contains(&encoding));
    }
    let levels = [Encoding::RLE, Encoding::PLAIN_DICTIONARY];
    column.encodings_mask().is_set(Encoding::PLAIN_DICTIONARY)
        && column.encodings().all(|encoding| levels.contains(&encoding))
}

/// Builds a dictionary of values and appends their codes.
fn encode(array: &ArrayRef, codes: &mut Vec<u32>) -> Result<ArrayRef, String> {
    if let Some(booleans) = array.as_boolean_opt() {
        codes.extend(booleans.iter().map(|value| value.map_or(NULL_CODE, u32::from)));
        return Ok(Arc::new(BooleanArray::from(vec![false, true])));
    }
    let data_type = DataType::Dictionary(Box::new(DataType::UInt32), Box::new(array.data_type().clone()));
    let encoded = cast(array, &data_type).map_err(|error| error.to_string())?;
    let encoded = encoded.as_dictionary::<UInt32Type>();
    if encoded.null_count() == 0 {
        codes.extend_from_slice(encoded.keys().values());
    } else {
        codes.extend(encoded.keys().iter().map(|key| key.unwrap_or(NULL_CODE)));
    }
    Ok(Arc::clone(encoded.values()))
}

fn refused(place: &Place, refusal: Refusal) -> ColumnsError {
    match refusal {
        Refusal::Encoding(encoding) => {
            ColumnsError::damaged(place, format!("a page is {encoding}, which its footer doesn't say"))
        }
        Refusal::Malformed => ColumnsError::damaged(place, "a page's codes make no sense"),
        Refusal::Code(code) => {
            ColumnsError::damaged(place, format!("a page has code {code}, which isn't in the dictionary"))
        }
    }
}

fn unsupported(place: &Place, why: String) -> ColumnsError {
    let column = place.column.clone().unwrap_or_default();
    ColumnsError::Unsupported { file: place.file.clone(), column, why }
}
