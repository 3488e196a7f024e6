use std::collections::BTreeMap;

use nandle_io::units::format_bytes;
use nandle_io::{Nanos, Shape};
use nandle_profile::{
    Derived, FirstTouch, FitSummary, FittedCell, Interval, MeasuredCell, ReferenceCell, SkippedCell,
};
use rand::seq::SliceRandom;

use super::derive::{derive, efficient_block};
use super::estimate::{Estimate, Slices, estimates};
use super::first_touch::first_touch;
use super::fit::{Curve, is_random};
use super::slices::{ReadArea, SLICE, Slicer};
use super::{CellKey, Grid, Surface, Surfaces, schedule};
use crate::Observer;
use crate::load::{Cancel, Contents, Lane, LoadError};
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
#[derive(Debug, Clone)]
pub struct Findings {
    /// Why it is partial; empty when all was concluded.
    pub partial: Vec<String>,
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

/// A reference slice is put in after so many others.
const REFERENCE_EVERY: usize = 8;
/// Cells of a round.
const ROUND_CELLS: usize = 24;
/// Slices that each cell should have in the end.
const SLICES_WANTED: usize = 3;
/// Share of the budget for first touch.
const FIRST_TOUCH_SHARE: u64 = 12;
/// A first touch slower than this is a finding, and the file is read once before the rest is measured.
const FIRST_TOUCH_SLOW: f64 = 0.9;
/// Filling the queue for a slice, and emptying it after, may take this long.
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
        slicer: Slicer::new(lane, area, reference, cancel),
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
        if let Err(error) = self.measure_all(first_touch.as_ref()) {
            if self.slicer.cells().is_empty() {
                return Err(error);
            }
            self.partial.push(format!("the measurement ended early: {error}"));
        }
        Ok(self.conclude(options, first_touch))
    }

    fn measure_all(&mut self, first_touch: Option<&FirstTouch>) -> Result<(), LoadError> {
        if first_touch.is_some_and(|touch| touch.ratio.high < FIRST_TOUCH_SLOW) {
            self.touch_everything()?;
        }
        let skeleton = schedule::skeleton(&self.grid);
        if !self.round(skeleton, "first look")? {
            self.partial.push("the budget ended before each block size was read at a few depths".into());
            return Ok(());
        }
        loop {
            let between = schedule::bisection(&self.grid, &self.surface());
            let between: Vec<_> =
                between.into_iter().filter(|key| self.slicer.slice_count(*key) == 0).collect();
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

    /// Spends what is left where the uncertainty is largest.
    fn refine(&mut self) -> Result<(), LoadError> {
        loop {
            let next = schedule::next_round(&self.estimates(), &self.surface(), ROUND_CELLS);
            if !self.round(next, "where it is unsure")? {
                break;
            }
        }
        let estimates = self.estimates();
        let all = estimates.len();
        let once = estimates.values().filter(|estimate| estimate.slices < SLICES_WANTED).count();
        if once > 0 {
            self.remarks.push(format!(
                "{once} of {all} cells were read in fewer than {SLICES_WANTED} slices; a larger --budget makes intervals \
                 narrower."
            ));
        }
        Ok(())
    }

    /// Measures a slice of each cell, in random order, with reference slices among them. `false` when the budget
    /// ended.
    fn round(&mut self, mut keys: Vec<CellKey>, stage: &str) -> Result<bool, LoadError> {
        keys.shuffle(&mut self.generator);
        self.rounds += 1;
        for (number, key) in keys.into_iter().enumerate() {
            if !self.is_affordable(key) {
                continue;
            }
            if number.is_multiple_of(REFERENCE_EVERY) {
                if !self.has_time() {
                    return Ok(false);
                }
                self.slicer.measure_reference()?;
            }
            if !self.has_time() {
                return Ok(false);
            }
            self.tell(stage, key);
            self.slicer.measure(key)?;
        }
        Ok(true)
    }

    fn has_time(&mut self) -> bool {
        self.slicer.now() + SLICE < self.ends
    }

    fn tell(&mut self, stage: &str, key: CellKey) {
        let passed = self.slicer.now().since(self.began).0 as f64;
        let share = passed / self.ends.since(self.began).0.max(1) as f64;
        self.observer.progress(&format!("{stage}: {}", key.spec()), share.min(1.0));
    }

    /// Whether a slice's ramps are short enough, judging by the shallower cells of the same block size. Slow devices
    /// don't get the deepest queues, and the profile says so.
    fn is_affordable(&mut self, key: CellKey) -> bool {
        let shallower = CellKey { queue_depth: 0, ..key }..key;
        let known = self.slicer.fastest_of(shallower);
        let Some(bandwidth) = known.filter(|bandwidth| *bandwidth > 0.0) else { return true };
        let ramp_ns = key.spec().outstanding_bytes() as f64 / bandwidth * 1e9;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and saturates"
        )]
        let ramp = Nanos(ramp_ns as u64);
        if ramp > RAMP_MAX {
            self.unaffordable.insert(key, ramp);
        }
        ramp <= RAMP_MAX
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
        self.leave_out_unaffordable();
        let surfaces = Surfaces::new(&estimates, curve.as_ref(), &self.grid, options.seed);
        let latency_ns = smallest_alone(&cells);
        let derived = derive(&surfaces, &self.grid, options.stated_split_bytes, latency_ns);
        self.name_what_is_missing(&derived, first_touch.as_ref(), options);
        let measured_cells =
            cells.iter().filter_map(|(key, slices)| measured(*key, slices, &surfaces)).collect();
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
            cells: measured_cells,
            fitted_cells: self
                .grid
                .random_cells()
                .filter_map(|key| fitted(key, &random, curve.as_ref()))
                .collect(),
            fit: curve.map(|curve| curve.summary(&random)),
            derived,
            first_touch,
            reference: self.slicer.reference(self.began),
            skipped: skipped(&self.grid, &self.unaffordable),
            rounds: self.rounds,
            errors,
            elapsed,
            remarks: self.remarks,
        }
    }

    /// The grid that was really searched: the curve isn't to be trusted where the device could not be measured.
    fn leave_out_unaffordable(&mut self) {
        let measured = |key: &CellKey| !self.unaffordable.contains_key(key);
        let depths: Vec<u32> = self.grid.queue_depths.clone();
        let kept = depths.into_iter().filter(|depth| {
            self.grid.block_sizes.iter().any(|block| measured(&CellKey::random(*block, *depth)))
        });
        self.grid.queue_depths = kept.collect();
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

/// The median latency of the smallest block at depth 1.
fn smallest_alone(cells: &BTreeMap<CellKey, Slices>) -> Option<u64> {
    let (_, slices) = cells.iter().find(|(key, _)| is_random(key) && key.queue_depth == 1)?;
    (slices.sum.requests > 0).then(|| slices.sum.latency_ns.value_at_quantile(0.5))
}

fn measured(key: CellKey, slices: &Slices, surfaces: &Surfaces) -> Option<MeasuredCell> {
    let steady: Interval<f64> = surfaces.interval(|surface| surface.bandwidth(key))?;
    Some(MeasuredCell {
        // A cell's slices are seconds apart; a series of them would be no time series.
        cell: nandle_profile::Cell { seconds: Vec::new(), ..to_cell(&key.spec(), &slices.sum, None) },
        slices: u32::try_from(slices.slices.len()).unwrap_or(u32::MAX),
        steady_bandwidth_bytes_per_s: steady,
    })
}

fn fitted(key: CellKey, measured: &BTreeMap<CellKey, f64>, curve: Option<&Curve>) -> Option<FittedCell> {
    let curve = curve.filter(|_| !measured.contains_key(&key))?;
    Some(FittedCell {
        block_bytes: key.block_bytes,
        queue_depth: key.queue_depth,
        bandwidth_bytes_per_s: curve.between(key, measured),
    })
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
