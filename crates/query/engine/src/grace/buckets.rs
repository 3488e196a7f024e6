//! Rows divided into temporary files by the hash of their keys.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::interleave::interleave_record_batch;
use datafusion::common::DataFusionError;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_plan::metrics::SpillMetrics;

use super::compact::compact;
use super::stored::{Stored, Writer};

/// Into how many rows are divided at a time.
const BUCKETS: usize = 32;
/// Rows wait until a bucket has about 128 KiB to write, so that its batches and its writes are long.
const BUFFERED_BYTES_MAX: usize = BUCKETS * (128 << 10);
/// What hashes begin with; the engine's own, by which rows were divided before, begin with others.
const FIRST_SEED: u64 = 0x6e61_6e64_6c65_0000;

/// Rows on their way into buckets.
pub(super) struct Buckets<'a> {
    environment: Arc<RuntimeEnv>,
    schema: SchemaRef,
    keys: Vec<PhysicalExprRef>,
    random: RandomState,
    spill: &'a SpillMetrics,
    /// Rows that aren't written yet.
    batches: Vec<RecordBatch>,
    buffered_bytes: usize,
    /// Of each bucket: which of them belong to it, as batch and row.
    rows: Vec<Vec<(usize, usize)>>,
    writers: Vec<Option<Writer>>,
}

impl<'a> Buckets<'a> {
    /// No rows yet; `divisions` says how often they were divided before.
    pub(super) fn new(
        environment: Arc<RuntimeEnv>,
        schema: SchemaRef,
        keys: Vec<PhysicalExprRef>,
        divisions: u64,
        spill: &'a SpillMetrics,
    ) -> Self {
        Self {
            environment,
            schema,
            keys,
            random: RandomState::with_seed(FIRST_SEED + divisions),
            spill,
            batches: Vec::new(),
            buffered_bytes: 0,
            rows: vec![Vec::new(); BUCKETS],
            writers: (0..BUCKETS).map(|_| None).collect(),
        }
    }

    /// What the rows take that aren't written yet.
    pub(super) fn buffered_bytes(&self) -> usize {
        self.buffered_bytes
    }

    pub(super) fn add(&mut self, batch: RecordBatch) -> Result<(), DataFusionError> {
        let keys = self.keys.iter().map(|key| key.evaluate(&batch)?.into_array(batch.num_rows()));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let mut hashes = vec![0; batch.num_rows()];
        create_hashes(&keys, &self.random, &mut hashes)?;
        for (row, hash) in hashes.into_iter().enumerate() {
            // The remainder is less than the number of buckets.
            self.rows[(hash % BUCKETS as u64) as usize].push((self.batches.len(), row));
        }
        let (batch, bytes) = compact(batch)?;
        self.buffered_bytes += bytes;
        self.batches.push(batch);
        if self.buffered_bytes > BUFFERED_BYTES_MAX { self.write() } else { Ok(()) }
    }

    /// The files of the buckets; none of those that have no rows.
    pub(super) fn finish(mut self) -> Result<Vec<Option<Stored>>, DataFusionError> {
        self.write()?;
        self.writers
            .into_iter()
            .map(|writer| writer.map(|writer| writer.finish(self.spill)).transpose())
            .collect()
    }

    fn write(&mut self) -> Result<(), DataFusionError> {
        let batches: Vec<&RecordBatch> = self.batches.iter().collect();
        for (rows, writer) in self.rows.iter_mut().zip(&mut self.writers) {
            if rows.is_empty() {
                continue;
            }
            let batch = interleave_record_batch(&batches, rows)?;
            self.spill.spilled_rows.add(rows.len());
            rows.clear();
            let writer = match writer {
                Some(writer) => writer,
                None => writer.insert(Writer::new(&self.environment, &self.schema)?),
            };
            writer.write(batch)?;
        }
        self.batches.clear();
        self.buffered_bytes = 0;
        Ok(())
    }
}
