//! Visits of rows. Each row is visited several times with a run of requests, gentle rows first.
//!
//! On a page-mapped drive a pattern pays for the garbage of earlier patterns. After random writes,
//! sequential writes collect as much garbage as random ones, until the whole area is rewritten, and
//! all patterns would cost the same. So rows are grouped in [stages](super::rows::Stage) from
//! gentle to harsh. General random writes, which use up the spare blocks, come last.

use nandle_io::Nanos;
use nandle_profile::Interval;
use nandle_profile::experiments::{MicroBenchmark, PatternCost, WritePatterns};
use rand::seq::SliceRandom;

use super::limits::{between, is_open};
use super::rows::{Row, STAGES, Stage, base_block_bytes};
use crate::experiments::Lab;
use crate::experiments::change::changes;
use crate::experiments::rounds::median_interval;
use crate::experiments::series::{Length, Pool, Walk, series};
use crate::experiments::statistics::{batch_means, mean_interval, start_up};
use crate::load::{ClosedLoop, Counting, LoadError, Measurement, Refill, Stop, Work};
use crate::pattern::{Area, Pattern, generator};

/// Visits of each row, and of the baselines.
const VISITS: usize = 2;
const VISITS_OF_BASELINES: usize = 3;
/// Visits of a stride that may or may not be cheap.
const VISITS_OF_UNDECIDED: usize = 4;
/// Fraction (one in `LEFT_BEHIND_PART`) at the start of a visit that is dropped, as it pays for the
/// previous row.
const LEFT_BEHIND_PART: usize = 4;
/// Batch means of a visit after its start-up phase.
const BATCHES: usize = 4;
/// Batch means of the one long visit of general random writes.
const BATCHES_OF_RANDOM: usize = 12;
/// Batch means in which levels of random writes are searched, and the shortest level.
const LEVEL_BATCHES: usize = 60;
const LEVEL_BATCHES_LEAST: usize = 4;
/// Weight reserved for rows that the search for limits may add.
const WEIGHT_TO_COME: u64 = 16;
/// Bounds of a visit's time.
const VISIT_TIME_MIN: Nanos = Nanos::from_millis(5);
const VISIT_TIME_MAX: Nanos = Nanos::from_secs(10);
const VISIT_TIME_MAX_RANDOM: Nanos = Nanos::from_secs(40);
/// Criterion for slow devices. A visit with the fewest requests takes `SLOW` times its planned time
/// and at least one in `SLOW_PART` of the remaining time. (A visit that is long because of a single
/// pause has had more requests before.) On a slow device, rows except the sequential references are
/// visited only once, with few requests. General random writes take no longer than others. So every
/// question gets an answer before any gets a second one.
const SLOW: u64 = 2;
const SLOW_PART: u64 = 64;
const REQUESTS_LEAST_OF_SLOW: u64 = 4;
/// Bounds of a visit's requests. General random writes must get past the spare blocks, so they have
/// more.
const REQUESTS_LEAST: u64 = 8;
const REQUESTS_MOST: u64 = 8_000;
const REQUESTS_MOST_RANDOM: u64 = 400_000;
/// Cost from which a row is certainly expensive and visited only once.
const EXPENSIVE_RATIO: f64 = 4.0;
/// Cost from which larger rows of the same kind are skipped, since they cost no less.
const SKIP_LARGER_RATIO: f64 = 8.0;

/// A row with the results of its visits.
struct RowVisits {
    row: Row,
    visits: usize,
    start_up_requests: u64,
    /// Mean request time of each batch.
    means_ns: Vec<f64>,
    latencies: Measurement,
}

/// Visits of all rows.
pub(super) struct Visits {
    rows: Vec<RowVisits>,
    pause: Nanos,
    /// True if the device is too slow for all visits.
    is_slow: bool,
}

impl Visits {
    pub(super) fn new(rows: Vec<Row>, pause: Nanos) -> Self {
        Self { rows: rows.into_iter().map(RowVisits::new).collect(), pause, is_slow: false }
    }

    /// Visits all rows, stage by stage, including rows added by the search for limits.
    ///
    /// # Errors
    /// See [`series`].
    pub(super) fn all(&mut self, lab: &mut Lab<'_>, pool: &mut Pool) -> Result<(), LoadError> {
        let mut order = generator(lab.seed, 67);
        for stage in STAGES {
            if stage.is_ascending() {
                // Another visit of the reference, in case the device drifts.
                self.measure().map_or(Ok(true), |index| self.visit(lab, pool, index))?;
            }
            loop {
                let mut due = self.next(stage);
                if due.is_empty() {
                    break;
                }
                due.shuffle(&mut order);
                for index in due {
                    if !self.visit(lab, pool, index)? {
                        self.report_end(lab);
                        return Ok(());
                    }
                }
                self.add_between(lab);
            }
        }
        Ok(())
    }

    /// Rows of a stage to visit next: those with the fewest visits, or in an ascending stage the
    /// gentlest one.
    fn next(&self, stage: Stage) -> Vec<usize> {
        let wanting = || {
            let rows = self.rows.iter().enumerate();
            rows.filter(|(_, visited)| visited.row.stage() == stage && self.visits_left(visited) > 0)
        };
        if stage.is_ascending() {
            let gentlest = wanting().min_by_key(|(_, visited)| visited.row.harshness());
            return gentlest.map(|(index, _)| index).into_iter().collect();
        }
        let Some(least) = wanting().map(|(_, visited)| visited.visits).min() else { return Vec::new() };
        wanting().filter(|(_, visited)| visited.visits == least).map(|(index, _)| index).collect()
    }

    /// Sequential writes, the reference of all other costs.
    fn measure(&self) -> Option<usize> {
        self.rows.iter().position(|visited| {
            visited.row.micro_benchmark == MicroBenchmark::Baseline && visited.row.is_measure_of(&visited.row)
        })
    }

    /// Remaining visits of a row.
    fn visits_left(&self, visited: &RowVisits) -> usize {
        let cost = |visited: &RowVisits| visited.cost(self.measure_of(&visited.row))?.relative_cost;
        let wanted = match visited.row.stage() {
            Stage::Random => 1,
            Stage::Sequential if visited.row.micro_benchmark == MicroBenchmark::Baseline => {
                VISITS_OF_BASELINES
            }
            Stage::Sequential => VISITS,
            _ if self.is_slow => 1,
            _ if visited.visits > 0 && cost(visited).is_some_and(|cost| cost.low > EXPENSIVE_RATIO) => 1,
            _ if visited.visits >= VISITS
                && cost(visited).is_some_and(|cost| is_open(&visited.row, &cost)) =>
            {
                VISITS_OF_UNDECIDED
            }
            _ => VISITS,
        };
        let is_hopeless = |other: &RowVisits| {
            other.row.is_smaller_of_kind(&visited.row)
                && cost(other).is_some_and(|cost| cost.value > SKIP_LARGER_RATIO)
        };
        if visited.visits == 0 && self.rows.iter().any(is_hopeless) {
            return 0;
        }
        wanted.saturating_sub(visited.visits)
    }

    /// Total weight of all remaining visits.
    fn weight_left(&self) -> u64 {
        let weights = self.rows.iter().map(|visited| visited.row.weight() * self.visits_left(visited) as u64);
        weights.sum::<u64>() + WEIGHT_TO_COME
    }

    /// Returns `false` if the time or the write limit is used up.
    fn visit(&mut self, lab: &mut Lab<'_>, pool: &mut Pool, index: usize) -> Result<bool, LoadError> {
        let (pause, weight_left) = (self.pause, self.weight_left());
        let Some(visited) = self.rows.get_mut(index) else { return Ok(true) };
        let (weight, stage) = (visited.row.weight(), visited.row.stage());
        let (is_random, is_sequential) = (stage == Stage::Random, stage == Stage::Sequential);
        let time = Nanos((lab.time_left().0 / weight_left * weight).saturating_sub(pause.0)).clamp(
            VISIT_TIME_MIN,
            if is_random && !self.is_slow { VISIT_TIME_MAX_RANDOM } else { VISIT_TIME_MAX },
        );
        if lab.time_left() < time + pause {
            return Ok(false);
        }
        let block_bytes = visited.row.block_bytes;
        let is_hurried = self.is_slow && !is_sequential;
        let requests_least = if is_hurried { REQUESTS_LEAST_OF_SLOW } else { REQUESTS_LEAST };
        if lab.write_left_bytes() < requests_least * block_bytes {
            lab.out_of_writes();
            return Ok(false);
        }
        let share = lab.write_left_bytes() / weight_left * weight / block_bytes;
        let most = if is_random { REQUESTS_MOST_RANDOM } else { REQUESTS_MOST * weight };
        let requests_most = share.clamp(requests_least, most);
        lab.report(&visited.row.to_string());
        let began = lab.now();
        let requests = visited.visit(lab, pool, Length { time, requests_least, requests_most })?;
        let took = lab.now().since(began);
        let is_long = took.0 > (SLOW * time.0).max(lab.time_left().0 / SLOW_PART);
        self.is_slow |= !is_sequential && requests <= requests_least && is_long;
        lab.flush()?;
        lab.pause(pause)?;
        Ok(true)
    }

    fn report_end(&self, lab: &mut Lab<'_>) {
        let (least, missing) = (
            self.rows.iter().map(|visited| visited.visits).min().unwrap_or(0),
            self.rows.iter().filter(|visited| visited.visits == 0 && self.visits_left(visited) > 0).count(),
        );
        if missing > 0 {
            lab.cut_short(format!(
                "time ended before {missing} of {} patterns were measured",
                self.rows.len()
            ));
        } else {
            lab.remark(format!("Some patterns were visited only {least} of {VISITS} times."));
        }
    }

    /// Adds rows between the last cheap and the first expensive one.
    fn add_between(&mut self, lab: &Lab<'_>) {
        let unit = lab.circumstances.shape.logical_block_bytes;
        let new = between(&self.findings(lab), unit);
        let known = |row: &Row| self.rows.iter().any(|visited| visited.row == *row);
        let new: Vec<Row> = new.into_iter().filter(|row| !known(row)).collect();
        self.rows.extend(new.into_iter().map(RowVisits::new));
    }

    fn findings(&self, lab: &Lab<'_>) -> WritePatterns {
        WritePatterns {
            block_bytes: base_block_bytes(lab.circumstances),
            area_bytes: lab.circumstances.area_bytes,
            patterns: self.costs(),
            ..WritePatterns::default()
        }
    }

    /// Cost of each visited row.
    pub(super) fn costs(&self) -> Vec<PatternCost> {
        self.rows.iter().filter_map(|visited| visited.cost(self.measure_of(&visited.row))).collect()
    }

    /// Request time that a row's cost is relative to.
    fn measure_of(&self, row: &Row) -> Option<Interval<f64>> {
        self.rows.iter().find(|visited| visited.row.is_measure_of(row))?.request_ns()
    }
}

impl RowVisits {
    fn new(row: Row) -> Self {
        let latencies = Measurement::new();
        Self { row, visits: 0, start_up_requests: 0, means_ns: Vec::new(), latencies }
    }

    /// Visits the row and returns the number of requests.
    fn visit(&mut self, lab: &mut Lab<'_>, pool: &mut Pool, length: Length) -> Result<u64, LoadError> {
        self.visits += 1;
        let seed = lab.seed ^ (self.visits as u64) << 32 ^ self.row.block_bytes;
        let pattern = self.pattern(lab, seed)?;
        if self.row.queue_depth > 1 {
            self.together(lab, pattern, seed, length)
        } else {
            self.one_by_one(lab, pool, pattern, length)
        }
    }

    fn pattern(&self, lab: &Lab<'_>, seed: u64) -> Result<Pattern, LoadError> {
        let Row { block_bytes, shift_bytes, pattern, .. } = self.row;
        let area_bytes = lab.circumstances.area_bytes.saturating_sub(shift_bytes);
        let area = Area::new(shift_bytes, area_bytes, block_bytes).ok_or_else(|| LoadError::Block {
            block_bytes,
            reason: "the area is smaller than that".into(),
        })?;
        Ok(pattern.start(area, 1, seed))
    }

    fn one_by_one(
        &mut self,
        lab: &mut Lab<'_>,
        pool: &mut Pool,
        pattern: Pattern,
        length: Length,
    ) -> Result<u64, LoadError> {
        let Row { operation, block_bytes, pause, burst_requests, .. } = self.row;
        let mut walk = Walk { pattern, operation, block_bytes, pause, burst_requests };
        let latencies_ns = series(lab, pool, &mut walk, length)?;
        let left_behind = latencies_ns.len() / LEFT_BEHIND_PART;
        let is_random = self.row.stage() == Stage::Random;
        let began = if is_random { last_level(&latencies_ns) } else { start_up(&latencies_ns) };
        let cut = began.max(left_behind);
        let running = latencies_ns.get(cut..).unwrap_or_default();
        self.start_up_requests += cut as u64;
        self.means_ns.extend(batch_means(running, if is_random { BATCHES_OF_RANDOM } else { BATCHES }));
        for latency_ns in running {
            self.latencies.requests += 1;
            self.latencies.latency_ns.record(*latency_ns);
        }
        Ok(latencies_ns.len() as u64)
    }

    /// Visits with several requests outstanding, measured in a window after the warm-up.
    fn together(
        &mut self,
        lab: &mut Lab<'_>,
        pattern: Pattern,
        seed: u64,
        length: Length,
    ) -> Result<u64, LoadError> {
        let Row { operation, block_bytes, queue_depth, .. } = self.row;
        let warm_up_requests = 2 * u64::from(queue_depth);
        let load = ClosedLoop {
            queue_depth,
            refill: Refill::Exact,
            counting: Counting::Window { warm_up_requests },
            stop: Stop { bytes: Some(length.requests_most * block_bytes), time: Some(length.time) },
        };
        let measurement = lab.run(load, Work { pattern, block_bytes, operation, contents: None, seed })?;
        if measurement.requests > 0 {
            self.start_up_requests += warm_up_requests;
            self.means_ns.push(measurement.elapsed.0 as f64 / measurement.moved_requests);
            self.latencies.extend(&measurement);
        }
        Ok(measurement.cpu_requests)
    }

    /// Request time of the row. For sequential writes it is the median of the means: a visit may
    /// collect garbage of earlier rows for longer than its dropped part, and that isn't its own
    /// cost.
    fn request_ns(&self) -> Option<Interval<f64>> {
        if self.row.is_measure_of(&self.row) {
            median_interval(self.means_ns.clone())
        } else {
            mean_interval(&self.means_ns)
        }
    }

    fn cost(&self, measure: Option<Interval<f64>>) -> Option<PatternCost> {
        let request_ns = self.request_ns()?;
        let row = self.row;
        Some(PatternCost {
            micro_benchmark: row.micro_benchmark,
            pattern: row.pattern.to_string(),
            operation: row.operation,
            block_bytes: row.block_bytes,
            shift_bytes: row.shift_bytes,
            queue_depth: row.queue_depth,
            pause_ns: row.pause.0,
            burst_requests: row.burst_requests,
            start_up_requests: self.start_up_requests,
            requests: self.latencies.requests,
            request_ns,
            relative_cost: measure.map(|measure| request_ns.over_independent(&measure)),
            latency_ns: self.latencies.latency_ns.summary(),
        })
    }
}

/// Start of the last level of general random writes, when caches are full and spare blocks used up.
/// Its pauses are too rare for the rule that finds start-up phases.
fn last_level(latencies_ns: &[u64]) -> usize {
    let means = batch_means(latencies_ns, LEVEL_BATCHES);
    let last = changes(&means, LEVEL_BATCHES_LEAST).last().copied();
    last.map_or(0, |last| last * (latencies_ns.len() / means.len().max(1)))
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let block = nandle_units::format_bytes(self.block_bytes);
        write!(f, "{} {} {block}, depth {}", self.operation, self.pattern, self.queue_depth)
    }
}
