use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::DataType;
use bytes::{Buf, Bytes, buf};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::file::Column;
use super::rows::{self, Rows};
use crate::number::index;
use crate::{ColumnsError, Place};

/// Returns the pages of a chunk from the file's page index, if it has one.
pub(super) fn indexed_pages(
    metadata: &ParquetMetaData,
    row_group: usize,
    leaf: usize,
) -> Option<&[PageLocation]> {
    let pages = metadata.offset_index()?.get(row_group)?.get(leaf)?.page_locations();
    (!pages.is_empty()).then_some(pages.as_slice())
}

/// Returns true if pages and their rows are consecutive within the chunk.
pub(super) fn are_sound(pages: &[PageLocation], start: i64, end: i64, rows: i64) -> bool {
    let mut offset = start;
    let begins = pages.first().is_some_and(|page| page.first_row_index == 0);
    let ordered = pages.iter().all(|page| {
        let follows = page.offset >= offset && page.compressed_page_size > 0;
        offset = page.offset.saturating_add(i64::from(page.compressed_page_size));
        follows && offset <= end && (page.first_row_index < rows || rows == 0)
    });
    begins && ordered && pages.is_sorted_by(|one, next| one.first_row_index <= next.first_row_index)
}

/// Returns true if each page begins with a new row. Some writers continue a list in the next page,
/// which the index then places at the same row; such an index can't locate rows.
pub(super) fn begin_with_rows(pages: &[PageLocation]) -> bool {
    pages.is_sorted_by(|one, next| one.first_row_index < next.first_row_index)
}

/// Returns the row range of each page.
pub(super) fn page_rows(pages: &[PageLocation], rows: u64) -> Vec<Range<u64>> {
    let starts = pages.iter().map(|page| page.first_row_index.cast_unsigned());
    let ends = starts.clone().skip(1).chain([rows]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Bytes of a column chunk in memory, while its row group is decoded.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) place: Place,
    metadata: Arc<ParquetMetaData>,
    row_group: usize,
    leaf: usize,
    bytes: Arc<ChunkBytes>,
    /// Unknown without an index until the chunk's bytes are in memory.
    pages: Option<Vec<PageLocation>>,
    dictionary: Dictionary,
    has_views: bool,
}

#[derive(Debug)]
enum Dictionary {
    Unread,
    None,
    Page(Page),
}

/// Reader of a chunk's pages.
pub(super) type Pages = SerializedPageReader<ChunkBytes>;

impl Chunk {
    pub(super) fn new(
        place: Place,
        metadata: &Arc<ParquetMetaData>,
        row_group: usize,
        column: &Column,
    ) -> Self {
        let leaf = column.leaf;
        let has_views = matches!(column.value_field.data_type(), DataType::Utf8View | DataType::BinaryView);
        let pages = indexed_pages(metadata, row_group, leaf).map(<[PageLocation]>::to_vec);
        let (metadata, bytes) = (Arc::clone(metadata), Arc::default());
        Self { place, metadata, row_group, leaf, bytes, pages, dictionary: Dictionary::Unread, has_views }
    }

    pub(super) fn metadata(&self) -> &Arc<ParquetMetaData> {
        &self.metadata
    }

    pub(super) const fn row_group(&self) -> usize {
        self.row_group
    }

    pub(super) fn column(&self) -> &ColumnChunkMetaData {
        self.metadata.row_group(self.row_group).column(self.leaf)
    }

    pub(super) fn rows(&self) -> u64 {
        u64::try_from(self.metadata.row_group(self.row_group).num_rows()).unwrap_or_default()
    }

    pub(super) fn add(&self, offset_bytes: u64, bytes: Bytes) {
        // View arrays refer to the bytes that they were read from.
        let bytes = if self.has_views { Bytes::copy_from_slice(&bytes) } else { bytes };
        self.bytes.parts().push((offset_bytes, bytes));
    }

    /// Drops bytes that no row from `row` on needs, or all bytes for `None`. The rest is copied, to
    /// free the memory of its reader.
    pub(super) fn release(&mut self, row: Option<u64>) -> Result<(), ColumnsError> {
        let Some(row) = row else {
            self.bytes.parts().clear();
            return Ok(());
        };
        self.dictionary()?;
        let pages = self.locate()?;
        let later = pages.partition_point(|page| page.first_row_index.cast_unsigned() <= row);
        let kept = pages.get(later.saturating_sub(1)).map_or(0, |page| page.offset.cast_unsigned());
        let mut parts = self.bytes.parts();
        parts.retain(|(offset, bytes)| offset + bytes.len() as u64 > kept);
        for (offset, bytes) in parts.iter_mut() {
            let passed = kept.saturating_sub(*offset);
            *bytes = Bytes::copy_from_slice(bytes.get(index(passed)..).unwrap_or_default());
            *offset += passed;
        }
        Ok(())
    }

    /// Returns the decompressed dictionary page.
    pub(super) fn dictionary(&mut self) -> Result<Option<Page>, ColumnsError> {
        if matches!(self.dictionary, Dictionary::Unread) {
            let mut reader = self.reader()?;
            let wrong = |source| ColumnsError::parquet("reading the dictionary", &self.place)(source);
            let is_first = reader.peek_next_page().map_err(wrong)?.is_some_and(|page| page.is_dict);
            let page = if is_first { reader.get_next_page().map_err(wrong)? } else { None };
            self.dictionary = page
                .filter(Page::is_dictionary_page)
                .map_or(Dictionary::None, |page| Dictionary::Page(owned(page)));
        }
        Ok(match &self.dictionary {
            Dictionary::Page(page) => Some(page.clone()),
            Dictionary::None | Dictionary::Unread => None,
        })
    }

    /// Returns the pages from the page with `row` on, and the first row of that page.
    pub(super) fn pages_from(&mut self, row: u64) -> Result<(Pages, u64), ColumnsError> {
        let mut reader = self.reader()?;
        let wrong = |source| ColumnsError::parquet("finding pages", &self.place)(source);
        if reader.peek_next_page().map_err(wrong)?.is_some_and(|page| page.is_dict) {
            reader.skip_next_page().map_err(wrong)?;
        }
        let pages = self.pages.as_deref().unwrap_or_default();
        let before =
            pages.partition_point(|page| page.first_row_index.cast_unsigned() <= row).saturating_sub(1);
        for _ in 0..before {
            reader.skip_next_page().map_err(wrong)?;
        }
        Ok((reader, pages.get(before).map_or(0, |page| page.first_row_index.cast_unsigned())))
    }

    /// Returns the pages that contain `wanted` rows, and these pages' rows. Pages between them,
    /// which weren't read, are left out: the decoder may access them, because it reads short runs
    /// as one and drops unselected rows.
    pub(super) fn pages_with(&mut self, wanted: &[Range<u64>]) -> Result<(Pages, Rows), ColumnsError> {
        let rows = self.rows();
        let pages = self.locate()?;
        let (mut kept, mut kept_rows) = (Vec::new(), Rows::new());
        for (page, rows) in pages.iter().zip(page_rows(pages, rows)) {
            if rows::touches(wanted, &rows) {
                let first_row_index = rows::count(&kept_rows).cast_signed();
                kept.push(PageLocation { first_row_index, ..page.clone() });
                rows::append(&mut kept_rows, rows);
            }
        }
        let mut reader = self.reader_of(Some(kept), rows::count(&kept_rows))?;
        let wrong = |source| ColumnsError::parquet("finding pages", &self.place)(source);
        // The decoder receives the dictionary separately.
        if reader.peek_next_page().map_err(wrong)?.is_some_and(|page| page.is_dict) {
            reader.skip_next_page().map_err(wrong)?;
        }
        Ok((reader, kept_rows))
    }

    fn reader(&mut self) -> Result<Pages, ColumnsError> {
        let pages = self.locate()?.to_vec();
        self.reader_of(Some(pages), self.rows())
    }

    fn reader_of(&self, pages: Option<Vec<PageLocation>>, rows: u64) -> Result<Pages, ColumnsError> {
        let rows =
            usize::try_from(rows).map_err(|_| ColumnsError::damaged(&self.place, "it has too many rows"))?;
        SerializedPageReader::new(Arc::clone(&self.bytes), self.column(), rows, pages)
            .map_err(ColumnsError::parquet("reading pages", &self.place))
    }

    fn locate(&mut self) -> Result<&[PageLocation], ColumnsError> {
        if self.pages.is_none() {
            self.pages = Some(self.scan_pages()?);
        }
        Ok(self.pages.as_deref().unwrap_or_default())
    }

    /// Locates the pages of a chunk without an index by their headers.
    fn scan_pages(&self) -> Result<Vec<PageLocation>, ColumnsError> {
        let wrong = |source| ColumnsError::parquet("reading page headers", &self.place)(source);
        let mut reader = self.reader_of(None, self.rows())?;
        let mut pages: Vec<PageLocation> = Vec::new();
        let mut row = 0;
        while let Some(page) = reader.peek_next_page().map_err(wrong)? {
            let offset = self.bytes.last_header().cast_signed();
            reader.skip_next_page().map_err(wrong)?;
            if !page.is_dict {
                pages.push(PageLocation { offset, compressed_page_size: 0, first_row_index: row });
                let rows = page.num_rows.or(page.num_levels).unwrap_or_default();
                row = row.saturating_add(i64::try_from(rows).unwrap_or(i64::MAX));
            }
        }
        let (start, length) = self.column().byte_range();
        let end = (start + length).cast_signed();
        let ends: Vec<i64> = pages.iter().skip(1).map(|page| page.offset).chain([end]).collect();
        for (page, end) in pages.iter_mut().zip(ends) {
            page.compressed_page_size = i32::try_from(end - page.offset)
                .map_err(|_| ColumnsError::damaged(&self.place, "a page is longer than 2 GiB"))?;
        }
        // Remove pages without rows: otherwise two pages would begin with the same row.
        let rows = self.rows().cast_signed();
        let next: Vec<i64> = pages.iter().skip(1).map(|page| page.first_row_index).chain([row]).collect();
        let mut next = next.into_iter();
        pages.retain(|page| next.next().is_some_and(|next| next > page.first_row_index));
        if row != rows {
            return Err(ColumnsError::damaged(
                &self.place,
                format!("its pages have {row} rows, and its row group {rows}"),
            ));
        }
        Ok(pages)
    }
}

/// Copies a dictionary page: an uncompressed page refers to the bytes read.
fn owned(mut page: Page) -> Page {
    if let Page::DictionaryPage { buf, .. } = &mut page {
        *buf = Bytes::copy_from_slice(buf);
    }
    page
}

/// Bytes of a chunk in memory, by offset in the file.
#[derive(Debug, Default)]
pub(super) struct ChunkBytes {
    parts: Mutex<Vec<(u64, Bytes)>>,
    last_header: Mutex<u64>,
}

impl ChunkBytes {
    fn parts(&self) -> MutexGuard<'_, Vec<(u64, Bytes)>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_header(&self) -> u64 {
        *self.last_header.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes from offset `start` on.
    fn from(&self, start: u64) -> ParquetResult<Bytes> {
        let parts = self.parts();
        let found =
            parts.iter().find(|(offset, bytes)| (*offset..offset + bytes.len() as u64).contains(&start));
        let rest = found.map(|(offset, bytes)| bytes.slice(index(start - offset)..));
        rest.ok_or_else(|| ParquetError::EOF(format!("byte {start} of the file isn't in memory")))
    }
}

impl Length for ChunkBytes {
    fn len(&self) -> u64 {
        self.parts().iter().map(|(offset, bytes)| offset + bytes.len() as u64).max().unwrap_or_default()
    }
}

impl ChunkReader for ChunkBytes {
    type T = buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        *self.last_header.lock().unwrap_or_else(PoisonError::into_inner) = start;
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let mut rest = self.from(start)?;
        if rest.len() >= length {
            return Ok(rest.split_to(length));
        }
        // Join consecutive parts: a page may span several wants.
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let missing = (length - bytes.len()) as u64;
            let next = self.from(start + bytes.len() as u64)?;
            next.reader().take(missing).read_to_end(&mut bytes)?;
        }
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(offset: i64, first_row_index: i64) -> PageLocation {
        PageLocation { offset, compressed_page_size: 10, first_row_index }
    }

    /// In lists of some writers, the second page continues the row of the first.
    #[test]
    fn pages_may_begin_at_one_row_but_tell_no_rows_then() {
        let shared = [page(0, 0), page(10, 0), page(20, 2)];
        assert!(are_sound(&shared, 0, 30, 3) && !begin_with_rows(&shared));
        let own = [page(0, 0), page(10, 1)];
        assert!(are_sound(&own, 0, 30, 3) && begin_with_rows(&own));
        assert!(!are_sound(&[page(0, 0), page(10, 2), page(20, 1)], 0, 30, 3), "backwards");
        assert!(!are_sound(&[page(0, 0), page(5, 1)], 0, 30, 3), "one in the other");
    }
}
