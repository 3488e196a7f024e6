use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use nandle_engine::{Engine, EngineError, Rows, Statement};

use super::Cluster;
use crate::WorkerError;

/// All rows of a statement.
#[derive(Debug)]
pub struct HeldRows {
    /// Their columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Bytes that operators here have written to temporary files.
    pub spilled_bytes: u64,
}

impl Cluster {
    /// Runs a statement of an engine that this cluster extends, and again on those that are left when a worker is lost, which `on_lost` hears of. Rows
    /// are held until the last has come, so that none of a run that failed are seen; they may take so many bytes.
    ///
    /// # Errors
    /// The statement fails by itself, is over, or has too many rows; no worker is left.
    pub fn run_held(
        &self,
        engine: &Engine,
        statement: &Statement,
        most_bytes: u64,
        is_over: &dyn Fn() -> bool,
        on_lost: &mut dyn FnMut(&WorkerError),
    ) -> Result<HeldRows, EngineError> {
        loop {
            let held = engine.run(statement).and_then(|rows| hold(rows, most_bytes, is_over));
            let error = match held {
                Ok(held) => return Ok(held),
                Err(error) => error,
            };
            let Some((url, lost)) = WorkerError::lost(&error) else { return Err(error) };
            on_lost(lost);
            self.roster.remove(url);
        }
    }
}

fn hold(mut rows: Rows, most_bytes: u64, is_over: &dyn Fn() -> bool) -> Result<HeldRows, EngineError> {
    let schema = Arc::clone(rows.schema());
    let (mut batches, mut bytes) = (Vec::new(), 0);
    while let Some(batch) = rows.next_batch(is_over)? {
        bytes += batch.get_array_memory_size() as u64;
        if bytes > most_bytes {
            return Err(WorkerError::TooLong { most_bytes }.into());
        }
        batches.push(batch);
    }
    Ok(HeldRows { schema, batches, spilled_bytes: rows.spilled_bytes() })
}
