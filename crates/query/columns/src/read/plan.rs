mod dictionaries;

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use nandle_reads::{FileId, Want};

use super::chunk;
use super::file::{Column, ParquetFile, common_schema};
use super::predicate::{BoundPredicate, Predicate};
use super::prune::candidate_rows;
use super::rows::{self, Rows};
use crate::ColumnsError;
use crate::directory::Pinned;
use crate::number::short;

/// Columns and rows of a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanSpec {
    /// Columns, in output order.
    pub columns: Vec<String>,
    /// Predicates that all rows match.
    pub predicates: Vec<Predicate>,
    /// Rows per step, before predicates.
    pub step_rows: u32,
}

impl ScanSpec {
    /// Scans all rows of some columns.
    pub fn of<T: Into<String>>(columns: impl IntoIterator<Item = T>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { columns, predicates: Vec::new(), step_rows: 128 << 10 }
    }

    /// Adds a predicate.
    #[must_use]
    pub fn with(mut self, predicate: Predicate) -> Self {
        self.predicates.push(predicate);
        self
    }

    /// All its columns, including those of predicates; may contain duplicates.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(String::as_str).chain(self.predicates.iter().map(Predicate::column))
    }
}

/// Steps of a scan with their wants.
#[derive(Debug)]
pub struct ScanPlan {
    files: Vec<Arc<ParquetFile>>,
    schema: SchemaRef,
    /// For each file: the output columns, then those used only by predicates.
    columns: Vec<Vec<Column>>,
    predicates: Vec<(usize, BoundPredicate)>,
    steps: Vec<Step>,
    wants: Vec<Want>,
    /// Column of each want.
    want_columns: Vec<usize>,
    /// Keeps the files from being removed.
    pinned: Option<Arc<Pinned>>,
}

/// Rows of one row group whose bytes are in memory together.
#[derive(Debug)]
pub(super) struct Step {
    /// Number of its row group in the plan.
    pub(super) group: usize,
    pub(super) file: usize,
    pub(super) row_group: usize,
    /// Rows of each batch; several if one read serves more than one batch.
    pub(super) batches: Vec<Rows>,
    wants: Range<usize>,
}

impl ScanPlan {
    /// Plans a scan of files that all have its columns.
    ///
    /// # Errors
    /// A column is missing, nested or of different types; a predicate's value doesn't match its
    /// column; a file is damaged.
    pub fn new(files: Vec<Arc<ParquetFile>>, spec: &ScanSpec) -> Result<Self, ColumnsError> {
        let schema = common_schema(&files);
        Self::with_schema(files, &schema, spec)
    }

    /// Plans a scan with given columns; there may be no files.
    pub(crate) fn with_schema(
        files: Vec<Arc<ParquetFile>>,
        schema: &Schema,
        spec: &ScanSpec,
    ) -> Result<Self, ColumnsError> {
        let names = names(spec);
        let columns = files.iter().map(|file| names.iter().map(|name| file.column(name)).collect());
        let columns: Vec<Vec<Column>> = columns.collect::<Result<_, _>>()?;
        check_types(schema, &names, &files, &columns)?;
        let field = |name: &str| schema.fields().find(name).map(|(_, field)| field);
        let fields = spec.columns.iter().filter_map(|name| field(name)).cloned();
        let handed_out = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut predicates = Vec::new();
        for predicate in &spec.predicates {
            let place = names.iter().position(|name| *name == predicate.column());
            if let Some((place, field)) = place.zip(field(predicate.column())) {
                predicates.push((place, predicate.bind(field.data_type())?));
            }
        }
        let plan = Self {
            files,
            schema: handed_out,
            columns,
            predicates,
            steps: Vec::new(),
            wants: Vec::new(),
            want_columns: Vec::new(),
            pinned: None,
        };
        plan.with_steps(u64::from(spec.step_rows.max(1)))
    }

    pub(crate) fn keeping(mut self, pinned: Option<Arc<Pinned>>) -> Self {
        self.pinned = pinned;
        self
    }

    fn with_steps(mut self, step_rows: u64) -> Result<Self, ColumnsError> {
        let files = self.files.clone();
        for (number, file) in files.iter().enumerate() {
            for row_group in 0..file.metadata().num_row_groups() {
                let columns = self.columns.get(number).map(Vec::as_slice).unwrap_or_default();
                let bound =
                    self.predicates.iter().filter_map(|(place, bound)| Some((columns.get(*place)?, bound)));
                let candidates = candidate_rows(file, row_group, &bound.collect::<Vec<_>>())?;
                let batches = cut(&candidates, step_rows);
                if !batches.is_empty() {
                    self.add_group(number, row_group, batches);
                }
            }
        }
        Ok(self)
    }

    /// Creates steps for the batches of a row group. A batch without further wants joins the
    /// previous step.
    fn add_group(&mut self, number: usize, row_group: usize, batches: Vec<Rows>) {
        let (Some(file), Some(columns)) = (self.files.get(number), self.columns.get(number)) else { return };
        let group = self.groups();
        let mut stretches = wanted(file, row_group, columns, &batches).into_iter().peekable();
        for (place, rows) in batches.into_iter().enumerate() {
            let opens = place == 0 || stretches.peek().is_some_and(|stretch| stretch.batch == place);
            if opens {
                let at = self.wants.len();
                self.steps.push(Step { group, file: number, row_group, batches: Vec::new(), wants: at..at });
            }
            let step_number = short(self.steps.len().saturating_sub(1));
            let Some(step) = self.steps.last_mut() else { unreachable!("the first batch has opened a step") };
            step.batches.push(rows);
            while let Some(stretch) = stretches.next_if(|stretch| stretch.batch == place) {
                self.wants.push(Want {
                    file: FileId(short(number)),
                    offset_bytes: stretch.bytes.start,
                    length_bytes: stretch.bytes.end - stretch.bytes.start,
                    step: step_number,
                });
                self.want_columns.push(stretch.column);
            }
            step.wants.end = self.wants.len();
        }
    }

    /// Files of the plan; wants refer to them by [`FileId`].
    pub fn files(&self) -> &[Arc<ParquetFile>] {
        &self.files
    }

    /// Output columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Wants, by step.
    pub fn wants(&self) -> &[Want] {
        &self.wants
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Number of rows to decode, before predicates are applied to each.
    pub fn candidate_rows(&self) -> u64 {
        self.steps.iter().flat_map(|step| &step.batches).map(|rows| rows::count(rows)).sum()
    }

    /// Number of row groups with rows.
    pub fn groups(&self) -> usize {
        self.steps.last().map_or(0, |step| step.group + 1)
    }

    /// Returns the part of a step if each of `parts` parts has every `parts`th row group; `None`
    /// beyond the last step.
    pub fn part_of(&self, step: u32, parts: usize) -> Option<usize> {
        self.steps.get(step as usize)?.group.checked_rem(parts)
    }

    /// Number of a step's rows to decode, before predicates are applied to each; 0 beyond the last
    /// step.
    pub fn candidate_rows_of(&self, step: u32) -> u64 {
        let batches = self.steps.get(step as usize).map(|step| step.batches.as_slice()).unwrap_or_default();
        batches.iter().map(|rows| rows::count(rows)).sum()
    }

    /// Wants of a step; `None` beyond the last.
    pub fn wants_of(&self, step: u32) -> Option<&[Want]> {
        self.wants.get(self.steps.get(step as usize)?.wants.clone())
    }

    pub(super) fn step(&self, step: u32) -> Option<&Step> {
        self.steps.get(step as usize)
    }

    pub(super) fn want_columns_of(&self, step: &Step) -> &[usize] {
        self.want_columns.get(step.wants.clone()).unwrap_or_default()
    }

    pub(super) fn columns_of(&self, file: usize) -> &[Column] {
        self.columns.get(file).map(Vec::as_slice).unwrap_or_default()
    }

    /// Predicates with the index of their column in a file.
    pub(super) fn predicates(&self) -> &[(usize, BoundPredicate)] {
        &self.predicates
    }
}

/// Output columns, then those used only by predicates.
fn names(spec: &ScanSpec) -> Vec<&str> {
    let mut names: Vec<&str> = spec.columns.iter().map(String::as_str).collect();
    for predicate in &spec.predicates {
        if !names.contains(&predicate.column()) {
            names.push(predicate.column());
        }
    }
    names
}

fn check_types(
    schema: &Schema,
    names: &[&str],
    files: &[Arc<ParquetFile>],
    columns: &[Vec<Column>],
) -> Result<(), ColumnsError> {
    let of_file = |(file, columns)| names.iter().zip(columns).map(move |(name, column)| (file, name, column));
    for (file, name, column) in files.iter().zip(columns).flat_map(of_file) {
        let expected = schema.fields().find(name).map(|(_, field)| field.data_type());
        if expected != Some(column.field.data_type()) {
            return Err(ColumnsError::Schema {
                file: file.name().to_owned(),
                column: (*name).to_owned(),
                got: column.field.data_type().to_string(),
                expected: expected.map_or_else(|| "no such column".to_owned(), ToString::to_string),
            });
        }
    }
    Ok(())
}

/// Splits rows at multiples of `step_rows`.
fn cut(candidates: &[Range<u64>], step_rows: u64) -> Vec<Rows> {
    let mut batches: Vec<(u64, Rows)> = Vec::new();
    for range in candidates {
        let mut start = range.start;
        while start < range.end {
            let window = start / step_rows;
            let end = range.end.min((window + 1) * step_rows);
            match batches.last_mut() {
                Some((last, rows)) if *last == window => rows::append(rows, start..end),
                _ => batches.push((window, rows::one(start..end))),
            }
            start = end;
        }
    }
    batches.into_iter().map(|(_, rows)| rows).collect()
}

/// Bytes of a column that are needed from a batch on.
struct Stretch {
    batch: usize,
    column: usize,
    bytes: Range<u64>,
}

/// Returns the bytes that the batches of a row group need, by batch, column and offset. A page
/// belongs to the first batch that needs it.
fn wanted(file: &ParquetFile, row_group: usize, columns: &[Column], batches: &[Rows]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let group = file.metadata().row_group(row_group);
    let rows = u64::try_from(group.num_rows()).unwrap_or_default();
    for (column, levels) in columns.iter().enumerate() {
        let (start, length) = group.column(levels.leaf).byte_range();
        let Some(pages) = chunk::indexed_pages(file.metadata(), row_group, levels.leaf) else {
            if length > 0 {
                stretches.push(Stretch { batch: 0, column, bytes: start..start + length });
            }
            continue;
        };
        let first = pages.first().map_or(start, |page| page.offset.cast_unsigned());
        let mut add = |batch: usize, bytes: Range<u64>| match stretches.last_mut() {
            Some(last) if last.column == column && last.batch == batch && last.bytes.end == bytes.start => {
                last.bytes.end = bytes.end;
            }
            _ if bytes.is_empty() => {}
            _ => stretches.push(Stretch { batch, column, bytes }),
        };
        add(0, start..first);
        let mut batch = 0;
        for (page, rows) in pages.iter().zip(chunk::page_rows(pages, rows)) {
            // Later pages don't need batches that end before this page either.
            while batches
                .get(batch)
                .is_some_and(|batch| batch.last().is_none_or(|last| last.end <= rows.start))
            {
                batch += 1;
            }
            if batches.get(batch).is_some_and(|batch| rows::touches(batch, &rows)) {
                let start = page.offset.cast_unsigned();
                add(batch, start..start + u64::from(page.compressed_page_size.cast_unsigned()));
            }
        }
    }
    stretches.sort_by_key(|stretch| (stretch.batch, stretch.column, stretch.bytes.start));
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_at_multiples() {
        let cut = |ranges: &[(u64, u64)]| {
            let rows: Rows = ranges.iter().map(|(start, end)| *start..*end).collect();
            let ends = |rows: &Rows| rows.iter().map(|range| (range.start, range.end)).collect::<Vec<_>>();
            cut(&rows, 10).iter().map(ends).collect::<Vec<_>>()
        };
        assert_eq!(
            cut(&[(0, 10), (15, 31)]),
            [vec![(0, 10)], vec![(15, 20)], vec![(20, 30)], vec![(30, 31)]]
        );
        assert_eq!(cut(&[(2, 4), (6, 12)]), [vec![(2, 4), (6, 10)], vec![(10, 12)]]);
        assert!(cut(&[]).is_empty());
    }
}
