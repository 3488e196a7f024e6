use std::ops::Range;

use arrow_array::BooleanArray;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::statistics::Statistics;

use super::chunk;
use super::file::{Column, ParquetFile};
use super::predicate::BoundPredicate;
use super::rows::{self, Rows};
use crate::guard::guarded;
use crate::{ColumnsError, Place};

/// Returns the rows of a row group that may match the predicates, by the statistics of chunk and
/// pages.
pub(super) fn candidate_rows(
    file: &ParquetFile,
    row_group: usize,
    predicates: &[(&Column, &BoundPredicate)],
) -> Result<Rows, ColumnsError> {
    let group = file.metadata().row_group(row_group);
    let all = u64::try_from(group.num_rows()).unwrap_or_default();
    let mut candidates = rows::one(0..all);
    for (column, predicate) in predicates {
        let place = Place::of_chunk(file.name(), row_group, column.field.name());
        let fit = guarded(&place, || by_statistics(file, row_group, column, predicate, &place))?;
        candidates = rows::intersection(&candidates, &fit);
    }
    Ok(candidates)
}

fn by_statistics(
    file: &ParquetFile,
    row_group: usize,
    column: &Column,
    predicate: &BoundPredicate,
    place: &Place,
) -> Result<Rows, ColumnsError> {
    let wrong = |source| ColumnsError::parquet("reading statistics", place)(source);
    let metadata = file.metadata();
    let group = metadata.row_group(row_group);
    let row_count = u64::try_from(group.num_rows()).unwrap_or_default();
    let statistics = StatisticsConverter::from_column_index(
        column.leaf,
        &column.value_field,
        metadata.file_metadata().schema_descr(),
    )
    .map_err(wrong)?;
    let least = statistics.row_group_mins([group]).map_err(wrong)?;
    let greatest = statistics.row_group_maxes([group]).map_err(wrong)?;
    let all = rows::one(0..row_count);
    let nulls = group.column(column.leaf).statistics().and_then(Statistics::null_count_opt);
    let whole = predicate.may_match(&least, &greatest)?;
    let ruled_out = !whole.is_empty() && !whole.value(0);
    if ruled_out || !predicate.may_match_nulls(nulls_of(column, nulls), row_count) {
        return Ok(Rows::new());
    }
    let Some(locations) = chunk::indexed_pages(metadata, row_group, column.leaf) else { return Ok(all) };
    let (Some(columns), Some(offsets)) = (metadata.column_index(), metadata.offset_index()) else {
        return Ok(all);
    };
    let least = statistics.data_page_mins(columns, offsets, [&row_group]).map_err(wrong)?;
    let greatest = statistics.data_page_maxes(columns, offsets, [&row_group]).map_err(wrong)?;
    let pages = chunk::page_rows(locations, row_count);
    let by_values = selected(&pages, &predicate.may_match(&least, &greatest)?);
    let index = columns.get(row_group).and_then(|columns| columns.get(column.leaf));
    let by_nulls = index.and_then(ColumnIndexMetaData::null_counts).and_then(|stated| {
        let may = pages.iter().zip(stated).map(|(page, nulls)| {
            let nulls = nulls_of(column, u64::try_from(*nulls).ok());
            Some(predicate.may_match_nulls(nulls, page.end - page.start))
        });
        selected(&pages, &may.collect())
    });
    Ok(rows::intersection(by_values.as_ref().unwrap_or(&all), by_nulls.as_ref().unwrap_or(&all)))
}

/// Number of nulls, if known. A non-nullable column has none.
fn nulls_of(column: &Column, stated: Option<u64>) -> Option<u64> {
    if column.optional { stated } else { Some(0) }
}

/// Returns the rows of the pages that may match; `None` if the statistics don't correspond to the
/// pages.
fn selected(pages: &[Range<u64>], may: &BooleanArray) -> Option<Rows> {
    if pages.len() != may.len() {
        return None;
    }
    let mut rows = Rows::new();
    let fit = pages.iter().zip(may).filter(|(_, may)| may.unwrap_or(true));
    fit.for_each(|(page, _)| rows::append(&mut rows, page.clone()));
    Some(rows)
}
