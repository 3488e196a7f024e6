//! The rows of files that are loaded: flights of CSV files, or anything of Parquet files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use nandle_columns::{BatchDecoder, DirectBytes, ScanPlan, ScanSpec, Snapshot};
use nandle_flights::{CsvFlights, CsvOptions, LoadReport, Source, flight_schema};

use super::rejects::RejectFile;
use crate::error::CliError;

/// Files of one kind.
pub(super) enum Files {
    /// Flights.
    Csv(Vec<PathBuf>),
    /// Rows of any kind.
    Parquet(Snapshot),
}

/// What a Parquet file begins with.
const PARQUET_MAGIC: [u8; 4] = *b"PAR1";

impl Files {
    /// Tells the kind by how files begin.
    pub(super) fn recognise(paths: &[PathBuf]) -> Result<Self, CliError> {
        let are_parquet = paths.iter().map(|path| is_parquet(path)).collect::<Result<Vec<_>, _>>()?;
        if are_parquet.iter().all(|is_parquet| *is_parquet) {
            Ok(Self::Parquet(Snapshot::of_files(paths)?))
        } else if are_parquet.contains(&true) {
            Err(CliError::usage("some of the files are Parquet and some are not; load each kind by itself"))
        } else {
            Ok(Self::Csv(paths.to_vec()))
        }
    }

    /// The columns of a table that is made for them.
    pub(super) fn schema(&self) -> SchemaRef {
        match self {
            Self::Csv(_) => flight_schema(),
            Self::Parquet(snapshot) => snapshot.schema().clone(),
        }
    }

    /// The bytes of all of them.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Csv(paths) => {
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
        }
    }
}

fn is_parquet(path: &Path) -> Result<bool, CliError> {
    let wrong = |error: std::io::Error| CliError::failed(format!("{}: {error}", path.display()));
    let mut magic = Vec::new();
    let file = File::open(path).map_err(wrong)?;
    file.take(PARQUET_MAGIC.len() as u64).read_to_end(&mut magic).map_err(wrong)?;
    Ok(magic == PARQUET_MAGIC)
}
