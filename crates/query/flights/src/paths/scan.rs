use std::sync::Arc;

use arrow_array::ArrayRef;
use nandle_columns::{CodeDecoder, ParquetFile, ScanPlan, ScanSpec, Snapshot, StreamedBytes};
use nandle_io::runtime::Handle;
use nandle_reads::{Groups, HostCosts, Owner, Plan, PlanOptions, ReadCosts, ReadFile, StepStream};
use nandle_spill::{Place, SpillCosts};

use super::domain::Domain;
use super::metered::MeteredBytes;
use super::results::{CubeResults, InWork};
use super::tally::Tally;
use super::workers::{Work, Workers};
use super::{CubeError, CubeRun, ThreadClock};
use crate::count::Values;
use crate::{Column, CubeQuery, KeySpace};

/// Access to a table's bytes.
#[derive(Debug)]
pub struct CubeReads<'a> {
    /// The reading thread.
    pub owner: &'a Owner,
    /// Files of the snapshot, in order, in the owner's world.
    pub files: Arc<[ReadFile]>,
    /// Read costs of their device.
    pub costs: &'a ReadCosts,
    /// Processor time of the reading thread, for the prediction.
    pub host: HostCosts,
    /// Options and memory of the plans.
    pub options: PlanOptions,
    /// Memory for bytes read and not yet decoded, in addition to that of the plan.
    pub copies_bytes: u64,
}

/// Options of counting.
pub struct Counting {
    /// Memory.
    pub memory_bytes: usize,
    /// Counting threads.
    pub threads: usize,
    /// Temporary space for groups that exceed the memory; without it they are an error.
    pub space: Option<TemporarySpace>,
}

/// Temporary space in a world of the counting thread's own.
pub struct TemporarySpace {
    /// Runtime of the world.
    pub handle: Handle,
    /// Place on its device.
    pub place: Place,
    /// Its costs.
    pub costs: SpillCosts,
}

/// Computes a cube from a table: reads all dictionaries first, then counts the codes of all rows.
/// If row groups have mostly distinct months (or years), the groups of each are returned once its
/// last row was counted, and an error may follow. Otherwise results are returned only after all
/// rows were verified.
///
/// # Errors
/// The table lacks a column, can't be read or is damaged; memory or temporary space is
/// insufficient.
pub async fn scan_cube(
    snapshot: &Snapshot,
    query: CubeQuery,
    reads: &CubeReads<'_>,
    counting: Counting,
    clock: ThreadClock,
) -> Result<CubeResults, CubeError> {
    let mut run = CubeRun::new(query);
    let (domains, values) = read_domains(snapshot, query, reads, clock, &mut run)?;
    let leading = time_column(query);
    let space = Arc::new(KeySpace::led_by(leading.unwrap_or_default(), values)?);
    let plan = snapshot.scan(&ScanSpec::of(names(query)))?;
    let threads = counting.threads;
    let tally = Tally::new(&space, counting, threads.min(plan.groups()))?;
    let by_value_bytes = tally.by_value_bytes();
    let groups = leading.and_then(|leading| domains.get(leading)).map(Domain::codes_of_groups).transpose()?;
    let values = groups
        .flatten()
        .filter(|_| by_value_bytes > 0)
        .and_then(|groups| Values::new(&space, groups, plan.candidate_rows(), by_value_bytes))
        .map(Arc::new);
    let counters = tally.counters(if values.is_some() { by_value_bytes } else { 0 })?;
    let consumers = counters.len();
    let (planned, stream) = stream(&plan, reads)?;
    let work = Arc::new(Work { plan, space, domains, values, clock });
    let workers = Workers::start(&work, stream, counters);
    let work = InWork { workers, tally, planned, host: reads.host, consumers, done: Vec::new() };
    CubeResults::begin(work, threads, run, clock).await
}

/// Index of the column that clusters rows as tables grow: rows of a month are contiguous.
fn time_column(query: CubeQuery) -> Option<usize> {
    query.columns().iter().position(|column| matches!(column, Column::Month | Column::Year))
}

pub(super) fn names(query: CubeQuery) -> impl Iterator<Item = &'static str> {
    query.columns().into_iter().map(Column::name)
}

/// Reads all dictionaries. Also returns each column's name and values for the key space.
#[expect(clippy::type_complexity, reason = "two lists of the same columns")]
pub(super) fn read_domains(
    snapshot: &Snapshot,
    query: CubeQuery,
    reads: &CubeReads<'_>,
    clock: ThreadClock,
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
    if let Some(time) = time_column(query) {
        domains.get_mut(time).into_iter().for_each(Domain::keep_dictionaries);
    }
    let (planned, stream) = stream(&plan, reads)?;
    let mut bytes = MeteredBytes::new(StreamedBytes::new(&plan, stream), clock);
    let mut decoder = CodeDecoder::new(&plan);
    while let Some(columns) = decoder.next_dictionaries(&mut bytes)? {
        for (domain, column) in domains.iter_mut().zip(columns) {
            domain.add(&column.dictionary)?;
        }
    }
    run.add(&planned, reads.host, &bytes.finish(), 1);
    let values = names(query).zip(&mut domains);
    let values = values.map(|(name, domain)| Ok((name.to_owned(), domain.finish()?)));
    let values = values.collect::<Result<_, CubeError>>()?;
    Ok((domains, values))
}

pub(super) fn stream(plan: &ScanPlan, reads: &CubeReads<'_>) -> Result<(Arc<Plan>, StepStream), CubeError> {
    let files: Vec<_> = reads.files.iter().map(|file| file.plan.clone()).collect();
    let planned = Arc::new(Plan::new(plan.wants().to_vec(), &files, reads.costs, reads.options)?);
    let stream = reads.owner.scan(Arc::clone(&reads.files), Arc::clone(&planned), reads.copies_bytes);
    Ok((planned, stream))
}

/// Returns a file's column chunks as groups; unknown if a foreign footer makes them overlap.
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
