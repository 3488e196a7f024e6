use std::collections::BTreeMap;

use nandle_io::units::format_bytes;
use nandle_io::{Nanos, Shape};
use nandle_profile::{
    Derived, FirstTouch, FitSummary, FittedCell, Interval, MeasuredCell, ReferenceCell, SkippedCell,
};
use rand::seq::SliceRandom;

use super::derive::{derive, efficient_block};
use super::estimate::{Estimate, estimates};
use super::first_touch::first_touch;
use super::fit::{Curve, in_between, is_random};
use super::schedule::{self, SLICES_WANTED};
use super::slices::{ReadArea, Slicer};
use super::{CellKey, Grid, Surface, Surfaces};
use crate::Observer;
use crate::load::{Cancel, Contents, Lane, LoadError, Measurement, summary};
use crate::pattern::{Generator, generator};
use crate::sweep::to_cell;

/// What the read side of a probe is given.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Time for all of it, from now on.
    pub budget: Nanos,
    /// How much of the device is read, from its start on.
    pub area_bytes: u64,
    /// What reads must find, where that is known.
    pub contents: Option<Contents>,
    /// Whether the area was just written, so that a first touch can be told from a re-read.
    pub freshly_written: bool,
    /// Cells with more bytes outstanding are left out.
    pub outstanding_bytes_max: u64,
    /// Where the system says that it splits requests.
    pub stated_split_bytes: Option<u64>,
    /// Seed of patterns, order and draws.
    pub seed: u64,
}

/// What the read side of a probe found.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Why it is partial; empty when all was concluded.
    pub partial: Vec<String>,
    /// What ended it before its time: the user, or the device. It is among the reasons in `partial`, too.
    pub ended_by: Option<LoadError>,
    /// What a reader should know, each a sentence.
    pub remarks: Vec<String>,
    /// Measured cells.
    pub cells: Vec<MeasuredCell>,
    /// Cells of the grid from the fitted curve.
    pub fitted_cells: Vec<FittedCell>,
    /// The fitted curve.
    pub fit: Option<FitSummary>,
    /// What follows.
    pub derived: Derived,
    /// First touch against re-read.
    pub first_touch: Option<FirstTouch>,
    /// The reference cell.
    pub reference: Option<ReferenceCell>,
    /// Cells left out.
    pub skipped: Vec<SkippedCell>,
    /// Rounds of slices.
    pub rounds: u32,
    /// Reads that failed or brought wrong contents.
    pub errors: u64,
    /// Time that it took.
    pub elapsed: Nanos,
}

/// A reference slice is put in whenever so many slices' time has passed.
const REFERENCE_EVERY: u64 = 8;
/// Cells of a round.
const ROUND_CELLS: usize = 24;
/// Equal slices that differ by more than this (standard deviation by mean) make a profile partial.
const RESTLESS: f64 = 0.3;
/// More than this part of the cells with fewer slices than wanted are worth a remark.
const LACKING_PART: usize = 10;
/// Share of the budget for first touch.
const FIRST_TOUCH_SHARE: u64 = 12;
/// A first touch slower than this is a finding, and the file is read once before the rest is measured.
const FIRST_TOUCH_SLOW: f64 = 0.9;
/// A slice takes this part of the budget, between these bounds: many short ones tell more than few long ones, but
/// each has its ramps.
const SLICE_PART: u64 = 1000;
const SLICE_MIN: Nanos = Nanos::from_millis(20);
const SLICE_MAX: Nanos = Nanos::from_millis(100);
/// Filling the queue for a slice may take this part of the budget, and this long at most; so may emptying it after.
const RAMP_PART: u64 = 40;
const RAMP_MAX: Nanos = Nanos::from_millis(500);

/// Measures the read side of a lane's device within a budget.
///
/// # Errors
/// The device stopped answering or failed all requests, memory is short, or the user ended it before the first
/// figure. Once there are figures, an end by the user or by the device makes the findings partial instead.
pub fn probe(
    lane: &mut Lane,
    options: &ProbeOptions,
    observer: &mut dyn Observer,
    cancel: &Cancel,
) -> Result<Findings, LoadError> {
    let shape = lane.device().shape.clone();
    let slots = lane.io().slots();
    let grid = Grid::new(&shape, options.area_bytes, slots, options.outstanding_bytes_max);
    let reference = reference_cell(&grid, &shape)?;
    let began = lane.io().now();
    let area = ReadArea { area_bytes: options.area_bytes, contents: options.contents, seed: options.seed };
    let until = began + Nanos(options.budget.0 / FIRST_TOUCH_SHARE);
    let first_touch = if options.freshly_written { first_touch(lane, area, until, cancel)? } else { None };
    let search = Search {
        slicer: Slicer::new(lane, area, reference, slice_time(options.budget), cancel),
        observer,
        generator: generator(options.seed, 47),
        unaffordable: BTreeMap::new(),
        began,
        ends: began + options.budget,
        rounds: 0,
        partial: Vec::new(),
        remarks: Vec::new(),
        grid,
    };
    search.run(options, first_touch)
}

fn slice_time(budget: Nanos) -> Nanos {
    Nanos(budget.0 / SLICE_PART).clamp(SLICE_MIN, SLICE_MAX)
}

/// A cell in the middle of the grid, quick and busy: half way up in block size, depth 8.
fn reference_cell(grid: &Grid, shape: &Shape) -> Result<CellKey, LoadError> {
    let wanted = 32 << 10;
    let nearest = grid.block_sizes.iter().copied().min_by_key(|block: &u64| block.abs_diff(wanted));
    let block_bytes = nearest.ok_or_else(|| LoadError::Block {
        block_bytes: shape.logical_block_bytes,
        reason: "the file is too small to read anything at random in it".into(),
    })?;
    let depth = grid.depths_of(block_bytes).rfind(|depth| *depth <= 8).unwrap_or(1);
    Ok(CellKey::random(block_bytes, depth))
}

struct Search<'a> {
    slicer: Slicer<'a>,
    observer: &'a mut dyn Observer,
    grid: Grid,
    generator: Generator,
    /// Cells for which filling and emptying the queue would take too long, with that time.
    unaffordable: BTreeMap<CellKey, Nanos>,
    began: Nanos,
    ends: Nanos,
    rounds: u32,
    partial: Vec<String>,
    remarks: Vec<String>,
}

impl Search<'_> {
    fn run(mut self, options: &ProbeOptions, first_touch: Option<FirstTouch>) -> Result<Findings, LoadError> {
        let ended_by = self.measure_all(first_touch.as_ref()).err();
        if let Some(error) = &ended_by {
            if self.slicer.cells().is_empty() {
                return Err(error.clone());
            }
            self.partial.push(format!("the measurement ended early: {error}"));
        }
        Ok(Findings { ended_by, ..self.conclude(options, first_touch) })
    }

    fn measure_all(&mut self, first_touch: Option<&FirstTouch>) -> Result<(), LoadError> {
        if first_touch.is_some_and(|touch| touch.ratio.high < FIRST_TOUCH_SLOW) {
            self.touch_everything()?;
        }
        let mut first_look = schedule::skeleton(&self.grid);
        first_look.push(Vec::new());
        for cells in first_look {
            let cells = if cells.is_empty() { self.deepest_affordable() } else { cells };
            if !self.round(cells, "first look")? {
                self.partial.push("the budget ended before each block size was read at a few depths".into());
                return Ok(());
            }
        }
        loop {
            let between = schedule::bisection(&self.grid, &self.surface());
            let between: Vec<_> =
                between.into_iter().filter(|key| self.is_new(*key) && self.is_affordable(*key)).collect();
            if between.is_empty() {
                break;
            }
            if !self.round(between, "knees")? {
                self.partial.push("the budget ended before the saturating depths were found".into());
                return Ok(());
            }
        }
        let efficient = efficient_block(&self.surface()).unwrap_or(0);
        let rest = schedule::sequential(&self.grid)
            .into_iter()
            .chain(schedule::groups(&self.grid, efficient))
            .collect();
        if !self.round(rest, "sequential and groups")? {
            self.partial.push("the budget ended before sequential reading and groups were measured".into());
            return Ok(());
        }
        self.refine()
    }

    fn is_new(&self, key: CellKey) -> bool {
        self.slicer.slice_count(key) == 0
    }

    /// For each block size the deepest queue that the device is fast enough for, where it wasn't measured yet.
    fn deepest_affordable(&mut self) -> Vec<CellKey> {
        let cells: Vec<CellKey> = self.grid.random_cells().collect();
        let affordable = cells.into_iter().filter(|key| self.is_affordable(*key));
        let deepest: BTreeMap<u64, CellKey> = affordable.map(|key| (key.block_bytes, key)).collect();
        deepest.into_values().filter(|key| self.is_new(*key)).collect()
    }

    /// Spends what is left where the uncertainty is largest.
    fn refine(&mut self) -> Result<(), LoadError> {
        loop {
            let next = schedule::next_round(&self.estimates(), &self.surface(), ROUND_CELLS);
            if next.is_empty() || !self.round(next, "where it is unsure")? {
                break;
            }
        }
        let estimates = self.estimates();
        let (lacking, all) =
            (estimates.values().filter(|estimate| estimate.slices < SLICES_WANTED).count(), estimates.len());
        if lacking * LACKING_PART > all {
            self.remarks.push(format!(
                "{lacking} of {all} cells were read in fewer than {SLICES_WANTED} slices; a larger --budget makes intervals \
                 narrower."
            ));
        }
        Ok(())
    }

    /// Measures a slice of each cell, in random order, with reference slices among them. `false` when there was no
    /// time for some of them.
    fn round(&mut self, mut keys: Vec<CellKey>, stage: &str) -> Result<bool, LoadError> {
        keys.retain(|key| self.is_affordable(*key));
        keys.shuffle(&mut self.generator);
        self.rounds += 1;
        let mut all = true;
        for key in keys {
            let every = Nanos(self.slicer.slice_time.0 * REFERENCE_EVERY);
            if self.slicer.is_reference_due(every) && self.has_time_for(self.slicer.reference_key()) {
                self.slicer.measure_reference()?;
            }
            if self.has_time_for(key) {
                self.tell(stage, key);
                self.slicer.measure(key)?;
            } else {
                all = false;
            }
        }
        Ok(all)
    }

    fn has_time_for(&mut self, key: CellKey) -> bool {
        let ramp = self.ramp(key).unwrap_or(Nanos::ZERO);
        // A slice ends with a whole round of the queue, which takes as long as filling it.
        self.slicer.now() + ramp + self.slicer.slice_time.max(ramp) + ramp < self.ends
    }

    fn tell(&mut self, stage: &str, key: CellKey) {
        let passed = self.slicer.now().since(self.began).0 as f64;
        let share = passed / self.ends.since(self.began).0.max(1) as f64;
        self.observer.progress(&format!("{stage}: {}", key.spec()), share.min(1.0));
    }

    /// Whether a slice's ramps are short enough. Slow devices don't get the deepest queues, and the profile says so.
    fn is_affordable(&mut self, key: CellKey) -> bool {
        let ramp_max = RAMP_MAX.min(Nanos(self.ends.since(self.began).0 / RAMP_PART));
        match self.ramp(key) {
            Some(ramp) if ramp > ramp_max && self.is_new(key) => {
                self.unaffordable.insert(key, ramp);
                false
            }
            _ => true,
        }
    }

    /// How long it takes to fill the queue, judging by what is known of the same block size up to that depth.
    fn ramp(&self, key: CellKey) -> Option<Nanos> {
        let from = CellKey { queue_depth: 0, ..key };
        let random =
            CellKey::random(key.block_bytes, 0)..CellKey::random(key.block_bytes, key.queue_depth + 1);
        let known = self.slicer.fastest_of(from..key).or_else(|| self.slicer.fastest_of(random));
        let bandwidth = known.filter(|bandwidth| *bandwidth > 0.0)?;
        let ramp_ns = key.spec().outstanding_bytes() as f64 / bandwidth * 1e9;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let ramp = Nanos(ramp_ns as u64);
        Some(ramp)
    }

    /// Reads the whole area once.
    fn touch_everything(&mut self) -> Result<(), LoadError> {
        self.observer.progress("reading the file once", 0.0);
        let until = self.slicer.now() + Nanos(self.ends.since(self.began).0 / 6);
        let whole = self.slicer.touch(until)?;
        self.remarks.push(if whole {
            "The first reading of a block is slower than the next, so the whole file was read once before the rest was \
             measured: all figures but `first_touch` are of reading again."
                .into()
        } else {
            "The first reading of a block is slower than the next, and the file is too large to be read once within \
             the budget: the figures are a mixture of both."
                .into()
        });
        Ok(())
    }

    fn estimates(&self) -> BTreeMap<CellKey, Estimate> {
        estimates(&self.slicer.cells())
    }

    fn surface(&self) -> Surface {
        let values = self.estimates();
        Surface::new(
            values.into_iter().map(|(key, estimate)| (key, estimate.bandwidth_bytes_per_s)).collect(),
        )
    }

    fn conclude(mut self, options: &ProbeOptions, first_touch: Option<FirstTouch>) -> Findings {
        let cells = self.slicer.cells();
        let estimates = estimates(&cells);
        let curve = Curve::fit(&estimates);
        let surfaces = Surfaces::new(&estimates, curve.as_ref(), &self.grid, options.seed);
        let latency_ns = smallest_alone(self.slicer.sums());
        let derived = derive(&surfaces, &self.grid, options.stated_split_bytes, latency_ns);
        self.name_what_is_missing(&derived, first_touch.as_ref(), options);
        let reference = self.slicer.reference(self.began);
        self.judge_steadiness(reference.as_ref());
        let measured_cells =
            self.slicer.sums().filter_map(|(key, sum)| measured(key, sum, &estimates, &surfaces)).collect();
        let random = estimates.iter().filter(|(key, _)| is_random(key));
        let random: BTreeMap<_, _> =
            random.map(|(key, estimate)| (*key, estimate.bandwidth_bytes_per_s)).collect();
        let errors = self.slicer.errors;
        if let Some(first) = &self.slicer.first_error {
            self.remarks.push(format!("{errors} reads failed; the first: {first}."));
        }
        let elapsed = self.slicer.now().since(self.began);
        Findings {
            partial: self.partial,
            ended_by: None,
            cells: measured_cells,
            fitted_cells: fitted(&self.grid, &random, curve.as_ref()),
            fit: curve.map(|curve| curve.summary(&random)),
            derived,
            first_touch,
            reference,
            skipped: skipped(&self.grid, &self.unaffordable),
            rounds: self.rounds,
            errors,
            elapsed,
            remarks: self.remarks,
        }
    }

    /// Figures of a device that gives now a third and now three times as much are no profile of it.
    fn judge_steadiness(&mut self, reference: Option<&ReferenceCell>) {
        if let Some(reference) = reference.filter(|reference| reference.variation > RESTLESS) {
            self.partial.push(format!(
                "equal slices differ by {:.0} % (standard deviation): other work on the machine or the device disturbs \
                 the figures, and they are rough; probe again when it is quiet",
                reference.variation * 100.0
            ));
        }
    }

    fn name_what_is_missing(
        &mut self,
        derived: &Derived,
        touch: Option<&FirstTouch>,
        options: &ProbeOptions,
    ) {
        let mut missing = Vec::new();
        let mut check = |known: bool, what: &str| {
            if !known {
                missing.push(what.to_owned());
            }
        };
        check(derived.efficient_block_bytes.is_some(), "the efficient block size");
        check(!derived.saturating_queue_depth.is_empty(), "the saturating queue depths");
        check(derived.sequential_bandwidth_bytes_per_s_max.is_some(), "sequential bandwidth");
        check(!derived.group_penalty.is_empty(), "the group penalty");
        check(derived.flexible_io.is_some(), "the flexible I/O unit");
        check(touch.is_some() || !options.freshly_written, "first touch against re-read");
        if !missing.is_empty() {
            self.partial.push(format!("not concluded: {}; give a larger --budget", missing.join(", ")));
        }
    }
}

/// The median latency of the smallest block at depth 1, where enough was observed to tell one.
fn smallest_alone<'a>(mut sums: impl Iterator<Item = (CellKey, &'a Measurement)>) -> Option<u64> {
    let (_, sum) = sums.find(|(key, _)| is_random(key) && key.queue_depth == 1)?;
    summary(&sum.latency_ns).p50
}

fn measured(
    key: CellKey,
    sum: &Measurement,
    estimates: &BTreeMap<CellKey, Estimate>,
    surfaces: &Surfaces,
) -> Option<MeasuredCell> {
    let steady: Interval<f64> = surfaces.interval(|surface| surface.bandwidth(key))?;
    Some(MeasuredCell {
        cell: to_cell(&key.spec(), sum, None),
        slices: u32::try_from(estimates.get(&key)?.slices).unwrap_or(u32::MAX),
        steady_bandwidth_bytes_per_s: steady,
    })
}

fn fitted(grid: &Grid, measured: &BTreeMap<CellKey, f64>, curve: Option<&Curve>) -> Vec<FittedCell> {
    let Some(curve) = curve else { return Vec::new() };
    let cell = |key: CellKey| FittedCell {
        block_bytes: key.block_bytes,
        queue_depth: key.queue_depth,
        bandwidth_bytes_per_s: curve.between(key, measured),
    };
    in_between(grid, measured).into_iter().map(cell).collect()
}

fn skipped(grid: &Grid, unaffordable: &BTreeMap<CellKey, Nanos>) -> Vec<SkippedCell> {
    let too_slow = unaffordable.iter().map(|(key, ramp)| SkippedCell {
        pattern: key.spec().pattern.to_string(),
        block_bytes: key.block_bytes,
        group_blocks: key.group_blocks,
        queue_depth: key.queue_depth,
        reason: format!(
            "filling the queue with {} would take {:.1} s on this device",
            format_bytes(key.spec().outstanding_bytes()),
            ramp.as_secs_f64()
        ),
    });
    grid.skipped().into_iter().chain(too_slow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_latency_needs_ten_observations_beyond_it() {
        let latency = |requests: u64| {
            let mut sum = Measurement::new();
            sum.requests = requests;
            (0..requests).for_each(|_| sum.latency_ns.saturating_record(5_000_000));
            smallest_alone(std::iter::once((CellKey::random(4096, 1), &sum)))
        };
        assert_eq!(latency(19), None);
        assert!(latency(20).is_some());
    }
}
