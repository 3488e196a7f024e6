//! Row groups of a scan that may have matching rows, with their reads.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileSource, ParquetSource};
use nandle_columns::Place;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::filter_statistics::FilterStatistics;
use super::rehearsal::Rehearsal;
use crate::table::{FileOf, TableFiles, with_values};

/// Minimum number of row groups that justifies another thread.
const ROW_GROUPS_PER_THREAD: usize = 32;

/// A row group to read.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The row group as a separate file, as the engine's source opens it.
    pub(crate) file: PartitionedFile,
    /// Index of its file in the table.
    pub(crate) number: usize,
    /// Byte ranges in the order in which they are requested.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Rows before predicates.
    pub(crate) rows: u64,
    /// Its name in messages.
    pub(crate) place: Place,
}

impl Piece {
    pub(crate) fn wanted_bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }
}

/// Pieces of a scan, and the number of row groups in its files.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) files: Option<Arc<TableFiles>>,
    pub(crate) all: Vec<Piece>,
    pub(crate) row_groups: usize,
    /// True if the source reordered them.
    pub(crate) are_reordered: bool,
}

/// Returns the table's file behind a scan's file.
pub(crate) fn file_of(file: &PartitionedFile) -> Result<&FileOf, DataFusionError> {
    let of = file.extension::<FileOf>();
    of.ok_or_else(|| internal_datafusion_err!("{} is no file of a planned table", file.path()))
}

pub(crate) fn metadata_of(file: &PartitionedFile) -> Result<Arc<ParquetMetaData>, DataFusionError> {
    let FileOf { files, number } = file_of(file)?;
    let opened = files.files.get(*number);
    let opened = opened.ok_or_else(|| internal_datafusion_err!("there is no file {number} in the table"))?;
    Ok(Arc::clone(opened.metadata()))
}

/// Finds the pieces of a scan. Its files may be ranges: a row group belongs to the range with its
/// first page.
pub(crate) fn find(config: &FileScanConfig, source: &ParquetSource) -> Result<Pieces, DataFusionError> {
    let row_groups = row_groups(config)?;
    let first = row_groups.first().map(|(file, _)| file_of(file)).transpose()?;
    let limit = config.limit.filter(|_| source.filter().is_none());
    let statistics = source.filter().and_then(|filter| FilterStatistics::of(&filter, source));
    let all = match limit {
        Some(rows) => wanted(config, source, &row_groups, statistics.as_ref(), rows as u64)?,
        None => all_wanted(config, source, &row_groups, statistics.as_ref())?,
    };
    let files = first.map(|FileOf { files, .. }| Arc::clone(files));
    let mut found = Pieces { files, all, row_groups: row_groups.len(), are_reordered: false };
    if config.output_ordering.is_empty() && statistics.is_some() {
        reorder(&mut found, source);
    }
    Ok(found)
}

/// Finds the pieces of row groups, with as many threads as the scan has partitions.
fn all_wanted(
    config: &FileScanConfig,
    source: &ParquetSource,
    row_groups: &[(&PartitionedFile, usize)],
    statistics: Option<&FilterStatistics>,
) -> Result<Vec<Piece>, DataFusionError> {
    let threads = config.file_groups.len().min(row_groups.len() / ROW_GROUPS_PER_THREAD).max(1);
    let parts = row_groups.chunks(row_groups.len().div_ceil(threads).max(1));
    let of_part = |part| wanted(config, source, part, statistics, u64::MAX);
    let (mut parts, mut all) = (parts, Vec::new());
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        // If no thread can be started, its part is processed here.
        let begin =
            |part| thread::Builder::new().spawn_scoped(scope, move || of_part(part)).map_err(|_| part);
        let others: Vec<_> = parts.map(begin).collect();
        all.extend(of_part(own)?);
        for other in others {
            all.extend(match other {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
                Err(part) => of_part(part)?,
            });
        }
        Ok(all)
    })
}

/// Finds the pieces of the first row groups, until they have `rows` rows.
fn wanted(
    config: &FileScanConfig,
    source: &ParquetSource,
    row_groups: &[(&PartitionedFile, usize)],
    statistics: Option<&FilterStatistics>,
    rows: u64,
) -> Result<Vec<Piece>, DataFusionError> {
    let rehearsal = Rehearsal::new(config, source)?;
    let (mut found, mut rows_found) = (Vec::new(), 0);
    for (file, row_group) in row_groups {
        if rows_found >= rows {
            break;
        }
        let metadata = metadata_of(file)?;
        let piece = piece_of(file, &metadata, *row_group, statistics)?;
        if let Some(ranges) = rehearsal.wanted(&piece.file, &piece.place)? {
            rows_found += piece.rows;
            found.push(Piece { ranges, ..piece });
        }
    }
    Ok(found)
}

/// Row groups of a scan's files without duplicates, in file order. Groups of files may be in any
/// order, but ordered scans, and limits, follow the order of files.
fn row_groups(config: &FileScanConfig) -> Result<Vec<(&PartitionedFile, usize)>, DataFusionError> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for file in config.file_groups.iter().flat_map(FileGroup::iter) {
        let (number, metadata) = (file_of(file)?.number, metadata_of(file)?);
        for (row_group, of) in metadata.row_groups().iter().enumerate() {
            if is_in(of, file.range.as_ref()) && seen.insert((number, row_group)) {
                found.push((number, row_group, file));
            }
        }
    }
    if !config.output_ordering.is_empty() {
        found.sort_by_key(|(number, row_group, _)| (*number, *row_group));
    }
    Ok(found.into_iter().map(|(_, row_group, file)| (file, row_group)).collect())
}

/// Offset of a row group's first page, which the engine's source uses; `None` without columns.
pub(crate) fn first_offset(row_group: &RowGroupMetaData) -> Option<i64> {
    let first = row_group.columns().first()?;
    Some(first.dictionary_page_offset().unwrap_or_else(|| first.data_page_offset()))
}

fn is_in(row_group: &RowGroupMetaData, part: Option<&FileRange>) -> bool {
    part.zip(first_offset(row_group)).is_none_or(|(part, offset)| part.contains(offset))
}

fn piece_of(
    file: &PartitionedFile,
    metadata: &ParquetMetaData,
    row_group: usize,
    statistics: Option<&FilterStatistics>,
) -> Result<Piece, DataFusionError> {
    let FileOf { files, number } = file_of(file)?;
    let name = files.files.get(*number).map(|opened| opened.name().to_owned()).unwrap_or_default();
    let schema = files.files.get(*number).map(|opened| Arc::clone(opened.schema()));
    let mut access = ParquetAccessPlan::new_none(metadata.num_row_groups());
    access.set(row_group, RowGroupAccess::Scan);
    let mut piece = PartitionedFile { range: None, arrow_schema: schema, statistics: None, ..file.clone() };
    if let Some(statistics) = statistics {
        // A dynamic filter may prune the row group before it is opened.
        let known = statistics.of_row_group(metadata, row_group)?;
        piece.statistics = Some(Arc::new(with_values(known, &piece.partition_values)));
    }
    Ok(Piece {
        file: piece.with_extension(access),
        number: *number,
        ranges: Vec::new(),
        rows: u64::try_from(metadata.row_group(row_group).num_rows()).unwrap_or_default(),
        place: Place { file: name, row_group: Some(row_group), column: None, offset_bytes: None },
    })
}

/// Reorders pieces as the source would reorder files: for the first rows of an order, the most
/// promising come first.
fn reorder(found: &mut Pieces, source: &ParquetSource) {
    let numbered = found.all.iter().enumerate().map(|(at, piece)| piece.file.clone().with_extension(At(at)));
    let ordered = source.reorder_files(numbered.collect());
    let order: Vec<usize> =
        ordered.iter().filter_map(|file| file.extension::<At>().map(|At(at)| *at)).collect();
    found.are_reordered = !order.is_sorted();
    let pieces = order.iter().filter_map(|at| found.all.get(*at).cloned());
    found.all = pieces.collect();
}

/// Original index of a piece.
#[derive(Debug, Clone, Copy)]
struct At(usize);
