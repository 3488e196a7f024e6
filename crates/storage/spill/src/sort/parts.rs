//! Divides the result into parts that threads can merge independently.

use std::sync::Arc;

use nandle_io::runtime::Handle;

use super::shared::{Layout, Shared};
use super::sorted::{SortReport, Sorted};
use super::spill::fan_in_within;
use crate::SpillError;
use crate::merge::{Cut, Cutter, Merge, Rows, Run};
use crate::rows::cluster_head::Totals;
use crate::space::{AfterReading, Space};

/// Keys sampled for each part, to make the parts about equally long.
const SAMPLES_BY_PART: usize = 32;

/// A part of a sorted result: all rows in a range of keys. Any thread can [open](Self::open) it, in
/// its own world with the same device.
pub struct SortedPart {
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    runs: Vec<Run>,
    read_ahead: usize,
    totals: Totals,
}

impl SortedPart {
    /// Number of rows, before equal keys are combined.
    pub fn rows(&self) -> u64 {
        self.totals.rows
    }

    /// Bytes of the keys.
    pub fn key_bytes(&self) -> u64 {
        self.totals.key_bytes
    }

    /// Bytes of the payloads.
    pub fn payload_bytes(&self) -> u64 {
        self.totals.payload_bytes
    }

    /// Starts to merge the part. Parts that are open at the same time share the budget, which has
    /// room for all of them.
    ///
    /// # Errors
    ///
    /// The budget is used by something else.
    pub fn open(self, handle: &Handle) -> Result<Sorted, SpillError> {
        let Self { shared, layout, runs, read_ahead, totals } = self;
        let budget = &shared.options.budget;
        let space = Space::of(handle, Arc::clone(&layout.area))?;
        let merge = Merge::of_runs(&space, budget, runs, read_ahead, AfterReading::Keep)?;
        let rows = Rows::new(budget, merge, shared.options.combine.clone(), u64::MAX)?;
        let row_bytes = totals.key_bytes + totals.payload_bytes;
        let report = SortReport { rows: totals.rows, row_bytes, ..SortReport::default() };
        Ok(Sorted::new(rows, report, budget.clone()))
    }
}

/// Returns the largest number of parts, up to `wanted`, that can be merged at the same time.
pub(super) fn fitting_parts(shared: &Shared, layout: &Layout, wanted: usize) -> usize {
    let free_bytes = shared.options.budget.free_bytes();
    let runs = &shared.state().runs;
    let fits = |parts: &usize| {
        let fan_in = fan_in_within(shared, layout, runs, free_bytes / parts);
        fan_in.is_ok_and(|(fan_in, _)| fan_in >= runs.len())
    };
    (2..=wanted).rev().find(fits).unwrap_or(1)
}

/// Divides runs into about `parts` parts in key order. Returns the number of read requests, too.
pub(super) async fn divide(
    handle: &Handle,
    shared: &Arc<Shared>,
    layout: &Arc<Layout>,
    runs: &[Run],
    (parts, read_ahead): (usize, usize),
) -> Result<(Vec<SortedPart>, u64), SpillError> {
    let space = Space::of(handle, Arc::clone(&layout.area))?;
    let samples = parts * SAMPLES_BY_PART;
    let mut cutter =
        Cutter::new(&space, &shared.options.budget, runs, (2 * samples, layout.tags.common_bytes()))?;
    let samples = cutter.samples(runs, samples).await?;
    let mut keys: Vec<&Vec<u8>> =
        (1..parts).filter_map(|part| samples.get(part * samples.len() / parts)).collect();
    keys.dedup();
    let mut divided = Vec::with_capacity(parts);
    let mut before = vec![Cut::default(); runs.len()];
    for key in keys {
        let mut cuts = Vec::with_capacity(runs.len());
        for (run, before) in runs.iter().zip(&before) {
            cuts.push(cutter.cut(run, key, *before).await?);
        }
        divided.push(part(shared, layout, runs, (&before, &cuts), read_ahead));
        before = cuts;
    }
    let ends: Vec<Cut> = runs.iter().map(Cut::end).collect();
    divided.push(part(shared, layout, runs, (&before, &ends), read_ahead));
    Ok((divided, cutter.requests))
}

fn part(
    shared: &Arc<Shared>,
    layout: &Arc<Layout>,
    runs: &[Run],
    (from, to): (&[Cut], &[Cut]),
    read_ahead: usize,
) -> SortedPart {
    let all = || runs.iter().zip(from).zip(to).map(|((run, from), to)| (run, from, to));
    let totals = all().fold(Totals::default(), |sum, (_, from, to)| sum.plus(to.before.minus(from.before)));
    let runs = all().map(|(run, from, to)| from.part(*to, run)).filter(|run| run.rows > 0).collect();
    SortedPart { shared: Arc::clone(shared), layout: Arc::clone(layout), runs, read_ahead, totals }
}
