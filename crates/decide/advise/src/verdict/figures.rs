//! Table of key figures for database administrators.

use nandle_profile::arithmetic::{inverse, map};
use nandle_profile::experiments::{MixedLoad, PatternCost};
use nandle_profile::{CommitTime, Interval, MeasuredCell};
use nandle_units::format_bytes;
use serde::Serialize;

use crate::figures::Figures;
use crate::figures::words::whole;
use crate::settings::MissingFigure;

/// Page sizes of SQLite, PostgreSQL and InnoDB.
const PAGES_BYTES: [u64; 3] = [4 << 10, 8 << 10, 16 << 10];
/// Page size and read share of the mixed load, a common model of transactional loads.
const MIXED_BYTES: u64 = 8 << 10;
const MIXED_READ_PERCENT: u8 = 70;

const READS: MissingFigure =
    MissingFigure { needs: "random reads of this size", how: "--budget 60s measures it" };
const SCANS: MissingFigure = MissingFigure { needs: "sequential reads", how: "--budget 60s measures it" };
const MIXED_LOAD: MissingFigure = MissingFigure { needs: "a mixed load", how: "--budget 60s measures it" };
const PATTERNS: MissingFigure = MissingFigure { needs: "the write-patterns", how: "--budget 5m measures it" };
const COMMITS: MissingFigure = MissingFigure { needs: "commits", how: "--budget 60s measures it" };
const LARGE: MissingFigure = MissingFigure { needs: "large writes", how: "--budget 5m measures it" };

/// Row of the table: latency at depth 1 and peak rate of one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureRow {
    /// Load.
    pub load: Load,
    /// Name of the load: `random reads, 8KiB`.
    pub name: String,
    /// Bytes of one request; `null` if nothing with a size was measured.
    pub block_bytes: Option<u64>,
    /// Latency at depth 1; `null` if it wasn't measured.
    pub alone: Option<DepthOneLatency>,
    /// Peak rate; `null` if it wasn't measured.
    pub most: Option<PeakRate>,
    /// True if a write cache, volatile or not, absorbed the writes. Such figures hold for bursts.
    pub by_cache: bool,
    /// Figure that a row without figures lacks, and the option of `nandle probe` that measures it.
    pub missing: Option<MissingFigure>,
}

/// Mark of figures from a write cache.
pub const CACHE_MARK: char = '†';

/// Load of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Random reads of a page.
    RandomRead,
    /// Random writes of a page.
    RandomWrite,
    /// Random reads (70 %) and writes of a page.
    Mixed,
    /// Durable write.
    Commit,
    /// Sequential reads.
    SequentialRead,
    /// Sequential writes.
    SequentialWrite,
}

/// Latency at depth 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DepthOneLatency {
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99th percentile; `null` unless ten requests were slower.
    pub p99_ns: Option<u64>,
    /// Requests that were timed; they limit the digits of the median. `null` if unknown.
    pub requests: Option<u64>,
}

impl DepthOneLatency {
    /// Significant digits of the median. Its standard error is about 1.25 standard deviations
    /// divided by the square root of the number of requests. Times of a disk deviate by about half
    /// their value, which gives 6 % for 100 requests and 20 % for ten.
    pub fn digits(&self) -> u8 {
        self.requests.map_or(DIGITS_MAX, significant_digits)
    }
}

/// Significant digits that an interval supports: two if its width is a fifth of the value. With one
/// digit, rates and bandwidths would seem to contradict each other.
pub fn digits_of(interval: &Interval<f64>) -> u8 {
    const DIGITS_MIN: u8 = 2;
    match (interval.high - interval.low) / interval.value {
        ..0.2 => DIGITS_MAX,
        _ => DIGITS_MIN,
    }
}

/// Most significant digits of a figure.
pub const DIGITS_MAX: u8 = 3;

/// See [`DepthOneLatency::digits`].
pub fn significant_digits(requests: u64) -> u8 {
    match requests {
        ..10 => 1,
        10..100 => 2,
        _ => DIGITS_MAX,
    }
}

/// Peak rate of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PeakRate {
    /// Requests per second.
    pub rate_per_s: Interval<f64>,
    /// Bytes per second.
    pub bandwidth_bytes_per_s: Interval<f64>,
    /// Requests outstanding, or sessions that commit together.
    pub queue_depth: u32,
}

/// Common unit of all times in a table, so that they are easy to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// For times below 10 ms.
    Microseconds,
    /// For tables with a time of 10 ms or more.
    Milliseconds,
}

impl TimeUnit {
    /// Least time in milliseconds.
    const LONG_NS: u64 = 10_000_000;

    /// Unit for the rows of a table.
    pub fn of(rows: &[FigureRow]) -> Self {
        let alone = rows.iter().filter_map(|row| row.alone);
        let times_ns = alone.flat_map(|alone| [alone.p50_ns, alone.p99_ns]).flatten();
        Self::for_longest(times_ns.max().unwrap_or(0))
    }

    /// Unit for a table with this longest time.
    pub fn for_longest(longest_ns: u64) -> Self {
        if longest_ns >= Self::LONG_NS { Self::Milliseconds } else { Self::Microseconds }
    }

    /// Nanoseconds per unit.
    pub fn nanos(self) -> f64 {
        match self {
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
        }
    }

    /// Symbol of the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
        }
    }
}

/// Rows in the order of the table.
pub(super) fn rows(figures: &Figures<'_>) -> Vec<FigureRow> {
    let reads = PAGES_BYTES.map(|bytes| random_read(figures, bytes));
    let writes = PAGES_BYTES.map(|bytes| random_write(figures, bytes));
    let others = [mixed(figures), commit(figures), sequential_read(figures), sequential_write(figures)];
    reads.into_iter().chain(writes).chain(others).collect()
}

impl FigureRow {
    fn new(load: Load, what: &str, block_bytes: u64) -> Self {
        let name = format!("{what}, {}", format_bytes(block_bytes));
        Self {
            load,
            name,
            block_bytes: Some(block_bytes),
            alone: None,
            most: None,
            by_cache: false,
            missing: None,
        }
    }

    /// Name, with a mark if a write cache absorbed the writes.
    pub fn marked_name(&self) -> String {
        if self.by_cache { format!("{} {CACHE_MARK}", self.name) } else { self.name.clone() }
    }

    /// Adds the missing figure if the row has no figures.
    fn or_missing(self, missing: MissingFigure) -> Self {
        let is_empty = self.alone.is_none() && self.most.is_none();
        Self { missing: is_empty.then_some(missing), ..self }
    }
}

impl PeakRate {
    fn of_rate(rate_per_s: Interval<f64>, block_bytes: u64, queue_depth: u32) -> Self {
        let bandwidth_bytes_per_s = map(&rate_per_s, |rate| rate * block_bytes as f64);
        Self { rate_per_s, bandwidth_bytes_per_s, queue_depth }
    }

    fn of_bandwidth(bandwidth_bytes_per_s: Interval<f64>, block_bytes: u64, queue_depth: u32) -> Self {
        let rate_per_s = map(&bandwidth_bytes_per_s, |rate| rate / block_bytes as f64);
        Self { rate_per_s, bandwidth_bytes_per_s, queue_depth }
    }
}

fn random_read(figures: &Figures<'_>, block_bytes: u64) -> FigureRow {
    let of_size = |cell: &&MeasuredCell| cell.cell.block_bytes == block_bytes && cell.cell.queue_depth == 1;
    let alone = figures.read_cells("random").find(of_size).map(|cell| DepthOneLatency {
        p50_ns: cell.cell.latency_ns.p50,
        p99_ns: cell.cell.latency_ns.p99,
        requests: Some(cell.cell.requests),
    });
    let rows = &figures.profile.derived.saturating_queue_depth;
    let plateau = rows.iter().find(|row| row.block_bytes == block_bytes);
    FigureRow {
        alone,
        most: plateau
            .map(|row| PeakRate::of_bandwidth(row.plateau_bytes_per_s, block_bytes, row.queue_depth.value)),
        ..FigureRow::new(Load::RandomRead, "random reads", block_bytes)
    }
    .or_missing(READS)
}

fn random_write(figures: &Figures<'_>, block_bytes: u64) -> FigureRow {
    let of_size = |row: &&PatternCost| row.block_bytes == block_bytes;
    let row = FigureRow::new(Load::RandomWrite, "random writes", block_bytes);
    let by_cache = figures.plain_writes("random").filter(of_size).any(|row| figures.cache_answers(row));
    let alone = figures.random_writes_alone().find(of_size).map(depth_one_latency);
    let deep = figures.plain_writes("random").filter(of_size).map(peak_rate);
    let other_depths = figures.small_writes(block_bytes);
    let other = other_depths.map(|(depth, rate)| PeakRate::of_rate(rate, block_bytes, depth));
    FigureRow { alone, most: deep.chain(other).max_by(by_rate), by_cache, ..row }.or_missing(PATTERNS)
}

fn mixed(figures: &Figures<'_>) -> FigureRow {
    let loads = figures.mixed_loads(MIXED_READ_PERCENT);
    let alone = loads.iter().find(|load| load.queue_depth == 1);
    let most =
        loads.iter().map(|load| PeakRate::of_rate(load.requests_per_s, load.block_bytes, load.queue_depth));
    let block_bytes = loads.first().map_or(MIXED_BYTES, |load| load.block_bytes);
    let written =
        |load: &MixedLoad| load.requests * load.block_bytes * u64::from(100 - MIXED_READ_PERCENT) / 100;
    FigureRow {
        by_cache: loads.iter().any(|load| figures.fits_in_cache(written(load))),
        alone: alone.map(|load| DepthOneLatency {
            p50_ns: load.latency_ns.p50,
            p99_ns: load.latency_ns.p99,
            requests: Some(load.requests),
        }),
        most: most.max_by(by_rate),
        ..FigureRow::new(Load::Mixed, "70 % reads, 30 % writes", block_bytes)
    }
    .or_missing(MIXED_LOAD)
}

fn commit(figures: &Figures<'_>) -> FigureRow {
    let commit = figures.profile.commit();
    let gain = figures.profile.derived.group_commit;
    let (method, bytes) = commit.map_or_else(
        || ("fdatasync".into(), MIXED_BYTES),
        |commit| (commit.method.to_string(), commit.write_bytes),
    );
    let median = commit.map(|commit| whole(commit.median_ns.value));
    let timed = |commit: &CommitTime| {
        let costs = figures.profile.experiments.commits();
        costs.filter(|cost| commit.is_of(cost)).map(|cost| cost.observations).max()
    };
    let quick_ns = figures.medium_write_ns_min();
    FigureRow {
        by_cache: commit.is_some_and(|commit| commit.median_ns.high < quick_ns),
        alone: commit.map(|commit| DepthOneLatency {
            p50_ns: median,
            p99_ns: commit.p99_ns,
            requests: timed(&commit),
        }),
        most: gain.map(|gain| PeakRate::of_rate(gain.together_per_s, bytes, gain.writers.value)),
        ..FigureRow::new(Load::Commit, &format!("commits ({method})"), bytes)
    }
    .or_missing(COMMITS)
}

fn sequential_read(figures: &Figures<'_>) -> FigureRow {
    let best = figures.profile.derived.sequential_bandwidth_bytes_per_s_max;
    let rate = |cell: &MeasuredCell| cell.steady_bandwidth_bytes_per_s.value;
    let cell = figures.read_cells("sequential").max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let both = best.zip(cell);
    let most =
        both.map(|(best, cell)| PeakRate::of_bandwidth(best, cell.cell.block_bytes, cell.cell.queue_depth));
    let block_bytes = both.map_or(1 << 20, |(_, cell)| cell.cell.block_bytes);
    FigureRow { most, ..FigureRow::new(Load::SequentialRead, "sequential reads", block_bytes) }
        .or_missing(SCANS)
}

fn sequential_write(figures: &Figures<'_>) -> FigureRow {
    let best = figures.best_sequential_write();
    let most = best.map(|best| PeakRate::of_bandwidth(best.bytes_per_s, best.block_bytes, best.queue_depth));
    let block_bytes = best.map_or(1 << 20, |best| best.block_bytes);
    let by_cache = best.is_some_and(|best| figures.cache_answers_sequential(&best));
    FigureRow { most, by_cache, ..FigureRow::new(Load::SequentialWrite, "sequential writes", block_bytes) }
        .or_missing(LARGE)
}

fn depth_one_latency(row: &PatternCost) -> DepthOneLatency {
    DepthOneLatency { p50_ns: row.latency_ns.p50, p99_ns: row.latency_ns.p99, requests: Some(row.requests) }
}

fn peak_rate(row: &PatternCost) -> PeakRate {
    PeakRate::of_rate(inverse(1e9, &row.request_ns), row.block_bytes, row.queue_depth)
}

fn by_rate(one: &PeakRate, other: &PeakRate) -> std::cmp::Ordering {
    one.rate_per_s.value.total_cmp(&other.rate_per_s.value)
}
