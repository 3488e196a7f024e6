//! Rows of files to load: flights from CSV files, or any rows from Parquet and Arrow IPC files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use nandle_columns::{BatchDecoder, DirectBytes, ScanPlan, ScanSpec, Snapshot};
use nandle_flights::{ArrowFile, CsvFlights, CsvOptions, LoadError, LoadReport, Source, flight_schema};

use super::rejects::RejectFile;
use crate::error::CliError;
use crate::input::open_regular;

/// Files of one kind.
pub(super) enum Files {
    /// Flights.
    Csv(Vec<PathBuf>),
    /// Any rows.
    Parquet(Snapshot),
    /// Any rows, with their columns.
    Arrow(Vec<PathBuf>, SchemaRef),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Csv,
    Parquet,
    Arrow,
}

/// Start of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";
/// Bytes that identify a format.
const START_BYTES: u64 = 8;

impl Files {
    /// Detects the format by the start of the files.
    pub(super) fn recognise(paths: &[PathBuf]) -> Result<Self, CliError> {
        let kinds = paths.iter().map(|path| kind(path)).collect::<Result<Vec<_>, _>>()?;
        match kinds.split_first() {
            Some((first, others)) if others.iter().any(|other| other != first) => Err(CliError::usage(
                "the files are of several kinds (CSV, Parquet, Arrow IPC); load each kind by itself",
            )),
            Some((Kind::Parquet, _)) => {
                let snapshot = Snapshot::of_files(paths)?;
                let schemas = snapshot.files().iter().map(|file| file.schema().clone()).collect();
                one_schema(paths, schemas)?;
                Ok(Self::Parquet(snapshot))
            }
            Some((Kind::Arrow, _)) => {
                let schemas = paths.iter().map(|path| Ok(ArrowFile::open(path)?.schema().clone()));
                let schemas = schemas.collect::<Result<_, CliError>>()?;
                Ok(Self::Arrow(paths.to_vec(), one_schema(paths, schemas)?))
            }
            Some((Kind::Csv, _)) | None => Ok(Self::Csv(paths.to_vec())),
        }
    }

    /// Columns of a table created for these files.
    pub(super) fn schema(&self) -> SchemaRef {
        match self {
            Self::Csv(_) => flight_schema(),
            Self::Parquet(snapshot) => snapshot.schema().clone(),
            Self::Arrow(_, schema) => schema.clone(),
        }
    }

    /// Total bytes.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Csv(paths) | Self::Arrow(paths, _) => {
                paths.iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
            }
            Self::Parquet(snapshot) => snapshot.files().iter().map(|file| file.source().length_bytes()).sum(),
        }
    }

    /// Checks that there are readable rows before a table is created for them.
    pub(super) fn try_first_rows(&self, options: CsvOptions) -> Result<(), CliError> {
        match self {
            Self::Csv(paths) => {
                let mut flights = csv_flights(paths, options);
                flights.next_batch(&mut RejectFile::none()).map_err(csv_wrong)?;
            }
            Self::Parquet(snapshot) => {
                let plan = plan_of_all(snapshot)?;
                BatchDecoder::new(&plan).next(&mut DirectBytes::new(&plan))?;
            }
            Self::Arrow(paths, _) => {
                for path in paths {
                    ArrowFile::open(path)?.next_batch()?;
                }
            }
        }
        Ok(())
    }

    /// Passes on all rows with the count so far. Returns remarks on the CSV.
    pub(super) fn each_batch(
        &self,
        options: CsvOptions,
        rejects: &mut RejectFile,
        take: &mut dyn FnMut(&RecordBatch) -> Result<(), CliError>,
    ) -> Result<Option<LoadReport>, CliError> {
        match self {
            Self::Csv(paths) => {
                let mut flights = csv_flights(paths, options);
                while let Some(batch) = flights.next_batch(rejects).map_err(csv_wrong)? {
                    take(&batch)?;
                }
                Ok(Some(flights.report()))
            }
            Self::Parquet(snapshot) => {
                let plan = plan_of_all(snapshot)?;
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

fn csv_flights(paths: &[PathBuf], options: CsvOptions) -> CsvFlights {
    CsvFlights::new(paths.iter().map(|path| Source::file(path)).collect(), options)
}

fn csv_wrong(error: LoadError) -> CliError {
    match error {
        LoadError::TooManyBad { bad_rows, rows, first, .. } if bad_rows == rows => CliError::failed(format!(
            "{}: line {}: {}; no row can be read as a flight, and CSV files of other data aren't loaded (Parquet and Arrow IPC files are)",
            first.file, first.line, first.reason
        )),
        LoadError::TooManyBad { .. } => {
            CliError::failed(format!("{error} (--bad-max); --rejects FILE keeps them, with the reason"))
        }
        error => CliError::failed(error.to_string()),
    }
}

fn plan_of_all(snapshot: &Snapshot) -> Result<ScanPlan, CliError> {
    let names = snapshot.schema().fields().iter().map(|field| field.name().clone());
    Ok(snapshot.scan(&ScanSpec::of(names))?)
}

/// Columns of all files, in any order. A table takes those of the first file, and no file may lack
/// or add one.
fn one_schema(paths: &[PathBuf], schemas: Vec<SchemaRef>) -> Result<SchemaRef, CliError> {
    let columns = |schema: &SchemaRef| -> BTreeMap<String, DataType> {
        schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
    };
    let mut schemas = schemas.into_iter();
    let first = schemas.next().unwrap_or_else(flight_schema);
    let expected = columns(&first);
    for (path, schema) in paths.iter().skip(1).zip(schemas) {
        let got = columns(&schema);
        let names: BTreeSet<&String> = expected.keys().chain(got.keys()).collect();
        if let Some(name) = names.into_iter().find(|name| expected.get(*name) != got.get(*name)) {
            let is = |columns: &BTreeMap<String, DataType>| {
                columns.get(name).map_or_else(|| "missing".to_owned(), ToString::to_string)
            };
            return Err(CliError::failed(format!(
                "{}: its column `{name}` is {}, and {} in the first file; load files of the same columns together",
                path.display(),
                is(&got),
                is(&expected)
            )));
        }
    }
    Ok(first)
}

fn kind(path: &Path) -> Result<Kind, CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let mut start = Vec::new();
    open_regular(path)?.take(START_BYTES).read_to_end(&mut start).map_err(wrong)?;
    Ok(match start.as_slice() {
        start if start.starts_with(PARQUET_MAGIC) => Kind::Parquet,
        start if ArrowFile::is_one(start) => Kind::Arrow,
        _ => Kind::Csv,
    })
}
