mod batches;
mod conclude;
mod findings;
mod time_limits;

use std::collections::BTreeMap;

use nandle_io::{Nanos, Shape};
use nandle_profile::FirstTouch;
use rand::seq::SliceRandom;

use self::batches::Batches;
pub use self::findings::{Findings, ProbeOptions};
use self::time_limits::{SLICE_MIN, slice_time};
use super::derive::efficient_block;
use super::estimate::{Estimate, Slice, estimates};
use super::first_touch::first_touch;
use super::read_model::ReadModel;
use super::schedule::{self, SLICES_WANTED};
use super::slices::{Quantile, ReadArea, Slicer};
use super::{CellKey, Grid, OmittedStatistics, Statistic, Surface};
use crate::Observer;
use crate::load::{Cancel, Lane, LoadError};
use crate::pattern::{Generator, generator};

/// Time between reference slices, in slices.
const REFERENCE_EVERY: u64 = 8;
/// Cells in a round.
const ROUND_CELLS: usize = 24;
/// A remark is added if more than this fraction (one in `LACKING_PART`) of the cells has too few
/// slices.
const LACKING_PART: usize = 10;
/// Fraction (one in `FIRST_TOUCH_SHARE`) of the budget for first touch.
const FIRST_TOUCH_SHARE: u64 = 12;
/// Most slices spent on a latency quantile. More would take too much of a short budget.
const LATENCY_SLICES_MAX: usize = 12;
/// Page sizes of databases: SQLite's, PostgreSQL's, InnoDB's.
const PAGES_BYTES: [u64; 3] = [4 << 10, 8 << 10, 16 << 10];
/// Ratio of first touch to re-read below which first touch is slow. The file is then read once
/// before the measurement.
const FIRST_TOUCH_SLOW: f64 = 0.9;

/// Measures the reads of a lane's device within a budget.
///
/// # Errors
/// The device stopped answering or failed all requests, memory was short, or the user interrupted
/// it before the first figure. After the first figure, an interruption or a stall makes the
/// findings partial instead.
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
    let area = ReadArea {
        area_bytes: options.area_bytes,
        contents: options.contents,
        seed: options.seed,
        outstanding_bytes_max: options.outstanding_bytes_max,
    };
    let until = began + Nanos(options.budget.0 / FIRST_TOUCH_SHARE);
    let first_touch = if options.freshly_written { first_touch(lane, area, until, cancel)? } else { None };
    let search = Search {
        slicer: Slicer::new(lane, area, reference, slice_time(options.budget), cancel),
        without: options.without.clone(),
        observer,
        generator: generator(options.seed, 47),
        unaffordable: BTreeMap::new(),
        batches: Batches::new(),
        began,
        ends: began + options.budget,
        rounds: 0,
        partial: Vec::new(),
        remarks: Vec::new(),
        grid,
    };
    search.run(options, first_touch)
}

/// A fast, busy cell in the middle of the grid: the block size nearest to 32 KiB, up to depth 8.
fn reference_cell(grid: &Grid, shape: &Shape) -> Result<CellKey, LoadError> {
    let wanted = 32 << 10;
    let cells = grid.random_cells().filter(|key| key.queue_depth <= 8);
    // The deepest queue of the nearest block size.
    let cell = cells.min_by_key(|key| (key.block_bytes.abs_diff(wanted), std::cmp::Reverse(key.queue_depth)));
    cell.ok_or_else(|| LoadError::Block {
        block_bytes: shape.logical_block_bytes,
        reason: "the file is too small for random reads, or --outstanding-max is below one block".into(),
    })
}

struct Search<'a> {
    without: OmittedStatistics,
    slicer: Slicer<'a>,
    observer: &'a mut dyn Observer,
    grid: Grid,
    generator: Generator,
    /// Cells whose queue would take too long to fill and drain, with that time.
    unaffordable: BTreeMap<CellKey, Nanos>,
    batches: Batches,
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
            if self.cells().is_empty() {
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
        self.observe_latency()?;
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
        let rest: Vec<_> = schedule::sequential(&self.grid)
            .into_iter()
            .chain(schedule::groups(&self.grid, efficient))
            .collect();
        self.measure_batches()?;
        if !self.round(rest, "sequential and groups")? {
            self.partial.push("the budget ended before sequential reading and groups were measured".into());
            return Ok(());
        }
        self.refine()
    }

    /// Measures latencies at depth 1: of the smallest block until its median is known, and of
    /// database pages until the 99th percentile is known. If the allowed slices can't hold enough
    /// reads for it, as with a disk's seeks, the median suffices.
    fn observe_latency(&mut self) -> Result<(), LoadError> {
        let alone: Vec<CellKey> = self.grid.random_cells().filter(|key| key.queue_depth == 1).collect();
        let smallest = alone.iter().min().map(|key| (*key, Quantile::Median));
        // A short budget has no time for slices that decide nothing.
        let has_time = self.slicer.slice_time > SLICE_MIN;
        let pages = alone.iter().filter(|key| has_time && PAGES_BYTES.contains(&key.block_bytes));
        for (key, quantile) in smallest.into_iter().chain(pages.map(|key| (*key, Quantile::Tail))) {
            self.observe_until(key, quantile)?;
        }
        Ok(())
    }

    fn observe_until(&mut self, key: CellKey, quantile: Quantile) -> Result<(), LoadError> {
        for slices in 0..LATENCY_SLICES_MAX {
            let left = LATENCY_SLICES_MAX - slices;
            let can_be_had = self.slicer.may_have(quantile, key, left);
            let wanted = if can_be_had { quantile } else { Quantile::Median };
            if self.slicer.has(wanted, key) || !self.has_time_for(key) {
                break;
            }
            self.report("latency", key);
            self.slicer.measure(key)?;
        }
        Ok(())
    }

    fn is_new(&self, key: CellKey) -> bool {
        self.slicer.slice_count(key) == 0
    }

    /// Spends the remaining budget on the most uncertain cells.
    fn refine(&mut self) -> Result<(), LoadError> {
        loop {
            let known = self.within_means(ReadModel::of(&self.cells(), &self.grid, &self.without).cells);
            let next = schedule::next_round(&known, ROUND_CELLS);
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

    /// Measures one slice of each cell in random order, with reference slices in between. Returns
    /// `false` if time ran out for some.
    fn round(&mut self, mut keys: Vec<CellKey>, stage: &str) -> Result<bool, LoadError> {
        keys.retain(|key| {
            key.spec().outstanding_bytes() <= self.grid.outstanding_bytes_max && self.is_affordable(*key)
        });
        keys.shuffle(&mut self.generator);
        self.rounds += 1;
        let mut all = true;
        for key in keys {
            let every = Nanos(self.slicer.slice_time.0 * REFERENCE_EVERY);
            if self.slicer.is_reference_due(every) && self.has_time_for(self.slicer.reference_key()) {
                self.slicer.measure_reference()?;
            }
            if self.has_time_for(key) {
                self.report(stage, key);
                self.slicer.measure(key)?;
            } else {
                all = false;
            }
        }
        Ok(all)
    }

    fn report(&mut self, stage: &str, key: CellKey) {
        let passed = self.slicer.now().since(self.began).0 as f64;
        let share = passed / self.ends.since(self.began).0.max(1) as f64;
        // A narrow terminal cuts off the end, so the stage comes last.
        self.observer.progress(&format!("{} ({stage})", key.spec()), share.min(1.0));
    }

    /// Reads the whole area once.
    fn touch_everything(&mut self) -> Result<(), LoadError> {
        self.observer.progress("reading the file once", 0.0);
        let until = self.slicer.now() + Nanos(self.ends.since(self.began).0 / 6);
        let whole = self.slicer.touch(until)?;
        self.remarks.push(if whole {
            "First reads of blocks are slower than later ones. So the whole file was read once before the \
             measurement; all figures except `first_touch` are of later reads."
                .into()
        } else {
            "First reads of blocks are slower than later ones, and the file is too large to be read once within \
             the budget: the figures mix both."
                .into()
        });
        Ok(())
    }

    /// Removes cells for which the device is too slow.
    fn within_means(&mut self, mut known: BTreeMap<CellKey, Estimate>) -> BTreeMap<CellKey, Estimate> {
        known.retain(|key, _| self.is_affordable(*key));
        known
    }

    fn cells(&self) -> BTreeMap<CellKey, Vec<Slice>> {
        self.slicer.cells(!self.without.contains(&Statistic::Drift))
    }

    fn estimates(&self) -> BTreeMap<CellKey, Estimate> {
        estimates(&self.cells(), &self.without)
    }

    fn surface(&self) -> Surface {
        let values = self.estimates();
        Surface::new(
            values.into_iter().map(|(key, estimate)| (key, estimate.bandwidth_bytes_per_s)).collect(),
        )
        .without(&self.without)
    }
}
