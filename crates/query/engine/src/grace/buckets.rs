//! Rows divided into temporary files by the hash of their keys.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::SchemaRef;
use arrow_select::interleave::interleave_record_batch;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::{DataFusionError, NullEquality, internal_err};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_expr::PhysicalExprRef;
use datafusion::physical_plan::metrics::SpillMetrics;

use super::compact::compact;
use super::stored::{Stored, Writer};

/// Into how many rows are divided at a time.
const BUCKETS: usize = 32;
/// Rows wait until a bucket has about 128 KiB to write, so that its batches and its writes are long; less where memory is little.
pub(super) const BUFFERED_BYTES_MAX: usize = BUCKETS * (128 << 10);
/// What hashes begin with; the engine's own, by which rows were divided before, begin with others.
const FIRST_SEED: u64 = 0x6e61_6e64_6c65_0000;

/// How rows are divided.
pub(super) struct Division {
    /// How often they were divided before.
    pub(super) number: u64,
    /// What may wait to be written.
    pub(super) buffered_bytes_max: usize,
    /// Whether keys without a value meet one another.
    pub(super) null_equality: NullEquality,
}

/// Rows on their way into buckets.
pub(super) struct Buckets<'a> {
    environment: Arc<RuntimeEnv>,
    schema: SchemaRef,
    keys: Vec<PhysicalExprRef>,
    division: Division,
    random: RandomState,
    spill: &'a SpillMetrics,
    /// How many rows were alone until now.
    alone: u64,
    /// Rows that aren't written yet.
    batches: Vec<RecordBatch>,
    buffered_bytes: usize,
    /// Of each bucket: which of them belong to it, as batch and row.
    rows: Vec<Vec<(usize, usize)>>,
    writers: Vec<Option<Writer>>,
}

impl<'a> Buckets<'a> {
    /// No rows yet.
    pub(super) fn new(
        environment: Arc<RuntimeEnv>,
        schema: SchemaRef,
        keys: Vec<PhysicalExprRef>,
        division: Division,
        spill: &'a SpillMetrics,
    ) -> Self {
        Self {
            environment,
            schema,
            keys,
            random: RandomState::with_seed(FIRST_SEED + division.number),
            division,
            spill,
            alone: 0,
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
        let nulls = self.without_partner(&keys);
        for (row, hash) in hashes.into_iter().enumerate() {
            // A row that meets none may lie anywhere, and doesn't make one bucket long.
            let is_alone = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            self.alone += u64::from(is_alone);
            let place = if is_alone { self.alone } else { hash };
            let bucket =
                usize::try_from(place % BUCKETS as u64).ok().and_then(|bucket| self.rows.get_mut(bucket));
            let Some(bucket) = bucket else { return internal_err!("there are {BUCKETS} buckets") };
            bucket.push((self.batches.len(), row));
        }
        let (batch, bytes) = compact(batch)?;
        self.buffered_bytes += bytes + batch.num_rows() * size_of::<(usize, usize)>();
        self.batches.push(batch);
        if self.buffered_bytes > self.division.buffered_bytes_max { self.write() } else { Ok(()) }
    }

    /// Rows whose key has no value, where these don't meet one another.
    fn without_partner(&self, keys: &[ArrayRef]) -> Option<NullBuffer> {
        if self.division.null_equality == NullEquality::NullEqualsNull {
            return None;
        }
        keys.iter().fold(None, |nulls, key| NullBuffer::union(nulls.as_ref(), key.logical_nulls().as_ref()))
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
            writer.write(&batch)?;
        }
        self.batches.clear();
        self.buffered_bytes = 0;
        Ok(())
    }
}
