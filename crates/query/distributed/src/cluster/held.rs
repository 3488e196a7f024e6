use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use nandle_engine::{Engine, EngineError, HeldMemory, Rows, Statement};

use super::Cluster;
use crate::WorkerError;

/// Name of the held rows in messages.
const HELD: &str = "rows held for --retry";

/// All rows of a statement.
#[derive(Debug)]
pub struct HeldRows {
    /// Their columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Bytes that local operators wrote to temporary files.
    pub spilled_bytes: u64,
    _memory: HeldMemory,
}

impl Cluster {
    /// Runs a statement of an engine that this cluster extends. If a worker is lost, calls
    /// `on_lost` and reruns the statement on the remaining workers. Holds the rows in the engine's
    /// memory until the last, so that no rows of a failed run are visible.
    ///
    /// # Errors
    /// The statement itself fails, is over, or has too many rows; no worker is left.
    pub fn run_held(
        &self,
        engine: &Engine,
        statement: &Statement,
        is_over: &dyn Fn() -> bool,
        on_lost: &mut dyn FnMut(&WorkerError),
    ) -> Result<HeldRows, EngineError> {
        loop {
            let held = engine.run(statement).and_then(|rows| hold(rows, engine.hold(HELD), is_over));
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

fn hold(mut rows: Rows, memory: HeldMemory, is_over: &dyn Fn() -> bool) -> Result<HeldRows, EngineError> {
    let (schema, mut batches) = (Arc::clone(rows.schema()), Vec::new());
    while let Some(batch) = rows.next_batch(is_over)? {
        let grown = memory.grow(batch.get_array_memory_size());
        let held_bytes = memory.bytes() as u64;
        grown.map_err(|source| WorkerError::TooLong { held_bytes, source: Box::new(source) })?;
        batches.push(batch);
    }
    Ok(HeldRows { schema, batches, spilled_bytes: rows.spilled_bytes(), _memory: memory })
}
