//! Exhaustive evaluation of a modelled drive, and scores of a probe's findings against it.

use std::collections::BTreeMap;

use nandle_io::Nanos;
use nandle_profile::{Derived, Interval, MeasuredCell, OperationKind};

use super::super::derive::derive;
use super::super::*;
use crate::Unobserved;
use crate::load::{Cancel, ClosedLoop, Counting, Refill, Stop, Work};
use crate::pattern::Area;
use crate::virtual_world::{Drive, FakeWorld, SpeedVariation};

pub(super) const AREA_BYTES: u64 = 1 << 30;
pub(super) const OUTSTANDING_MAX: u64 = 64 << 20;

/// Exhaustive figures of a drive without noise or drift.
pub(super) struct Truth {
    pub(super) surface: Surface,
    pub(super) derived: Derived,
    pub(super) grid: Grid,
}

pub(super) fn world(drive: &Drive) -> FakeWorld {
    FakeWorld::new(AREA_BYTES, drive.timing())
}

pub(super) fn truth(drive: &Drive) -> Truth {
    let drive = Drive { variation: SpeedVariation::default(), ..drive.clone() };
    let mut lane = world(&drive).lane(1);
    let shape = lane.device().shape.clone();
    let grid = Grid::new(&shape, AREA_BYTES, lane.io().slots(), OUTSTANDING_MAX);
    let efficient = Surface::new(grid.random_cells().map(|key| (key, steady(&drive, key))).collect());
    let efficient_bytes = derive::efficient_block(&efficient).unwrap();
    let others = schedule::sequential(&grid).into_iter().chain(schedule::groups(&grid, efficient_bytes));
    let mut cells: BTreeMap<CellKey, f64> = efficient.cells().collect();
    for key in others {
        cells.entry(key).or_insert_with(|| steady(&drive, key));
    }
    let surface = Surface::new(cells);
    let derived = derive(&Surfaces::exact(surface.clone()), &grid, None, None);
    Truth { surface, derived, grid }
}

/// Steady bandwidth of a cell.
pub(super) fn steady(drive: &Drive, key: CellKey) -> f64 {
    let area = Area::new(0, AREA_BYTES, key.block_bytes).unwrap();
    let pattern = key.spec().pattern.start(area, key.group_blocks, 7);
    let work = Work {
        pattern,
        block_bytes: key.block_bytes,
        operation: OperationKind::Read,
        contents: None,
        seed: 7,
    };
    let depth = key.queue_depth;
    let run = ClosedLoop {
        queue_depth: depth,
        refill: Refill::Exact,
        counting: Counting::Window { warm_up_requests: 2 * u64::from(depth) + 64 },
        // A thousand services of each command.
        stop: Stop::after(Nanos(drive.service_ns_min() * 1000)),
    };
    let mut lane = world(drive).lane(u64::from(depth) * key.block_bytes.max(4096));
    run.run(&mut lane, work, &Cancel::default()).unwrap().bandwidth_bytes_per_s()
}

pub(super) fn probe_drive(drive: &Drive, budget_s: u64, seed: u64) -> Findings {
    let mut lane = world(drive).lane(OUTSTANDING_MAX);
    probe(&mut lane, &options(budget_s, seed), &mut Unobserved, &Cancel::default()).unwrap()
}

pub(super) fn options(budget_s: u64, seed: u64) -> ProbeOptions {
    ProbeOptions {
        budget: Nanos::from_secs(budget_s),
        area_bytes: AREA_BYTES,
        contents: None,
        freshly_written: true,
        outstanding_bytes_max: OUTSTANDING_MAX,
        stated_split_bytes: None,
        seed,
        without: std::collections::BTreeSet::new(),
    }
}

/// Number of successes among a number of trials.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    pub(super) good: u32,
    pub(super) of: u32,
}

impl Share {
    fn count(&mut self, good: bool) {
        self.good += u32::from(good);
        self.of += 1;
    }

    pub(super) fn share(self) -> f64 {
        f64::from(self.good) / f64::from(self.of.max(1))
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0}% of {}", 100.0 * self.share(), self.of)
    }
}

/// Comparison of findings with the truth, over any number of probes.
#[derive(Debug, Default)]
pub(super) struct Score {
    /// Intervals of measured bandwidth that contain the truth.
    pub(super) covered: Share,
    /// Intervals of plateaus that contain the truth.
    pub(super) plateaus: Share,
    /// Intervals of knees that contain the truth or are one step off.
    pub(super) knees: Share,
    /// Knees that are at most one step off.
    pub(super) knee_values: Share,
    /// Efficient blocks that are at most one step off.
    pub(super) efficient: Share,
    /// Group penalties whose interval contains the truth, within 3 %.
    pub(super) groups: Share,
    /// Split sizes reported if and only if the drive splits.
    pub(super) splits: Share,
    /// Intervals of fitted bandwidth that contain the truth.
    pub(super) fitted_covered: Share,
    /// Cells of random reads, measured and fitted, within 5 % of the truth.
    pub(super) right: Share,
    /// Intervals of knees that span at most a factor of eight.
    pub(super) narrow: Share,
    /// Relative errors of all cells of random reads.
    pub(super) errors: Vec<f64>,
    /// Block sizes with a knee.
    pub(super) blocks: Share,
    /// Measured cells.
    pub(super) measured: Share,
    pub(super) partial: Share,
    pub(super) longest_s: f64,
}

impl Score {
    pub(super) fn add(&mut self, truth: &Truth, found: &Findings) {
        self.add_cells(truth, found);
        self.add_knees(truth, found);
        let block = (truth.derived.efficient_block_bytes, found.derived.efficient_block_bytes);
        if let (Some(expected), Some(got)) = block {
            self.efficient.count(near(got, expected.value));
        } else {
            self.efficient.count(block.0.is_none() && block.1.is_none());
        }
        for penalty in &found.derived.group_penalty {
            let key = |group| CellKey::grouped(penalty.block_bytes, group, penalty.queue_depth);
            if let (Some(grouped), Some(single)) =
                (truth.surface.bandwidth(key(penalty.group_blocks)), truth.surface.bandwidth(key(1)))
            {
                let ratio = grouped / single;
                self.groups.count(penalty.ratio.low / 1.03 <= ratio && ratio <= penalty.ratio.high * 1.03);
            }
        }
        let split = |derived: &Derived| {
            derived.split_bytes.as_ref().and_then(|split| split.seen.as_ref()).map(|seen| seen.whole_bytes)
        };
        self.splits.count(split(&truth.derived) == split(&found.derived));
        self.partial.count(!found.partial.is_empty());
        self.longest_s = self.longest_s.max(found.elapsed.as_secs_f64());
    }

    /// 90th percentile of the errors of random reads.
    pub(super) fn error_p90(&self) -> f64 {
        let mut errors = self.errors.clone();
        errors.sort_by(f64::total_cmp);
        errors[errors.len() * 9 / 10]
    }

    fn add_cells(&mut self, truth: &Truth, found: &Findings) {
        let pace = pace(truth, found);
        for cell in &found.cells {
            let key = key_of(cell);
            if let Some(expected) = truth.surface.bandwidth(key) {
                self.covered.count(cell.steady_bandwidth_bytes_per_s.contains(expected * pace));
                if key.order == Order::Random && key.group_blocks == 1 {
                    let relative = cell.steady_bandwidth_bytes_per_s.value / expected / pace - 1.0;
                    self.right.count(relative.abs() <= 0.05);
                    self.errors.push(relative.abs());
                }
            }
        }
        for cell in &found.fitted_cells {
            let key = CellKey::random(cell.block_bytes, cell.queue_depth);
            let expected = truth.surface.bandwidth(key).unwrap() * pace;
            let relative = cell.bandwidth_bytes_per_s.value / expected - 1.0;
            self.right.count(relative.abs() <= 0.05);
            self.fitted_covered.count(cell.bandwidth_bytes_per_s.contains(expected));
            self.errors.push(relative.abs());
        }
        let random =
            found.cells.iter().filter(|cell| cell.cell.pattern == "random" && cell.cell.group_blocks == 1);
        self.measured.good += u32::try_from(random.count()).unwrap();
        self.measured.of += u32::try_from(truth.grid.random_cells().count()).unwrap();
    }

    fn add_knees(&mut self, truth: &Truth, found: &Findings) {
        let pace = pace(truth, found);
        for expected in &truth.derived.saturating_queue_depth {
            let knees = &found.derived.saturating_queue_depth;
            let got = knees.iter().find(|knee| knee.block_bytes == expected.block_bytes);
            self.blocks.count(got.is_some());
            let Some(got) = got else { continue };
            let depth = |interval: Interval<u32>| Interval {
                value: u64::from(interval.value),
                low: interval.low.into(),
                high: interval.high.into(),
            };
            // Otherwise the profile reports a lower bound.
            if !got.plateau_reached {
                continue;
            }
            let value = u64::from(expected.queue_depth.value);
            self.knees.count(near(depth(got.queue_depth), value));
            self.narrow.count(got.queue_depth.high <= 8 * got.queue_depth.low);
            self.knee_values.count(near(Interval::exact(got.queue_depth.value.into()), value));
            self.plateaus.count(got.plateau_bytes_per_s.contains(expected.plateau_bytes_per_s.value * pace));
        }
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "covered {}, plateaus {}, knees {} (values {}), efficient {}, groups {}, splits {}, right {}, blocks {}, \
             measured {}, partial {}, longest {:.2} s, fitted covered {}, narrow {}, off by {:.3}",
            self.covered,
            self.plateaus,
            self.knees,
            self.knee_values,
            self.efficient,
            self.groups,
            self.splits,
            self.right,
            self.blocks,
            self.measured,
            self.partial,
            self.longest_s,
            self.fitted_covered,
            self.narrow,
            self.error_p90(),
        )
    }
}

/// Returns true if an interval contains a power of two, or is one step of the grid from it.
fn near(interval: Interval<u64>, value: u64) -> bool {
    Interval { low: interval.low / 2, high: interval.high * 2, ..interval }.contains(value)
}

fn key_of(cell: &MeasuredCell) -> CellKey {
    let MeasuredCell { cell, .. } = cell;
    let order = if cell.pattern == "random" { Order::Random } else { Order::Sequential };
    CellKey {
        order,
        block_bytes: cell.block_bytes,
        group_blocks: cell.group_blocks,
        queue_depth: cell.queue_depth,
    }
}

/// Overall speed of the drive during the probe, relative to the truth. No probe can separate
/// temporary disturbances from the drive's speed.
fn pace(truth: &Truth, found: &Findings) -> f64 {
    let ratio = |cell: &MeasuredCell| {
        Some(cell.steady_bandwidth_bytes_per_s.value / truth.surface.bandwidth(key_of(cell))?)
    };
    super::super::estimate::median(found.cells.iter().filter_map(ratio))
}
