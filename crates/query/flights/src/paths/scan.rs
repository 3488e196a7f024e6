use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use nandle_columns::{CodeDecoder, ParquetFile, ScanPlan, ScanSpec, Snapshot, StreamedBytes};
use nandle_io::runtime::Handle;
use nandle_reads::{Groups, HostCosts, Owner, Plan, PlanOptions, ReadCosts, ReadFile};
use nandle_spill::{Place, SpillCosts};

use super::domain::Domain;
use super::metered::MeteredBytes;
use super::tables::Tables;
use super::{CubeError, CubeRun, ThreadClock};
use crate::count::{Counter, Counts, MemoryCounter, MemoryCounts};
use crate::{CodeBatch, Column, CubeQuery, KeySpace};

/// How a table's bytes are read.
#[derive(Debug)]
pub struct CubeReads<'a> {
    /// The thread that reads.
    pub owner: &'a Owner,
    /// The snapshot's files, in their order, in the owner's world.
    pub files: Arc<[ReadFile]>,
    /// What reads cost there.
    pub costs: &'a ReadCosts,
    /// What the thread takes of a processor, for the prediction.
    pub host: HostCosts,
    /// How they are planned, and in which memory.
    pub options: PlanOptions,
    /// Memory for what was read and is not yet decoded, beside that of the plan.
    pub copies_bytes: u64,
}

/// How rows are counted.
pub struct Counting {
    /// Memory.
    pub memory_bytes: usize,
    /// Threads that count the groups of results.
    pub threads: usize,
    /// Where groups go that have no room in memory; without it such a cube is an error.
    pub space: Option<TemporarySpace>,
}

/// Temporary space, in a world of the counting thread's own.
pub struct TemporarySpace {
    /// The world's runtime.
    pub handle: Handle,
    /// Where.
    pub place: Place,
    /// What it costs.
    pub costs: SpillCosts,
}

/// The groups of a cube, batch by batch.
pub struct CubeResults<'a> {
    counts: Stage<Counts, MemoryCounts>,
    run: CubeRun,
    clock: ThreadClock<'a>,
    span: nandle_io::Nanos,
}

enum Stage<S, M> {
    Spilling(S),
    Memory(M),
}

/// Makes a cube of a table's rows: all dictionaries first, then the codes of all rows, counted as they come. No result comes before
/// all rows were read and checked.
///
/// # Errors
/// The table lacks a column, can't be read or is damaged; memory or temporary space are too small.
pub async fn scan_cube<'a>(
    snapshot: &Snapshot,
    query: CubeQuery,
    reads: &CubeReads<'_>,
    counting: Counting,
    clock: ThreadClock<'a>,
) -> Result<CubeResults<'a>, CubeError> {
    let mut run = CubeRun::new(query);
    let (domains, values) = read_domains(snapshot, query, reads, clock, &mut run)?;
    let space = Arc::new(KeySpace::new(values)?);
    let mut counter = counter(&space, &counting)?;
    let plan = snapshot.scan(&ScanSpec::of(names(query)))?;
    let (planned, mut bytes) = stream(&plan, reads, clock)?;
    let mut decoder = CodeDecoder::new(&plan);
    let mut tables = Tables::new(&space, &domains);
    while let Some(batch) = decoder.next(&mut bytes)? {
        let columns = tables.columns(batch.columns)?;
        let batch = CodeBatch::new(&space, &columns)?;
        match &mut counter {
            Stage::Spilling(counter) => counter.push(&batch).await?,
            Stage::Memory(counter) => counter.push(&batch)?,
        }
    }
    run.add(&planned, reads.host, bytes.finish());
    let began_at = clock();
    let counts = match counter {
        Stage::Spilling(counter) => Stage::Spilling(counter.finish(counting.threads).await?),
        Stage::Memory(counter) => Stage::Memory(counter.finish(counting.threads)),
    };
    Ok(CubeResults { counts, run, clock, span: clock().since(began_at) })
}

impl CubeResults<'_> {
    /// The next groups: the columns' values, and `count`. None: there are no more.
    ///
    /// # Errors
    /// Temporary space failed.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>, CubeError> {
        let began_at = (self.clock)();
        let batch = match &mut self.counts {
            Stage::Spilling(counts) => counts.next_batch().await?,
            Stage::Memory(counts) => counts.next_batch()?,
        };
        self.span += (self.clock)().since(began_at);
        Ok(batch)
    }

    /// What the cube took, until now.
    pub fn finish(self) -> CubeRun {
        let mut run = self.run;
        run.count = match &self.counts {
            Stage::Spilling(counts) => counts.report(),
            Stage::Memory(counts) => counts.report(),
        };
        run.add_results(self.span);
        run
    }
}

pub(super) fn names(query: CubeQuery) -> impl Iterator<Item = &'static str> {
    query.columns().into_iter().map(Column::name)
}

fn counter(space: &Arc<KeySpace>, counting: &Counting) -> Result<Stage<Counter, MemoryCounter>, CubeError> {
    Ok(match &counting.space {
        Some(TemporarySpace { handle, place, costs }) => {
            Stage::Spilling(Counter::new(space, counting.memory_bytes, handle, *place, costs.clone())?)
        }
        None => Stage::Memory(MemoryCounter::new(space, counting.memory_bytes)?),
    })
}

/// Reads all dictionaries. Returns also each column's name and values, for the space of keys.
#[expect(clippy::type_complexity, reason = "two lists of the same columns")]
pub(super) fn read_domains(
    snapshot: &Snapshot,
    query: CubeQuery,
    reads: &CubeReads<'_>,
    clock: ThreadClock<'_>,
    run: &mut CubeRun,
) -> Result<(Vec<Domain>, Vec<(String, ArrayRef)>), CubeError> {
    let plan = snapshot.scan_dictionaries(names(query))?;
    let fields = names(query).zip(plan.schema().fields());
    let domains = fields.map(|(name, field)| {
        let data_type = match field.data_type() {
            arrow_schema::DataType::Dictionary(_, values) => values,
            other => other,
        };
        Domain::new(name, data_type, field.is_nullable())
    });
    let mut domains: Vec<Domain> = domains.collect::<Result<_, _>>()?;
    let (planned, mut bytes) = stream(&plan, reads, clock)?;
    let mut decoder = CodeDecoder::new(&plan);
    while let Some(columns) = decoder.next_dictionaries(&mut bytes)? {
        for (domain, column) in domains.iter_mut().zip(columns) {
            domain.add(&column.dictionary)?;
        }
    }
    run.add(&planned, reads.host, bytes.finish());
    let values = names(query).zip(&mut domains);
    let values = values.map(|(name, domain)| Ok((name.to_owned(), domain.finish()?)));
    let values = values.collect::<Result<_, CubeError>>()?;
    Ok((domains, values))
}

pub(super) fn stream<'a>(
    plan: &'a ScanPlan,
    reads: &CubeReads<'_>,
    clock: ThreadClock<'a>,
) -> Result<(Arc<Plan>, MeteredBytes<'a>), CubeError> {
    let files: Vec<_> = reads.files.iter().map(|file| file.plan.clone()).collect();
    let planned = Arc::new(Plan::new(plan.wants().to_vec(), &files, reads.costs, reads.options)?);
    let stream = reads.owner.scan(Arc::clone(&reads.files), Arc::clone(&planned), reads.copies_bytes);
    Ok((planned, MeteredBytes::new(StreamedBytes::new(plan, stream), clock)))
}

/// Which bytes of a file lie together: its column chunks. Nothing is known where a foreign footer has them overlap.
pub fn column_chunks(file: &ParquetFile) -> Groups {
    let mut chunks = Vec::new();
    for group in file.metadata().row_groups() {
        for chunk in group.columns() {
            chunks.push(chunk.byte_range());
        }
    }
    let mut chunks: Vec<_> = chunks
        .into_iter()
        .filter(|(_, length)| *length > 0)
        .map(|(start, length)| start..start + length)
        .collect();
    chunks.sort_unstable_by_key(|chunk| chunk.start);
    let apart = chunks.iter().zip(chunks.iter().skip(1)).all(|(one, next)| one.end <= next.start);
    if apart { Groups::Listed(chunks) } else { Groups::Unknown }
}
