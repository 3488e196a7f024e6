//! The rows of files that are loaded: flights of CSV files, or anything of Parquet and Arrow IPC files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use nandle_columns::{BatchDecoder, DirectBytes, ScanPlan, ScanSpec, Snapshot};
use nandle_flights::{ArrowFile, CsvFlights, CsvOptions, LoadReport, Source, flight_schema};

use super::rejects::RejectFile;
use crate::error::CliError;

/// Files of one kind.
pub(super) enum Files {
    /// Flights.
    Csv(Vec<PathBuf>),
    /// Rows of any kind.
    Parquet(Snapshot),
    /// Rows of any kind, with their columns.
    Arrow(Vec<PathBuf>, SchemaRef),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Csv,
    Parquet,
    Arrow,
}

/// What a Parquet file begins with.
const PARQUET_MAGIC: &[u8] = b"PAR1";
/// So many bytes tell a kind.
const START_BYTES: u64 = 8;

impl Files {
    /// Tells the kind by how files begin.
    pub(super) fn recognise(paths: &[PathBuf]) -> Result<Self, CliError> {
        let kinds = paths.iter().map(|path| kind(path)).collect::<Result<Vec<_>, _>>()?;
        match kinds.split_first() {
            Some((first, others)) if others.iter().any(|other| other != first) => Err(CliError::usage(
                "the files are of several kinds (CSV, Parquet, Arrow IPC); load each kind by itself",
            )),
            Some((Kind::Parquet, _)) => Ok(Self::Parquet(Snapshot::of_files(paths)?)),
            Some((Kind::Arrow, _)) => Ok(Self::Arrow(paths.to_vec(), one_schema(paths)?)),
            Some((Kind::Csv, _)) | None => Ok(Self::Csv(paths.to_vec())),
        }
    }

    /// The columns of a table that is made for them.
    pub(super) fn schema(&self) -> SchemaRef {
        match self {
            Self::Csv(_) => flight_schema(),
            Self::Parquet(snapshot) => snapshot.schema().clone(),
            Self::Arrow(_, schema) => schema.clone(),
        }
    }

    /// The bytes of all of them.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Csv(paths) | Self::Arrow(paths, _) => {
                paths.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
            }
            Self::Parquet(snapshot) => snapshot.files().iter().map(|file| file.source().length_bytes()).sum(),
        }
    }

    /// Hands out all rows, each time with the rows so far. Returns what there is to say of CSV.
    pub(super) fn each_batch(
        &self,
        options: CsvOptions,
        rejects: &mut RejectFile,
        take: &mut dyn FnMut(&RecordBatch) -> Result<(), CliError>,
    ) -> Result<Option<LoadReport>, CliError> {
        match self {
            Self::Csv(paths) => {
                let sources = paths.iter().map(|path| Source::file(path)).collect();
                let mut flights = CsvFlights::new(sources, options);
                let wrong = |error: nandle_flights::LoadError| match error {
                    nandle_flights::LoadError::TooManyBad { .. } => CliError::failed(format!(
                        "{error} (--bad-max), and see which they are by --rejects FILE"
                    )),
                    error => CliError::failed(error.to_string()),
                };
                while let Some(batch) = flights.next_batch(rejects).map_err(wrong)? {
                    take(&batch)?;
                }
                Ok(Some(flights.report()))
            }
            Self::Parquet(snapshot) => {
                let names = snapshot.schema().fields().iter().map(|field| field.name().clone());
                let plan: ScanPlan = snapshot.scan(&ScanSpec::of(names))?;
                let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
                while let Some(batch) = decoder.next(&mut bytes)? {
                    take(&batch)?;
                }
                Ok(None)
            }
            Self::Arrow(paths, _) => {
                for path in paths {
                    let mut file = ArrowFile::open(path)?;
                    while let Some(batch) = file.next_batch()? {
                        take(&batch)?;
                    }
                }
                Ok(None)
            }
        }
    }
}

/// The columns that all files have.
fn one_schema(paths: &[PathBuf]) -> Result<SchemaRef, CliError> {
    let schemas = paths.iter().map(|path| Ok(ArrowFile::open(path)?.schema().clone()));
    let schemas = schemas.collect::<Result<Vec<_>, CliError>>()?;
    let first = schemas.first().cloned().unwrap_or_else(flight_schema);
    let columns = |schema: &SchemaRef| {
        schema
            .fields()
            .iter()
            .map(|field| (field.name().clone(), field.data_type().clone()))
            .collect::<Vec<_>>()
    };
    match paths.iter().zip(&schemas).find(|(_, schema)| columns(schema) != columns(&first)) {
        Some((path, _)) => Err(CliError::failed(format!(
            "{}: its columns aren't those of the first file; load files of the same columns together",
            path.display()
        ))),
        None => Ok(first),
    }
}

fn kind(path: &Path) -> Result<Kind, CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let mut start = Vec::new();
    File::open(path).map_err(wrong)?.take(START_BYTES).read_to_end(&mut start).map_err(wrong)?;
    Ok(match start.as_slice() {
        start if start.starts_with(PARQUET_MAGIC) => Kind::Parquet,
        start if ArrowFile::is_one(start) => Kind::Arrow,
        _ => Kind::Csv,
    })
}
