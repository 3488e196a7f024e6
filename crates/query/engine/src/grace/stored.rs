//! Rows in a temporary file, in Arrow's stream format.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use datafusion::common::{DataFusionError, internal_err};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::spill_file::{SpillFile, SpillWriter};
use datafusion::physical_plan::EmptyRecordBatchStream;
use datafusion::physical_plan::metrics::{SpillMetrics, Time};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures_util::stream::{StreamExt as _, try_unfold};

use super::compact::without_unreferenced_texts;

/// Name of the file's contents in errors.
const PURPOSE: &str = "rows of a join";

/// Rows of a bucket.
pub(super) struct Stored {
    file: Arc<dyn SpillFile>,
    /// Their size in the file.
    pub(super) bytes: u64,
}

/// Writer of a bucket.
pub(super) struct Writer {
    file: Arc<dyn SpillFile>,
    writer: StreamWriter<Box<dyn SpillWriter>>,
}

impl Writer {
    pub(super) fn new(environment: &RuntimeEnv, schema: &SchemaRef) -> Result<Self, DataFusionError> {
        let file = environment.disk_manager.create_tmp_file(PURPOSE)?;
        let writer = StreamWriter::try_new(file.open_writer()?, schema)?;
        Ok(Self { file, writer })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), DataFusionError> {
        self.writer.write(&without_unreferenced_texts(batch)?)?;
        // Buffers of a writer aren't accounted for.
        Ok(self.writer.flush()?)
    }

    pub(super) fn finish(self, spill: &SpillMetrics) -> Result<Stored, DataFusionError> {
        self.writer.into_inner()?.finish()?;
        spill.spill_file_count.add(1);
        let Some(bytes) = self.file.size() else { return internal_err!("a temporary file has no size") };
        spill.spilled_bytes.add(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(Stored { file: self.file, bytes })
    }
}

/// Reads the rows of a file back, or none without a file. The file is removed after the last row.
/// Decoding time counts as `restoring`.
pub(super) fn stored_stream(
    stored: Option<Stored>,
    schema: &SchemaRef,
    restoring: &Time,
) -> Result<SendableRecordBatchStream, DataFusionError> {
    let Some(Stored { file, .. }) = stored else {
        return Ok(Box::pin(EmptyRecordBatchStream::new(Arc::clone(schema))));
    };
    let state = (StreamDecoder::new(), file.read_stream()?, Buffer::from(&[]), file, restoring.clone());
    let rows = try_unfold(state, |(mut decoder, mut chunks, mut chunk, file, restoring)| async move {
        loop {
            let decoding = restoring.timer();
            let batch = decoder.decode(&mut chunk)?;
            decoding.done();
            if let Some(batch) = batch {
                return Ok(Some((batch, (decoder, chunks, chunk, file, restoring))));
            }
            let Some(next) = chunks.next().await.transpose()? else {
                decoder.finish()?;
                return Ok(None);
            };
            chunk = Buffer::from(next);
        }
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(schema), rows)))
}
