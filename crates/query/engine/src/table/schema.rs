//! Common schema of several files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_schema::{Field, FieldRef, Schema, SchemaRef};
use nandle_columns::ParquetFile;
use parquet::file::metadata::RowGroupMetaData;

use crate::EngineError;

/// Union of the files' columns in order of appearance; a column is null in files without it.
pub(crate) fn common(files: &[Arc<ParquetFile>]) -> Result<SchemaRef, EngineError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut counts: Vec<usize> = Vec::new();
    for file in files {
        check_names(file)?;
        for field in file.schema().fields() {
            let place = *places.entry(field.name().clone()).or_insert(fields.len());
            if let (Some(known), Some(count)) = (fields.get_mut(place), counts.get_mut(place)) {
                *count += 1;
                *known = both(known, field, file.name())?;
            } else {
                fields.push(field.as_ref().clone());
                counts.push(1);
            }
        }
    }
    let in_all = |count: usize| count == files.len();
    let fields = fields.into_iter().zip(counts);
    let fields = fields.map(|(field, count)| if in_all(count) { field } else { field.with_nullable(true) });
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// Rejects duplicate column names, which would be ambiguous in queries.
fn check_names(file: &ParquetFile) -> Result<(), EngineError> {
    let mut names = BTreeSet::new();
    let twice = file.schema().fields().iter().find(|field| !names.insert(field.name()));
    match twice {
        Some(field) => {
            Err(EngineError::SameColumn { column: field.name().clone(), file: file.name().to_owned() })
        }
        None => Ok(()),
    }
}

/// Marks columns without nulls in any file as non-nullable: the files of a snapshot don't change.
pub(crate) fn known_nulls(schema: &SchemaRef, files: &[Arc<ParquetFile>]) -> SchemaRef {
    let groups: Vec<&RowGroupMetaData> = files.iter().flat_map(|file| file.metadata().row_groups()).collect();
    let has_none = |group: &&RowGroupMetaData, name: &str| {
        let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == name);
        chunk.and_then(|chunk| chunk.statistics()?.null_count_opt()) == Some(0)
    };
    let known = |field: &FieldRef| {
        let is_whole = !groups.is_empty() && groups.iter().all(|group| has_none(group, field.name()));
        field.as_ref().clone().with_nullable(field.is_nullable() && !is_whole)
    };
    Arc::new(Schema::new(schema.fields().iter().map(known).collect::<Vec<_>>()))
}

/// Removes columns that directory names override.
pub(crate) fn without(schema: &SchemaRef, partitions: &[FieldRef]) -> SchemaRef {
    let is_own = |field: &&FieldRef| !partitions.iter().any(|other| other.name() == field.name());
    let fields: Vec<FieldRef> = schema.fields().iter().filter(is_own).cloned().collect();
    Arc::new(Schema::new(fields))
}

fn both(known: &Field, field: &Field, file: &str) -> Result<Field, EngineError> {
    if known.data_type() == field.data_type() {
        return Ok(known.clone().with_nullable(known.is_nullable() || field.is_nullable()));
    }
    Err(EngineError::Types {
        column: field.name().clone(),
        file: file.to_owned(),
        got: field.data_type().to_string(),
        expected: known.data_type().to_string(),
    })
}
