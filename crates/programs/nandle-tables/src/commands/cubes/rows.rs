//! Source of a cube's rows: the table, or a projection of the cube's columns that is sorted by
//! them.

use nandle_columns::{ScanSpec, Snapshot};
use nandle_flights::{Column, CubeQuery, column_chunks};
use nandle_reads::recording::{RecordedFile, RecordedQuery};

use crate::error::CliError;
use crate::input::Input;

/// Data that a path reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowSource {
    Table,
    Projections,
}

impl RowSource {
    /// Name of the path.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Table => "scan",
            Self::Projections => "projection",
        }
    }

    /// Rows of a cube.
    pub(super) fn of(self, input: &Input, query: CubeQuery) -> Result<Snapshot, CliError> {
        match self {
            Self::Table => Ok(input.snapshot.clone()),
            Self::Projections => projection(input, query),
        }
    }

    /// Adds a cube's files and needs to a recording. All cubes share the table's files.
    pub(super) fn record(
        self,
        rows: &Snapshot,
        mut query: RecordedQuery,
        files: &mut Vec<RecordedFile>,
    ) -> RecordedQuery {
        let recorded = rows.files().iter().map(|file| RecordedFile {
            name: Some(file.name().to_owned()),
            length_bytes: file.source().length_bytes(),
            groups: column_chunks(file),
        });
        if self == Self::Table {
            *files = recorded.collect();
            return query;
        }
        let first = files.len();
        files.extend(recorded);
        for want in &mut query.wants {
            want.file.0 += u32::try_from(first).unwrap_or(u32::MAX);
        }
        query
    }
}

/// Columns that group a cube's rows.
pub(super) fn names(query: CubeQuery) -> Vec<&'static str> {
    query.columns().into_iter().map(Column::name).collect()
}

fn projection(input: &Input, query: CubeQuery) -> Result<Snapshot, CliError> {
    let names = names(query);
    let covering = input.snapshot.covering(&ScanSpec::of(names.iter().copied()));
    let Some(found) = covering.into_iter().find(|projection| projection.columns == names) else {
        let (table, columns) = (input.name(), names.join(","));
        return Err(CliError::failed(format!(
            "{query}: {table} has no projection {columns}; make it (nandle table project {table} {columns}), or leave the path out (--paths scan)"
        )));
    };
    Ok(input.snapshot.projection(found)?)
}
