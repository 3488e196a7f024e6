use std::collections::{BTreeSet, HashSet};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_cast::cast;
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType, Schema};
use arrow_select::filter::filter_record_batch;

use super::run_writer::RunWriter;
use super::schema::place;
use super::snapshot::open_entry;
use super::writing::Writing;
use crate::directory::FileEntry;
use crate::read::{for_text, with_one_nan};
use crate::{BatchDecoder, ColumnsError, DirectBytes, ParquetFile, Predicate, ScanPlan, ScanSpec};
use std::sync::Arc;

/// Limit on distinct keys, which are kept in memory. For more, reloading the table is better.
const KEYS_MAX: usize = 1 << 20;
/// With more distinct values than this, a key column isn't used to narrow the search.
const VALUES_MAX: usize = 1000;

/// Distinct values of the key columns of new rows.
#[derive(Debug)]
pub(super) struct Keys {
    columns: Vec<String>,
    places: Vec<usize>,
    converter: RowConverter,
    rows: HashSet<Box<[u8]>>,
    /// Values of each column as text; `None` if there are too many, or a null.
    values: Vec<Option<BTreeSet<String>>>,
}

impl Keys {
    pub(super) fn new(
        schema: &Schema,
        columns: &[&str],
        rows: HashSet<Box<[u8]>>,
    ) -> Result<Self, ColumnsError> {
        let places: Vec<usize> =
            columns.iter().map(|column| place(schema, column)).collect::<Result<_, _>>()?;
        let fields = places.iter().map(|place| SortField::new(schema.field(*place).data_type().clone()));
        let converter = RowConverter::new(fields.collect()).map_err(ColumnsError::arrow("comparing keys"))?;
        let values = vec![Some(BTreeSet::new()); places.len()];
        Ok(Self {
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            places,
            converter,
            rows,
            values,
        })
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<(), ColumnsError> {
        let columns = self.columns_of(batch);
        let keys = self.encoded(&columns)?;
        for (row, key) in keys.iter().enumerate() {
            if self.rows.contains(key.as_ref()) {
                continue;
            }
            if self.rows.len() == KEYS_MAX {
                return Err(ColumnsError::Misuse {
                    what: format!("the new rows have more than {KEYS_MAX} different keys"),
                    mend: "replace by columns with fewer values, such as a month",
                });
            }
            self.rows.insert(key.as_ref().into());
            for (values, column) in self.values.iter_mut().zip(&columns) {
                note(values, column, row)?;
            }
        }
        Ok(())
    }

    fn columns_of(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.places.iter().filter_map(|place| batch.columns().get(*place)).cloned().collect()
    }

    /// Encodes keys; values that predicates treat as equal have equal bytes.
    fn encoded(&self, columns: &[ArrayRef]) -> Result<Rows, ColumnsError> {
        let columns: Vec<ArrayRef> = columns.iter().map(with_one_nan).collect();
        self.converter.convert_columns(&columns).map_err(ColumnsError::arrow("comparing keys"))
    }

    /// Returns for each row whether it has none of the keys. `columns` are the key columns only.
    fn others(&self, columns: &[ArrayRef]) -> Result<BooleanArray, ColumnsError> {
        let keys = self.encoded(columns)?;
        Ok(keys.iter().map(|key| Some(!self.rows.contains(key.as_ref()))).collect())
    }

    /// Scans the key columns of the rows that may have one of the keys.
    fn spec(&self) -> ScanSpec {
        let columns = self.columns.iter().zip(&self.values);
        columns.fold(ScanSpec::of(self.columns.clone()), |spec, (column, values)| match values {
            Some(values) => spec.with(Predicate::is_in(column, values.iter().cloned())),
            None => spec,
        })
    }
}

fn note(values: &mut Option<BTreeSet<String>>, column: &ArrayRef, row: usize) -> Result<(), ColumnsError> {
    let Some(set) = values else { return Ok(()) };
    let text = for_text(&column.slice(row, 1)).and_then(|value| cast(&value, &DataType::Utf8));
    let text = text.map_err(ColumnsError::arrow("noting keys"))?;
    let text = text.as_string::<i32>();
    if text.logical_null_count() > 0 || set.len() >= VALUES_MAX {
        *values = None;
    } else {
        set.insert(text.value(0).to_owned());
    }
    Ok(())
}

/// Removes rows with the keys from the existing runs; rewrites the files that contain them.
pub(super) fn remove_replaced(writing: &mut Writing, keys: &Keys) -> Result<(), ColumnsError> {
    for run in 0..writing.manifest.runs.len() {
        let files = writing.manifest.runs.get(run).map(|run| run.files.clone()).unwrap_or_default();
        let mut kept: Vec<FileEntry> = Vec::new();
        for entry in files {
            let file = Arc::new(open_entry(&writing.files, &entry)?);
            if has_some(&file, keys)? {
                kept.extend(without(writing, &file, keys)?);
            } else {
                kept.push(entry);
            }
        }
        if let Some(run) = writing.manifest.runs.get_mut(run) {
            run.files = kept;
        }
    }
    writing.manifest.runs.retain(|run| !run.files.is_empty());
    Ok(())
}

fn has_some(file: &Arc<ParquetFile>, keys: &Keys) -> Result<bool, ColumnsError> {
    let plan = ScanPlan::new(vec![Arc::clone(file)], &keys.spec())?;
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    while let Some(batch) = decoder.next(&mut bytes)? {
        if keys.others(batch.columns())?.false_count() > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn without(
    writing: &mut Writing,
    file: &Arc<ParquetFile>,
    keys: &Keys,
) -> Result<Vec<FileEntry>, ColumnsError> {
    let schema = writing.manifest.schema()?;
    let all = ScanSpec::of(schema.fields().iter().map(|field| field.name().clone()));
    let plan = ScanPlan::with_schema(vec![Arc::clone(file)], &schema, &all)?;
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let mut run = RunWriter::new(schema);
    while let Some(batch) = decoder.next(&mut bytes)? {
        let mask = keys.others(&keys.columns_of(&batch))?;
        let rest = filter_record_batch(&batch, &mask).map_err(ColumnsError::arrow("filtering"))?;
        if rest.num_rows() > 0 {
            run.write(writing, &rest)?;
        }
    }
    run.finish(writing)
}
