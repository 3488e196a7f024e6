//! The figures that a database administrator looks for, as one small table.

use nandle_profile::arithmetic::{inverse, map};
use nandle_profile::experiments::PatternCost;
use nandle_profile::{Interval, MeasuredCell};
use nandle_units::format_bytes;
use serde::Serialize;

use crate::figures::Figures;
use crate::figures::words::whole;
use crate::settings::MissingFigure;

/// Pages of databases: SQLite's, PostgreSQL's, InnoDB's.
const PAGES_BYTES: [u64; 3] = [4 << 10, 8 << 10, 16 << 10];
/// The page of the mixed load, and its share of reads: what many call a transactional load.
const MIXED_BYTES: u64 = 8 << 10;
const MIXED_READ_PERCENT: u8 = 70;

const READS: MissingFigure =
    MissingFigure { needs: "random reads of this size", how: "--budget 60s measures it" };
const SCANS: MissingFigure = MissingFigure { needs: "sequential reads", how: "--budget 60s measures it" };
const MIXED_LOAD: MissingFigure = MissingFigure { needs: "a mixed load", how: "--budget 60s measures it" };
const PATTERNS: MissingFigure = MissingFigure { needs: "the write-patterns", how: "--budget 5m measures it" };
const COMMITS: MissingFigure = MissingFigure { needs: "commits", how: "--budget 60s measures it" };
const LARGE: MissingFigure = MissingFigure { needs: "large writes", how: "--budget 5m measures it" };

/// A row: one load, what a request of it takes alone, and the most of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureRow {
    /// What is done.
    pub load: Load,
    /// In words: `random reads, 8KiB`.
    pub name: String,
    /// Bytes of one request; `null` where nothing was measured that has a size.
    pub block_bytes: Option<u64>,
    /// One request at a time; `null` where that wasn't measured.
    pub alone: Option<Alone>,
    /// As many a second as there can be; `null` where that wasn't measured.
    pub most: Option<Most>,
    /// What is missing of a row without figures, and the option of `nandle probe` that measures it.
    pub missing: Option<MissingFigure>,
}

/// Loads of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Reads of a page anywhere.
    RandomRead,
    /// Writes of a page anywhere.
    RandomWrite,
    /// Both, 70 % of them reads.
    Mixed,
    /// A write that is made durable.
    Commit,
    /// Reads one after the other.
    SequentialRead,
    /// Writes one after the other.
    SequentialWrite,
}

/// The latency of one request at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Alone {
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99th percentile; `null` unless ten requests were slower.
    pub p99_ns: Option<u64>,
}

/// The most of a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Most {
    /// Requests a second.
    pub rate_per_s: Interval<f64>,
    /// Bytes a second.
    pub bandwidth_bytes_per_s: Interval<f64>,
    /// Requests outstanding, or sessions that commit together.
    pub queue_depth: u32,
}

/// The unit of all times of a table: one for all, so that they compare at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Of what is quick.
    Microseconds,
    /// Where something takes 10 ms or more.
    Milliseconds,
}

impl TimeUnit {
    /// From this time on, microseconds have too many digits.
    const LONG_NS: u64 = 10_000_000;

    /// The unit for these rows.
    pub fn of(rows: &[FigureRow]) -> Self {
        let alone = rows.iter().filter_map(|row| row.alone);
        let times_ns = alone.flat_map(|alone| [alone.p50_ns, alone.p99_ns]).flatten();
        Self::for_longest(times_ns.max().unwrap_or(0))
    }

    /// The unit where this is the longest time.
    pub fn for_longest(longest_ns: u64) -> Self {
        if longest_ns >= Self::LONG_NS { Self::Milliseconds } else { Self::Microseconds }
    }

    /// Nanoseconds of one.
    pub fn nanos(self) -> f64 {
        match self {
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
        }
    }

    /// As terminals and JSON write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
        }
    }
}

/// The rows, in the order of the table.
pub(super) fn rows(figures: &Figures<'_>) -> Vec<FigureRow> {
    let reads = PAGES_BYTES.map(|bytes| random_read(figures, bytes));
    let writes = PAGES_BYTES.map(|bytes| random_write(figures, bytes));
    let others = [mixed(figures), commit(figures), sequential_read(figures), sequential_write(figures)];
    reads.into_iter().chain(writes).chain(others).collect()
}

impl FigureRow {
    fn new(load: Load, what: &str, block_bytes: u64) -> Self {
        let name = format!("{what}, {}", format_bytes(block_bytes));
        Self { load, name, block_bytes: Some(block_bytes), alone: None, most: None, missing: None }
    }

    /// Without any figure the row says what is missing.
    fn or_missing(self, missing: MissingFigure) -> Self {
        let is_empty = self.alone.is_none() && self.most.is_none();
        Self { missing: is_empty.then_some(missing), ..self }
    }
}

impl Most {
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
    let latency = figures.read_cells("random").find(of_size).map(|cell| cell.cell.latency_ns);
    let rows = &figures.profile.derived.saturating_queue_depth;
    let plateau = rows.iter().find(|row| row.block_bytes == block_bytes);
    FigureRow {
        alone: latency.map(|latency| Alone { p50_ns: latency.p50, p99_ns: latency.p99 }),
        most: plateau
            .map(|row| Most::of_bandwidth(row.plateau_bytes_per_s, block_bytes, row.queue_depth.value)),
        ..FigureRow::new(Load::RandomRead, "random reads", block_bytes)
    }
    .or_missing(READS)
}

fn random_write(figures: &Figures<'_>, block_bytes: u64) -> FigureRow {
    let of_size = |row: &&PatternCost| row.block_bytes == block_bytes;
    let row = FigureRow::new(Load::RandomWrite, "random writes", block_bytes);
    let alone = figures.random_writes_alone().find(of_size).map(alone);
    let deep = figures.plain_writes("random").filter(of_size).map(most);
    let other_depths = figures.small_writes(block_bytes);
    let other = other_depths.map(|(depth, rate)| Most::of_rate(rate, block_bytes, depth));
    FigureRow { alone, most: deep.chain(other).max_by(by_rate), ..row }.or_missing(PATTERNS)
}

fn mixed(figures: &Figures<'_>) -> FigureRow {
    let loads = figures.mixed_loads(MIXED_READ_PERCENT);
    let alone = loads.iter().find(|load| load.queue_depth == 1);
    let most =
        loads.iter().map(|load| Most::of_rate(load.requests_per_s, load.block_bytes, load.queue_depth));
    let block_bytes = loads.first().map_or(MIXED_BYTES, |load| load.block_bytes);
    FigureRow {
        alone: alone.map(|load| Alone { p50_ns: load.latency_ns.p50, p99_ns: load.latency_ns.p99 }),
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
    FigureRow {
        alone: commit.map(|commit| Alone { p50_ns: median, p99_ns: commit.p99_ns }),
        most: gain.map(|gain| Most::of_rate(gain.together_per_s, bytes, gain.writers.value)),
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
        both.map(|(best, cell)| Most::of_bandwidth(best, cell.cell.block_bytes, cell.cell.queue_depth));
    let block_bytes = both.map_or(1 << 20, |(_, cell)| cell.cell.block_bytes);
    FigureRow { most, ..FigureRow::new(Load::SequentialRead, "sequential reads", block_bytes) }
        .or_missing(SCANS)
}

fn sequential_write(figures: &Figures<'_>) -> FigureRow {
    let best = figures.best_sequential_write();
    let most = best.map(|best| Most::of_bandwidth(best.bytes_per_s, best.block_bytes, best.queue_depth));
    let block_bytes = best.map_or(1 << 20, |best| best.block_bytes);
    FigureRow { most, ..FigureRow::new(Load::SequentialWrite, "sequential writes", block_bytes) }
        .or_missing(LARGE)
}

fn alone(row: &PatternCost) -> Alone {
    Alone { p50_ns: row.latency_ns.p50, p99_ns: row.latency_ns.p99 }
}

fn most(row: &PatternCost) -> Most {
    Most::of_rate(inverse(1e9, &row.request_ns), row.block_bytes, row.queue_depth)
}

fn by_rate(one: &Most, other: &Most) -> std::cmp::Ordering {
    one.rate_per_s.value.total_cmp(&other.rate_per_s.value)
}
