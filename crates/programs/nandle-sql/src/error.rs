//! What the engine's errors become.

use nandle_engine::EngineError;
use nandle_terminal::Failure;

pub(crate) fn of_engine(error: &EngineError) -> Failure {
    match error {
        EngineError::Interrupted => Failure::interrupted("interrupted; the query's rows so far were written"),
        EngineError::Source { .. } | EngineError::SameName { .. } | EngineError::Statement { .. } => {
            Failure::usage(error.to_string())
        }
        _ => Failure::failed(error.to_string()),
    }
}
