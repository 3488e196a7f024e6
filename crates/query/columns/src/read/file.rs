use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef};
use bytes::Bytes;
use parquet::DecodeResult;
use parquet::arrow::{
    FieldLevels, ProjectionMask, parquet_column, parquet_to_arrow_field_levels, parquet_to_arrow_schema,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataPushDecoder};

use super::bounds::with_believed;
use super::chunk::{are_sound, begin_with_rows, indexed_pages};
use crate::guard::guarded;
use crate::number::index;
use crate::sums::{BLOCK_BYTES, Sums};
use crate::{ColumnsError, Place, ReadAt};

/// Length of the first read at the end of a file, before the length of the footer is known. A
/// larger footer takes one more read.
const TAIL_BYTES: u64 = 64 << 10;

/// Magic number of a file with an encrypted footer, instead of `PAR1` (Parquet Modular Encryption,
/// section 5.2).
const ENCRYPTED_MAGIC: &[u8] = b"PARE";

/// Limit on the rows of a file: plans allocate memory per step, so a hostile footer must not
/// inflate it.
const ROWS_MAX: i64 = 1 << 36;

/// A Parquet file with its footer and page index in memory.
#[derive(Debug)]
pub struct ParquetFile {
    name: String,
    source: Arc<dyn ReadAt>,
    sums: Option<Arc<Sums>>,
    metadata: Arc<ParquetMetaData>,
    schema: SchemaRef,
}

/// A flat column of a file.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) field: FieldRef,
    /// Copy of `field` with the values' type instead of a dictionary.
    pub(crate) value_field: FieldRef,
    /// Number of its leaf in the file.
    pub(crate) leaf: usize,
    /// Levels to decode `field`.
    pub(crate) levels: FieldLevels,
    /// Levels to decode `value_field`.
    pub(crate) value_levels: FieldLevels,
    /// True if it may contain nulls.
    pub(crate) optional: bool,
}

/// Type of a column's values, inside or outside of a dictionary.
pub(crate) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    }
}

/// Columns of the first file; nullable if they are so in any file. Empty without files.
pub(crate) fn common_schema(files: &[Arc<ParquetFile>]) -> SchemaRef {
    let Some(first) = files.first() else { return Arc::new(Schema::empty()) };
    let may_be_null = |name: &str| {
        let fields = files.iter().filter_map(|file| file.schema.fields().find(name));
        fields.map(|(_, field)| field).any(|field| field.is_nullable())
    };
    let common = |field: &FieldRef| field.as_ref().clone().with_nullable(may_be_null(field.name()));
    let fields: Fields = first.schema.fields().iter().map(common).collect();
    Arc::new(Schema::new_with_metadata(fields, first.schema.metadata().clone()))
}

impl ParquetFile {
    /// Opens a file under `name`, and verifies its checksums if it has them.
    ///
    /// # Errors
    /// It can't be read, isn't Parquet, or is damaged.
    pub fn open(name: &str, source: Arc<dyn ReadAt>, sums: Option<Arc<Sums>>) -> Result<Self, ColumnsError> {
        let place = Place::of_file(name);
        let metadata = guarded(&place, || read_metadata(&place, source.as_ref(), sums.as_deref()))?;
        let believed =
            || with_believed(metadata).map_err(ColumnsError::parquet("reading statistics", &place));
        let metadata = guarded(&place, believed)?;
        let schema = guarded(&place, || {
            let file = metadata.file_metadata();
            parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata())
                .map_err(ColumnsError::parquet("reading the schema", &place))
        })?;
        Ok(Self {
            name: name.to_owned(),
            source,
            sums,
            metadata: Arc::new(metadata),
            schema: Arc::new(schema),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its bytes.
    pub fn source(&self) -> &Arc<dyn ReadAt> {
        &self.source
    }

    /// Its checksums, if any.
    pub fn sums(&self) -> Option<&Arc<Sums>> {
        self.sums.as_ref()
    }

    /// Its footer, and its page index if it has one.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        &self.metadata
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Number of its rows.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or_default()
    }

    pub(crate) fn column(&self, name: &str) -> Result<Column, ColumnsError> {
        let place = Place { column: Some(name.to_owned()), ..Place::of_file(&self.name) };
        let Some((_, field)) = self.schema.fields().find(name) else {
            let known = self.schema.fields().iter().map(|field| field.name().clone()).collect();
            let (file, column) = (self.name.clone(), name.to_owned());
            return Err(ColumnsError::UnknownColumn { file, column, known });
        };
        let descriptor = self.metadata.file_metadata().schema_descr();
        let found = parquet_column(descriptor, &self.schema, name)
            .filter(|(leaf, _)| descriptor.column(*leaf).max_rep_level() == 0);
        let Some((leaf, _)) = found else {
            let flat = self.schema.fields().iter().filter(|field| !value_type(field.data_type()).is_nested());
            let flat: Vec<&str> = flat.map(|field| field.name().as_str()).collect();
            let why =
                format!("it is nested, and only flat columns can be read; flat are: {}", flat.join(", "));
            return Err(ColumnsError::Unsupported { file: self.name.clone(), column: name.to_owned(), why });
        };
        guarded(&place, || {
            let levels = |fields: &Fields| {
                parquet_to_arrow_field_levels(
                    descriptor,
                    ProjectionMask::leaves(descriptor, [leaf]),
                    Some(fields),
                )
                .map_err(ColumnsError::parquet("reading the schema", &place))
            };
            let plain = |field: &FieldRef| {
                let data_type = value_type(field.data_type()).clone();
                Arc::new(field.as_ref().clone().with_data_type(data_type))
            };
            let values: Fields = self.schema.fields().iter().map(plain).collect();
            Ok(Column {
                field: Arc::clone(field),
                value_field: plain(field),
                leaf,
                levels: levels(self.schema.fields())?,
                value_levels: levels(&values)?,
                optional: descriptor.column(leaf).max_def_level() > 0,
            })
        })
    }

    /// Reads and verifies a byte range.
    ///
    /// # Errors
    /// It can't be read, or is damaged.
    pub fn read(&self, range: Range<u64>) -> Result<Bytes, ColumnsError> {
        let place = Place::of_file(&self.name);
        read_checked(&place, self.source.as_ref(), self.sums.as_deref(), range.clone()).map_err(|error| {
            match error {
                ColumnsError::Damaged { why, .. } => ColumnsError::damaged(&self.place_of(&range), why),
                other => other,
            }
        })
    }

    /// Column chunks that overlap a byte range, or the whole file if none does.
    pub(crate) fn places_of(&self, range: &Range<u64>) -> Vec<Place> {
        let mut places = Vec::new();
        for (row_group, group) in self.metadata.row_groups().iter().enumerate() {
            for chunk in group.columns() {
                let (start, length) = chunk.byte_range();
                if start < range.end && range.start < start + length {
                    places.push(Place::of_chunk(&self.name, row_group, &chunk.column_path().string()));
                }
            }
        }
        if places.is_empty() {
            places.push(Place::of_file(&self.name));
        }
        places
    }

    /// First column chunk that overlaps a byte range, or the whole file.
    pub fn place_of(&self, range: &Range<u64>) -> Place {
        self.places_of(range).swap_remove(0)
    }
}

fn read_checked(
    place: &Place,
    source: &dyn ReadAt,
    sums: Option<&Sums>,
    range: Range<u64>,
) -> Result<Bytes, ColumnsError> {
    let length_bytes = source.length_bytes();
    if range.start > range.end || range.end > length_bytes {
        let why = format!("bytes {range:?} are wanted, and it has {length_bytes}");
        return Err(ColumnsError::damaged(place, why));
    }
    if let Some(sums) = sums
        && sums.length_bytes() != length_bytes
    {
        let why = format!("it has {length_bytes} bytes, and {} were written", sums.length_bytes());
        return Err(ColumnsError::damaged(place, why));
    }
    let block_bytes = if sums.is_some() { BLOCK_BYTES } else { 1 };
    let start = range.start / block_bytes * block_bytes;
    let end = range.end.next_multiple_of(block_bytes).min(length_bytes);
    let mut bytes =
        vec![0; usize::try_from(end - start).map_err(|_| ColumnsError::damaged(place, "it is too long"))?];
    source.read_exact_at(start, &mut bytes).map_err(ColumnsError::io("reading", &place.file))?;
    if let Some(sums) = sums {
        sums.check(start, &bytes).map_err(|mismatch| ColumnsError::damaged(place, mismatch.to_string()))?;
    }
    let from = index(range.start - start);
    Ok(Bytes::from(bytes).slice(from..from + index(range.end - range.start)))
}

fn read_metadata(
    place: &Place,
    source: &dyn ReadAt,
    sums: Option<&Sums>,
) -> Result<ParquetMetaData, ColumnsError> {
    let wrong = |source| ColumnsError::parquet("reading the footer", place)(source);
    let length_bytes = source.length_bytes();
    let decoder = ParquetMetaDataPushDecoder::try_new(length_bytes).map_err(wrong)?;
    let mut decoder = decoder.with_page_index_policy(PageIndexPolicy::Optional);
    let tail = length_bytes.saturating_sub(TAIL_BYTES)..length_bytes;
    // Damage in the prefetched bytes needn't affect the footer: in that case read only what is
    // requested.
    if let Ok(bytes) = read_checked(place, source, sums, tail.clone()) {
        if bytes.ends_with(ENCRYPTED_MAGIC) {
            return Err(ColumnsError::Encrypted { file: place.file.clone() });
        }
        decoder.push_range(tail, bytes).map_err(wrong)?;
    }
    loop {
        match decoder.try_decode().map_err(wrong)? {
            DecodeResult::Data(metadata) => return checked_metadata(place, metadata, length_bytes),
            DecodeResult::NeedsData(ranges) => {
                for range in ranges {
                    let bytes = read_checked(place, source, sums, range.clone())?;
                    decoder.push_range(range, bytes).map_err(wrong)?;
                }
            }
            DecodeResult::Finished => return Err(ColumnsError::damaged(place, "its footer ends early")),
        }
    }
}

/// Checks that column chunks lie within the file, and that the row counts match.
fn checked_metadata(
    place: &Place,
    metadata: ParquetMetaData,
    length_bytes: u64,
) -> Result<ParquetMetaData, ColumnsError> {
    let (mut rows, mut pages_have_rows) = (0_i64, true);
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let group_place = Place { row_group: Some(number), ..place.clone() };
        if group.num_rows() < 0 {
            return Err(ColumnsError::damaged(&group_place, format!("it has {} rows", group.num_rows())));
        }
        rows = rows.saturating_add(group.num_rows());
        for (leaf, chunk) in group.columns().iter().enumerate() {
            let column = chunk.column_path().string();
            let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
            let end = start.checked_add(chunk.compressed_size());
            let inside =
                |end: i64| start >= 0 && chunk.compressed_size() >= 0 && end.cast_unsigned() <= length_bytes;
            let chunk_place = Place { column: Some(column), ..group_place.clone() };
            if !end.is_some_and(inside) {
                let why = format!(
                    "it is said to be {} bytes at {start} of {length_bytes}",
                    chunk.compressed_size()
                );
                return Err(ColumnsError::damaged(&chunk_place, why));
            }
            if let Some(pages) = indexed_pages(&metadata, number, leaf) {
                if !are_sound(pages, start, start + chunk.compressed_size(), group.num_rows()) {
                    return Err(ColumnsError::damaged(&chunk_place, "its page index contradicts itself"));
                }
                pages_have_rows &= begin_with_rows(pages);
            }
        }
    }
    if rows > ROWS_MAX {
        let why = format!("it is said to have {rows} rows, and {ROWS_MAX} at most are read");
        return Err(ColumnsError::damaged(place, why));
    }
    if rows != metadata.file_metadata().num_rows() {
        let why = format!(
            "its row groups have {rows} rows together, and its footer says {}",
            metadata.file_metadata().num_rows()
        );
        return Err(ColumnsError::damaged(place, why));
    }
    if pages_have_rows {
        return Ok(metadata);
    }
    // Without indexes, row groups are read whole.
    Ok(metadata.into_builder().set_column_index(None).set_offset_index(None).build())
}
