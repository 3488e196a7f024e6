//! What the engine's errors become.

use nandle_engine::{EngineError, TextPlace};
use nandle_terminal::Failure;

pub(crate) fn of_engine(error: &EngineError) -> Failure {
    match error {
        EngineError::Interrupted => Failure::interrupted("interrupted; no rows were written"),
        EngineError::Source { .. } | EngineError::SameName { .. } | EngineError::Statement { .. } => {
            Failure::usage(error.to_string())
        }
        _ => Failure::failed(match error.place() {
            Some(TextPlace { line, column, .. }) => format!("{error} (line {line}, column {column})"),
            None => error.to_string(),
        }),
    }
}
