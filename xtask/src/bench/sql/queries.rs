//! TPC-H's queries by each program, at each speed.

use super::options::Options;
use super::programs::{DUCKDB, ENGINE, PLANNED, Programs, TABLES};
use super::{BENCH, GROUP_BYTES, MEMORY_BYTES};
use crate::bench::data_folder::DataFolder;
use crate::bench::machine::machine;
use crate::bench::python::threads;
use crate::bench::results::{Comparison, Results};
use crate::bench::speed::Speed;
use crate::bench::tpch;
use crate::bench::trial::{OWN_MEMORY, Pair, SECONDS, Trial, rounds, summary};
use crate::{Outcome, workspace_root};

/// Ours compared with others, and tables with files.
const PAIRS: [Pair; 5] = [
    Pair { baseline: ENGINE, candidate: PLANNED },
    Pair { baseline: DUCKDB, candidate: PLANNED },
    Pair { baseline: ENGINE, candidate: TABLES },
    Pair { baseline: DUCKDB, candidate: TABLES },
    Pair { baseline: PLANNED, candidate: TABLES },
];

struct Task {
    query: String,
    speed: Speed,
}

/// Runs all queries, and rewrites the record after each task, so that an interrupted benchmark
/// leaves results.
pub(super) fn measure(options: &Options, numbers: &[u32], data: &DataFolder) -> Outcome<String> {
    let programs = Programs::prepare(options, data)?;
    let mut results = Results::new(BENCH.name, "", machine(data.path()), Vec::new())?;
    let mut table = String::new();
    rounds(
        &mut trials(options, numbers, &programs)?,
        options.rounds,
        &mut |task, name| programs.run(name, &task.query, task.speed),
        &mut |trials, done| {
            (results.comparisons, results.failures) = (comparisons(trials)?, failures(trials));
            results.method = method(options, done, &results.comparisons);
            table = results.write(&workspace_root().join("benches"))?;
            Ok(())
        },
    )?;
    Ok(table)
}

fn trials(options: &Options, numbers: &[u32], programs: &Programs<'_>) -> Outcome<Vec<Trial<Task>>> {
    let tasks = options.speeds.iter().flat_map(|speed| numbers.iter().map(|number| (*speed, *number)));
    let trial = |(speed, number): (Speed, u32)| {
        let task = Task { query: tpch::query(number, options.scale)?, speed };
        Ok(Trial::new(format!("query {number}, {}", speed.name()), task, programs.everyone()))
    };
    tasks.map(trial).collect()
}

/// Comparisons of times, then of memory.
fn comparisons(trials: &[Trial<Task>]) -> Outcome<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for measure in [SECONDS, OWN_MEMORY] {
        for trial in trials {
            comparisons.extend(trial.comparisons(&PAIRS, measure)?);
        }
    }
    Ok(comparisons)
}

fn failures(trials: &[Trial<Task>]) -> Vec<crate::bench::results::Failure> {
    trials.iter().flat_map(Trial::failures).collect()
}

/// Mean ratio of each pair at each speed.
fn means(options: &Options, comparisons: &[Comparison]) -> String {
    let mut means = Vec::new();
    for pair in PAIRS {
        for speed in &options.speeds {
            let of = |one: &&Comparison| {
                let names = (one.baseline.name.as_str(), one.candidate.name.as_str());
                names == (pair.baseline, pair.candidate)
                    && one.unit == "s"
                    && one.task.ends_with(speed.name())
            };
            if let Some(mean) = summary(comparisons.iter().filter(of)) {
                means.push(format!("{} : {} {} {mean}", pair.candidate, pair.baseline, speed.name()));
            }
        }
    }
    means.join(", ")
}

fn method(options: &Options, done: &str, comparisons: &[Comparison]) -> String {
    let tables = if options.has_tables {
        " `tables` is the same with each file loaded into a table by `nandle table load`."
    } else {
        ""
    };
    let warm = if options.speeds.contains(&Speed::Warm) {
        " Warm: all files are read into the page cache before, outside the group, whose memory they take nothing of, and the same command has just run once; DuckDB and the engine's own readers \
         find them there. Planned reads go past the page cache and read the disk again, so that for them warm is what the disk and its host still have in their caches."
    } else {
        ""
    };
    format!(
        "TPC-H at scale {} as tpchgen-cli writes it to Parquet; {done}, in each of which everyone runs each query once, in turns. `planned` and `engine` are `nandle sql` with planned reads and \
         with DataFusion's own readers: a run is a process, from its start to its end.{tables} DuckDB's time begins when Python has loaded it. As is and limited, files are out of the page cache before. \
         Everyone is told to use {} MiB and {} threads, in a memory cgroup of {} MiB, page cache included. Limited: {} MB/s and {} reads a second, by cgroup.{warm} In MiB: the most that a program had \
         without page cache, looked at every 20 ms. Below 1 the candidate is quicker, or takes less. Geometric means of the ratios of seconds: {}.",
        options.scale,
        MEMORY_BYTES >> 20,
        threads(),
        GROUP_BYTES >> 20,
        Speed::SMALL_VOLUME.bytes_per_s / 1_000_000,
        Speed::SMALL_VOLUME.reads_per_s,
        means(options, comparisons)
    )
}
