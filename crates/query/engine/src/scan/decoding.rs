//! Errors and panics of the decoder, with their place.

use std::any::Any;

use datafusion::common::DataFusionError;
use nandle_columns::Place;
use parquet::errors::ParquetError;

use crate::EngineError;
use crate::error::panic_message;

/// Converts a panic of the decoder, which is third-party code on possibly hostile data.
pub(crate) fn panicked(place: &Place, panic: &(dyn Any + Send)) -> EngineError {
    EngineError::DecoderPanicked { place: place.clone(), what: panic_message(panic) }
}

/// Adds the place to a scan's error. Errors of reads and of memory are specific already.
pub(crate) fn located(place: impl FnOnce() -> Place, error: DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::ParquetError(error) => match *error {
            ParquetError::External(source) => match source.downcast::<EngineError>() {
                Ok(own) => (*own).into(),
                Err(source) => decoding(place(), ParquetError::External(source)),
            },
            error => decoding(place(), error),
        },
        DataFusionError::ArrowError(error, trace) => {
            DataFusionError::ArrowError(error, trace).context(format!("decoding {}", place()))
        }
        error => error,
    }
}

fn decoding(place: Place, source: ParquetError) -> DataFusionError {
    EngineError::from(nandle_columns::ColumnsError::Parquet {
        action: "decoding",
        place,
        source: Box::new(source),
    })
    .into()
}
