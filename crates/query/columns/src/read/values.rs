use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::FieldLevels;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups, RowSelection};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::chunk::Chunk;
use super::rows;
use crate::ColumnsError;
use crate::number::{index, short};

/// Decodes the values of a column in some rows of a row group.
pub(super) fn decode(
    chunk: &mut Chunk,
    levels: &FieldLevels,
    data_type: &DataType,
    wanted: &[Range<u64>],
) -> Result<ArrayRef, ColumnsError> {
    if wanted.is_empty() {
        return Ok(new_empty_array(data_type));
    }
    let dictionary = chunk.dictionary()?;
    let (pages, held) = chunk.pages_with(wanted)?;
    let selected = rows::places_in(&held, wanted).into_iter().map(|rows| index(rows.start)..index(rows.end));
    let rows = index(rows::count(&held));
    let selection = RowSelection::from_consecutive_ranges(selected, rows);
    let pages = ChunkPages { dictionary, pages: Box::new(pages) };
    decode_pages(chunk, levels, Box::new(pages), rows, Some(selection), index(rows::count(wanted)))
}

/// Decodes the values of a chunk's dictionary.
pub(super) fn decode_dictionary(
    chunk: &mut Chunk,
    levels: &FieldLevels,
    data_type: &DataType,
    is_optional: bool,
) -> Result<ArrayRef, ColumnsError> {
    let Some(page) = chunk.dictionary()? else {
        return Err(ColumnsError::damaged(&chunk.place, "its pages need a dictionary, and it has none"));
    };
    let values = page.num_values();
    if values == 0 {
        return Ok(new_empty_array(data_type));
    }
    let pages =
        ChunkPages { dictionary: None, pages: Box::new(OnePage(Some(as_data_page(&page, is_optional)))) };
    decode_pages(chunk, levels, Box::new(pages), values as usize, None, values as usize)
}

/// Converts a dictionary page to a plain data page: adds definition levels, a run without nulls.
fn as_data_page(dictionary: &Page, is_optional: bool) -> Page {
    let values = dictionary.num_values();
    let mut bytes = Vec::new();
    if is_optional {
        let mut header = u64::from(values) << 1;
        loop {
            let [low, ..] = header.to_le_bytes();
            header >>= 7;
            if header == 0 {
                bytes.extend([low, 1]);
                break;
            }
            bytes.push(low | 0x80);
        }
    }
    let def_levels_byte_len = short(bytes.len());
    bytes.extend_from_slice(dictionary.buffer());
    Page::DataPageV2 {
        buf: bytes.into(),
        num_values: values,
        encoding: parquet::basic::Encoding::PLAIN,
        num_nulls: 0,
        num_rows: values,
        def_levels_byte_len,
        rep_levels_byte_len: 0,
        is_compressed: false,
        statistics: None,
    }
}

fn decode_pages(
    chunk: &Chunk,
    levels: &FieldLevels,
    pages: Box<dyn PageReader>,
    rows: usize,
    selection: Option<RowSelection>,
    expected: usize,
) -> Result<ArrayRef, ColumnsError> {
    let wrong = |source| ColumnsError::parquet("decoding", &chunk.place)(source);
    let column = OneColumn { chunk, rows, pages: Mutex::new(Some(pages)) };
    let mut reader =
        ParquetRecordBatchReader::try_new_with_row_groups(levels, &column, expected.max(1), selection)
            .map_err(wrong)?;
    let batch = reader.next().transpose().map_err(|error| wrong(as_parquet(error)))?;
    let array = batch.as_ref().and_then(|batch| batch.columns().first()).cloned();
    let got = array.as_ref().map_or(0, |array| array.len());
    array.filter(|_| got == expected).ok_or_else(|| {
        ColumnsError::damaged(&chunk.place, format!("its pages give {got} rows where {expected} should be"))
    })
}

/// Unwraps a Parquet error that Arrow's reader passed on as text.
fn as_parquet(error: ArrowError) -> ParquetError {
    match error {
        ArrowError::ParquetError(text) => {
            ParquetError::General(text.trim_start_matches("Parquet error: ").to_owned())
        }
        other => ParquetError::ArrowError(other.to_string()),
    }
}

/// The dictionary page, then data pages.
struct ChunkPages {
    dictionary: Option<Page>,
    pages: Box<dyn PageReader>,
}

impl Iterator for ChunkPages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ChunkPages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        match self.dictionary.take() {
            Some(page) => Ok(Some(page)),
            None => self.pages.get_next_page(),
        }
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        match &self.dictionary {
            Some(_) => Ok(Some(PageMetadata { num_rows: None, num_levels: None, is_dict: true })),
            None => self.pages.peek_next_page(),
        }
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        match self.dictionary.take() {
            Some(_) => Ok(()),
            None => self.pages.skip_next_page(),
        }
    }

    fn at_record_boundary(&mut self) -> ParquetResult<bool> {
        Ok(true)
    }
}

struct OnePage(Option<Page>);

impl Iterator for OnePage {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageReader for OnePage {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Ok(self.0.take())
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        let rows = self.0.as_ref().map(|page| page.num_values() as usize);
        Ok(rows.map(|rows| PageMetadata { num_rows: Some(rows), num_levels: Some(rows), is_dict: false }))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.0 = None;
        Ok(())
    }
}

/// One column of a row group, in the form that the decoder requires.
struct OneColumn<'a> {
    chunk: &'a Chunk,
    rows: usize,
    pages: Mutex<Option<Box<dyn PageReader>>>,
}

impl RowGroups for OneColumn<'_> {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, _: usize) -> ParquetResult<Box<dyn PageIterator>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner).take();
        let pages =
            pages.ok_or_else(|| ParquetError::General("the column was asked for twice".to_owned()))?;
        Ok(Box::new(OneChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.chunk.metadata().row_group(self.chunk.row_group())))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.chunk.metadata()
    }
}

struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = ParquetResult<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}
