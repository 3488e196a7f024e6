//! Visits of rows: each row several times, in random order, a run of requests each time.

use nandle_io::Nanos;
use nandle_profile::Interval;
use nandle_profile::experiments::{MicroBenchmark, PatternCost, WritePatterns};
use rand::seq::SliceRandom;

use super::limits::between;
use super::rows::{Row, base_block_bytes};
use crate::experiments::Lab;
use crate::experiments::series::{Length, Pool, Walk, series};
use crate::experiments::statistics::{batch_means, mean_interval, ratio, start_up};
use crate::load::{ClosedLoop, Counting, LoadError, Measurement, Refill, Stop, Work, summary};
use crate::pattern::{Area, Pattern, generator};

/// Visits of each row, and of the baselines.
const VISITS: usize = 2;
const VISITS_OF_BASELINES: usize = 3;
/// The first part of a visit is what the row before has left behind, and doesn't count.
const LEFT_BEHIND_PART: usize = 4;
/// Means of the running phase of a visit.
const BATCHES: usize = 4;
/// Time shares of rows that a search for limits may still add.
const WEIGHT_TO_COME: u64 = 16;
/// A visit takes its part of the time, within these bounds.
const VISIT_TIME_MIN: Nanos = Nanos::from_millis(5);
const VISIT_TIME_MAX: Nanos = Nanos::from_secs(10);
/// Requests of a visit.
const REQUESTS_LEAST: u64 = 8;
const REQUESTS_MOST: u64 = 8_000;
/// A row that surely costs more than so many sequential writes is visited once: it is dear, whatever it is exactly.
const DEAR: f64 = 4.0;

/// A row and what its visits gave.
struct Visited {
    row: Row,
    visits: usize,
    start_up_requests: u64,
    /// Mean time of a request in each batch.
    means_ns: Vec<f64>,
    latencies: Measurement,
}

/// All rows.
pub(super) struct Visits {
    rows: Vec<Visited>,
    pause: Nanos,
}

impl Visits {
    pub(super) fn new(rows: Vec<Row>, pause: Nanos) -> Self {
        Self { rows: rows.into_iter().map(Visited::new).collect(), pause }
    }

    /// Visits every row as often as it deserves, and those that a search for the limits adds: first what the limits hang
    /// on, then the rest, each in random order.
    ///
    /// # Errors
    /// As for [`series`].
    pub(super) fn all(&mut self, lab: &mut Lab<'_>, pool: &mut Pool) -> Result<(), LoadError> {
        let mut order = generator(lab.seed, 67);
        loop {
            let mut due = self.next();
            if due.is_empty() {
                return Ok(());
            }
            due.shuffle(&mut order);
            for index in due {
                if !self.visit(lab, pool, index)? {
                    self.tell_end(lab);
                    return Ok(());
                }
            }
            self.add_between(lab);
        }
    }

    /// The rows that were visited least often among those that are to be visited again; of rows that never were, those
    /// that matter most.
    fn next(&self) -> Vec<usize> {
        let wanting = || self.rows.iter().enumerate().filter(|(_, visited)| self.visits_left(visited) > 0);
        let rank =
            |visited: &Visited| (visited.visits, if visited.visits == 0 { visited.row.rank() } else { 0 });
        let Some(least) = wanting().map(|(_, visited)| rank(visited)).min() else { return Vec::new() };
        wanting().filter(|(_, visited)| rank(visited) == least).map(|(index, _)| index).collect()
    }

    /// Visits that a row is still to get.
    fn visits_left(&self, visited: &Visited) -> usize {
        let is_measure = visited.row.micro_benchmark == MicroBenchmark::Baseline;
        let dear = |cost: Interval<f64>| cost.low > DEAR;
        let cost = || visited.cost(self.measure_of(&visited.row))?.relative_cost;
        let wanted = if is_measure {
            VISITS_OF_BASELINES
        } else if visited.visits > 0 && cost().is_some_and(dear) {
            1
        } else {
            VISITS
        };
        wanted.saturating_sub(visited.visits)
    }

    /// Time shares of all visits that are to come.
    fn weight_left(&self) -> u64 {
        let weights = self.rows.iter().map(|visited| visited.row.weight() * self.visits_left(visited) as u64);
        weights.sum::<u64>() + WEIGHT_TO_COME
    }

    /// `false` when time or what may be written is used up.
    fn visit(&mut self, lab: &mut Lab<'_>, pool: &mut Pool, index: usize) -> Result<bool, LoadError> {
        let (pause, weight_left) = (self.pause, self.weight_left());
        let Some(visited) = self.rows.get_mut(index) else { return Ok(true) };
        let weight = visited.row.weight();
        let time = Nanos((lab.time_left().0 / weight_left * weight).saturating_sub(pause.0))
            .clamp(VISIT_TIME_MIN, VISIT_TIME_MAX);
        if lab.time_left() < time + pause {
            return Ok(false);
        }
        let block_bytes = visited.row.block_bytes;
        if lab.write_left_bytes() < REQUESTS_LEAST * block_bytes {
            lab.out_of_writes();
            return Ok(false);
        }
        let share = lab.write_left_bytes() / weight_left * weight / block_bytes;
        let requests_most = share.clamp(REQUESTS_LEAST, REQUESTS_MOST * weight);
        lab.tell(&visited.row.to_string());
        visited.visit(lab, pool, Length { time, requests_least: REQUESTS_LEAST, requests_most })?;
        lab.flush()?;
        lab.pause(pause)?;
        Ok(true)
    }

    fn tell_end(&self, lab: &mut Lab<'_>) {
        let (least, missing) = (
            self.rows.iter().map(|visited| visited.visits).min().unwrap_or(0),
            self.rows.iter().filter(|visited| visited.visits == 0).count(),
        );
        if missing > 0 {
            lab.cut_short(format!(
                "time ended before {missing} of {} patterns were measured",
                self.rows.len()
            ));
        } else {
            lab.remark(format!("Some patterns were visited {least} times instead of {VISITS}."));
        }
    }

    /// Adds rows between the last cheap and the first dear one.
    fn add_between(&mut self, lab: &Lab<'_>) {
        let unit = lab.circumstances.shape.logical_block_bytes;
        let new = between(&self.findings(lab), unit);
        let known = |row: &Row| self.rows.iter().any(|visited| visited.row == *row);
        let new: Vec<Row> = new.into_iter().filter(|row| !known(row)).collect();
        self.rows.extend(new.into_iter().map(Visited::new));
    }

    fn findings(&self, lab: &Lab<'_>) -> WritePatterns {
        WritePatterns {
            block_bytes: base_block_bytes(lab.circumstances),
            area_bytes: lab.circumstances.area_bytes,
            patterns: self.costs(),
            ..WritePatterns::default()
        }
    }

    /// What each row costs, as far as it was visited.
    pub(super) fn costs(&self) -> Vec<PatternCost> {
        self.rows.iter().filter_map(|visited| visited.cost(self.measure_of(&visited.row))).collect()
    }

    /// What a row's cost is relative to.
    fn measure_of(&self, row: &Row) -> Option<Interval<f64>> {
        let measure = self.rows.iter().find(|visited| visited.row.is_measure_of(row))?;
        mean_interval(&measure.means_ns)
    }
}

impl Visited {
    fn new(row: Row) -> Self {
        let latencies = Measurement::new();
        Self { row, visits: 0, start_up_requests: 0, means_ns: Vec::new(), latencies }
    }

    fn visit(&mut self, lab: &mut Lab<'_>, pool: &mut Pool, length: Length) -> Result<(), LoadError> {
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
    ) -> Result<(), LoadError> {
        let Row { operation, block_bytes, pause, burst_requests, .. } = self.row;
        let mut walk = Walk { pattern, operation, block_bytes, pause, burst_requests };
        let latencies_ns = series(lab, pool, &mut walk, length)?;
        let cut = start_up(&latencies_ns).max(latencies_ns.len() / LEFT_BEHIND_PART);
        let running = latencies_ns.get(cut..).unwrap_or_default();
        self.start_up_requests += cut as u64;
        self.means_ns.extend(batch_means(running, BATCHES));
        for latency_ns in running {
            self.latencies.requests += 1;
            self.latencies.latency_ns.saturating_record(*latency_ns);
        }
        Ok(())
    }

    /// Several at a time: in windows, whose first requests don't count.
    fn together(
        &mut self,
        lab: &mut Lab<'_>,
        pattern: Pattern,
        seed: u64,
        length: Length,
    ) -> Result<(), LoadError> {
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
            self.means_ns.push(measurement.elapsed.0 as f64 / measurement.requests as f64);
            self.latencies.extend(&measurement);
        }
        Ok(())
    }

    fn cost(&self, measure: Option<Interval<f64>>) -> Option<PatternCost> {
        let request_ns = mean_interval(&self.means_ns)?;
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
            relative_cost: measure.map(|measure| ratio(request_ns, measure)),
            latency_ns: summary(&self.latencies.latency_ns),
        })
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let block = nandle_io::units::format_bytes(self.block_bytes);
        write!(f, "{} {} {block}, depth {}", self.operation, self.pattern, self.queue_depth)
    }
}
