//! A single-use stream of rows as one partition of a plan.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::{DataFusionError, internal_datafusion_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures_util::Stream;
use futures_util::stream::once;

/// A side of a join.
pub(super) struct Side {
    schema: SchemaRef,
    rows: Mutex<Option<SendableRecordBatchStream>>,
}

impl Side {
    pub(super) fn of(
        schema: SchemaRef,
        rows: impl Stream<Item = Result<RecordBatch, DataFusionError>> + Send + 'static,
    ) -> Arc<Self> {
        let rows = RecordBatchStreamAdapter::new(Arc::clone(&schema), rows);
        Arc::new(Self { schema, rows: Mutex::new(Some(Box::pin(rows))) })
    }

    pub(super) fn plan(side: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let schema = Arc::clone(&side.schema);
        Ok(Arc::new(StreamingTableExec::try_new(schema, vec![side], None, [], false, None)?))
    }
}

impl PartitionStream for Side {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
        rows.unwrap_or_else(|| {
            let error = internal_datafusion_err!("a side of a join is read twice");
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), once(async { Err(error) })))
        })
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Side").field("schema", &self.schema).finish_non_exhaustive()
    }
}
