//! Rows partitioned into temporary files by the hash of their keys.

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

/// Number of buckets per partitioning pass.
const BUCKETS: usize = 32;
/// Maximum buffered rows: about 128 KiB per bucket, so that batches and writes are long; less with
/// little memory.
pub(super) const BUFFERED_BYTES_MAX: usize = BUCKETS * (128 << 10);
/// Base of the hash seed. It differs from the engine's, by which the rows were partitioned before.
const FIRST_SEED: u64 = 0x6e61_6e64_6c65_0000;

/// Parameters of a partitioning pass.
pub(super) struct Division {
    /// Number of earlier passes.
    pub(super) number: u64,
    /// Limit on buffered bytes.
    pub(super) buffered_bytes_max: usize,
    /// Equality of null keys.
    pub(super) null_equality: NullEquality,
}

/// Rows being partitioned into buckets.
pub(super) struct Buckets<'a> {
    environment: Arc<RuntimeEnv>,
    schema: SchemaRef,
    keys: Vec<PhysicalExprRef>,
    division: Division,
    random: RandomState,
    spill: &'a SpillMetrics,
    /// Number of rows with null keys so far.
    alone: u64,
    /// Rows that aren't written yet.
    batches: Vec<RecordBatch>,
    buffered_bytes: usize,
    /// For each bucket, its rows as batch and row.
    rows: Vec<Vec<(usize, usize)>>,
    writers: Vec<Option<Writer>>,
}

impl<'a> Buckets<'a> {
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

    /// Memory of the buffered rows.
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
            // A row without a match can go to any bucket; spread them, so that no bucket becomes
            // large.
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

    /// Returns the rows with null keys, if null keys don't match each other.
    fn without_partner(&self, keys: &[ArrayRef]) -> Option<NullBuffer> {
        if self.division.null_equality == NullEquality::NullEqualsNull {
            return None;
        }
        keys.iter().fold(None, |nulls, key| NullBuffer::union(nulls.as_ref(), key.logical_nulls().as_ref()))
    }

    /// Returns the files of the buckets; `None` for empty buckets.
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
