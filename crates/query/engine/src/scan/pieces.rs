//! The row groups of a scan that have rows for it, and what is read of each.

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

/// Fewer row groups aren't worth another thread.
const ROW_GROUPS_PER_THREAD: usize = 32;

/// A row group that is read.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The row group as a file of its own, as the engine's source opens it.
    pub(crate) file: PartitionedFile,
    /// The number of its file in the table.
    pub(crate) number: usize,
    /// What is read of it, in the order in which it is asked for.
    pub(crate) ranges: Vec<Range<u64>>,
    /// How many rows it has, before predicates.
    pub(crate) rows: u64,
    /// What messages call it.
    pub(crate) place: Place,
}

impl Piece {
    pub(crate) fn wanted_bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }
}

/// The pieces of a scan, and how many row groups its files have.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) files: Option<Arc<TableFiles>>,
    pub(crate) all: Vec<Piece>,
    pub(crate) row_groups: usize,
    /// The source wants some sooner than others.
    pub(crate) are_reordered: bool,
}

/// The file of the table that a scan's file is.
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

/// Finds the pieces of a scan of files or of parts of them: a row group is in the part that has its first page.
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

/// The pieces of some row groups, by as many threads as the scan has partitions.
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
        // Where the system gives no thread its part is looked at here.
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

/// The pieces of the first row groups that have so many rows together.
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

/// The row groups of the files of a scan, each once. Groups of files may be in any order; the rows of a scan in order are in that of the files, and so is
/// what a limit leaves of them.
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

/// Where the first page of a row group lies, which is what the engine's source goes by; none where it has no columns.
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
        // A filter that changes while the query runs may rule out a row group before it is opened.
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

/// The order that the source would read files in, now of row groups: where a query wants the first rows of an order, the most promising
/// come first.
fn reorder(found: &mut Pieces, source: &ParquetSource) {
    let numbered = found.all.iter().enumerate().map(|(at, piece)| piece.file.clone().with_extension(At(at)));
    let ordered = source.reorder_files(numbered.collect());
    let order: Vec<usize> =
        ordered.iter().filter_map(|file| file.extension::<At>().map(|At(at)| *at)).collect();
    found.are_reordered = !order.is_sorted();
    let pieces = order.iter().filter_map(|at| found.all.get(*at).cloned());
    found.all = pieces.collect();
}

/// Where a piece was before it was moved.
#[derive(Debug, Clone, Copy)]
struct At(usize);
