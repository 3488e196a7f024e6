//! Memory usage of queries with a memory setting, and the queries that fail for lack of memory.

use std::fmt::Write as _;

use serde::Serialize;

use super::options::Options;
use super::programs::{Programs, rows};
use crate::bench::conditions::Conditions;
use crate::bench::data_folder::DataFolder;
use crate::bench::machine::{Machine, machine};
use crate::bench::python::threads;
use crate::bench::results::{file_name, today, write};
use crate::bench::speed::Speed;
use crate::bench::tpch;
use crate::{Outcome, output, workspace_root};

const NAME: &str = "sql-memory";
/// Memory of the group, which only measures usage here.
const GROUP_BYTES: u64 = 8 << 30;
/// Tolerated memory beyond the setting: data of the code, stacks, unaccounted allocations.
const BEYOND_MAX_MIB: f64 = 128.0;

#[derive(Serialize)]
struct Record {
    benchmark: &'static str,
    date: String,
    method: String,
    machine: Machine,
    runs: Vec<Run>,
}

/// A query with a memory setting.
#[derive(Serialize)]
struct Run {
    query: u32,
    memory_bytes: u64,
    seconds: f64,
    /// Peak without page cache.
    own_bytes: Option<u64>,
    #[serde(flatten)]
    outcome: Ended,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Ended {
    Result {
        result_rows: usize,
    },
    /// Error message, and the operator that it names.
    Failure {
        failure: String,
        operator: Option<String>,
    },
}

/// Runs each query once with each setting, and rewrites the record after each query.
pub(super) fn measure(
    options: &Options,
    numbers: &[u32],
    memories: &[u64],
    data: &DataFolder,
) -> Outcome<String> {
    let programs = Programs::prepare(options, data)?;
    let mut record = Record {
        benchmark: NAME,
        date: today()?,
        method: method(options),
        machine: machine(data.path()),
        runs: Vec::new(),
    };
    let mut text = String::new();
    let conditions = Conditions { speed: Speed::AsIs, group_bytes: GROUP_BYTES, folder: data.path() };
    for number in numbers {
        output::say(&format!("query {number}"));
        for memory_bytes in memories {
            let run = once(&programs, &conditions, options, *number, *memory_bytes)?;
            record.runs.push(run);
        }
        same_rows(&record.runs, *number)?;
        text = record.markdown(memories);
        let file = file_name(&record.date, &record.machine);
        write(&workspace_root().join("benches").join(NAME), &file, &record, &text)?;
    }
    Ok(text)
}

fn once(
    programs: &Programs<'_>,
    conditions: &Conditions<'_>,
    options: &Options,
    query: u32,
    memory_bytes: u64,
) -> Outcome<Run> {
    let command = programs.planned(&tpch::query(query, options.scale)?, memory_bytes)?;
    let ran = conditions.run(&command, programs.files())??;
    let outcome = match ran.said {
        Ok(said) => Ended::Result { result_rows: rows(&said) },
        Err(last) => {
            let failure = if ran.messages.trim().is_empty() { last } else { ran.messages };
            Ended::Failure { operator: operator(&failure).map(str::to_owned), failure }
        }
    };
    let own_bytes = ran.taken.map(|taken| taken.anonymous_bytes);
    Ok(Run { query, memory_bytes, seconds: ran.seconds, own_bytes, outcome })
}

/// Checks that a query returns equally many rows with each setting.
fn same_rows(runs: &[Run], query: u32) -> Outcome {
    let rows = runs.iter().filter(|run| run.query == query).filter_map(|run| match run.outcome {
        Ended::Result { result_rows } => Some(result_rows),
        Ended::Failure { .. } => None,
    });
    let rows: Vec<usize> = rows.collect();
    if rows.iter().zip(rows.iter().skip(1)).all(|(one, next)| one == next) {
        Ok(())
    } else {
        Err(format!("query {query} has different numbers of rows in different memories: {rows:?}").into())
    }
}

/// Parses `Failed to allocate additional 1.0 MB for HashJoinInput[0] with …`.
fn operator(failure: &str) -> Option<&str> {
    let (_, rest) = failure.split_once("Failed to allocate additional ")?;
    let (_, rest) = rest.split_once(" for ")?;
    Some(rest.split_once(" with ")?.0)
}

fn method(options: &Options) -> String {
    format!(
        "TPC-H at scale {} as tpchgen-cli writes it to Parquet, each query once with each `--memory` by `nandle sql` with planned reads and {} threads; files are out of the page cache before. \
         Peak: the most that the program had without page cache, looked at every 20 ms, in a cgroup of {} MiB that limits nothing else. Beyond: the peak without what it was told to use; at most \
         {BEYOND_MAX_MIB} MiB is the aim. Failed: the operator that had no room, by the program's own words.",
        options.scale,
        threads(),
        GROUP_BYTES >> 20,
    )
}

impl Run {
    fn peak_mib(&self) -> Option<f64> {
        Some(self.own_bytes? as f64 / f64::from(1 << 20))
    }

    fn beyond_mib(&self) -> Option<f64> {
        Some(self.peak_mib()? - self.memory_bytes as f64 / f64::from(1 << 20))
    }

    fn cells(&self) -> String {
        let mib = |mib: Option<f64>| mib.map_or_else(|| "unknown".to_owned(), |mib| format!("{mib:.0}"));
        let (peak, beyond) = (mib(self.peak_mib()), mib(self.beyond_mib()));
        match &self.outcome {
            Ended::Result { .. } => format!("{:.2} | {peak} | {beyond}", self.seconds),
            Ended::Failure { operator, .. } => {
                let operator = operator.as_deref().unwrap_or("no operator named");
                format!("failed: {operator} | {peak} | {beyond}")
            }
        }
    }
}

impl Record {
    fn markdown(&self, memories: &[u64]) -> String {
        let Self { benchmark, date, method, machine, runs } = self;
        let mut text = format!("# Benchmark `{benchmark}`, {date}\n\n{method}\n\n{}\n\n", machine.sentence());
        text += "| memory, MiB | queries | with a result | greatest beyond, MiB | above the aim | failed without naming an operator |\n|--:|--:|--:|--:|--:|--:|\n";
        for memory_bytes in memories {
            text += &self.sum(*memory_bytes);
        }
        let heads: Vec<String> = memories
            .iter()
            .map(|bytes| format!("{} MiB, s | peak, MiB | beyond, MiB", bytes >> 20))
            .collect();
        let _ = writeln!(
            text,
            "\n| query | {} |\n|--:{} |",
            heads.join(" | "),
            "|--:|--:|--:".repeat(memories.len())
        );
        let mut numbers: Vec<u32> = runs.iter().map(|run| run.query).collect();
        numbers.dedup();
        for number in numbers {
            let cells = runs.iter().filter(|run| run.query == number).map(Run::cells);
            let _ = writeln!(text, "| {number} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
        let _ = writeln!(text, "\nEvery run: [{file}]({file})", file = file_name(date, machine));
        text
    }

    fn sum(&self, memory_bytes: u64) -> String {
        let runs: Vec<&Run> = self.runs.iter().filter(|run| run.memory_bytes == memory_bytes).collect();
        let count = |has: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| has(run)).count();
        let beyond = runs.iter().filter_map(|run| run.beyond_mib()).max_by(f64::total_cmp);
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            memory_bytes >> 20,
            runs.len(),
            count(&|run| matches!(run.outcome, Ended::Result { .. })),
            beyond.map_or_else(String::new, |mib| format!("{mib:.0}")),
            count(&|run| run.beyond_mib().is_some_and(|mib| mib > BEYOND_MAX_MIB)),
            count(&|run| matches!(run.outcome, Ended::Failure { operator: None, .. })),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(query: u32, memory_mib: u64, outcome: Ended) -> Run {
        Run { query, memory_bytes: memory_mib << 20, seconds: 1.0, own_bytes: Some(400 << 20), outcome }
    }

    #[test]
    fn the_operator_is_found_in_the_programs_words() {
        let words = "error: Resources exhausted: Additional allocation failed for GroupedHashAggregateStream[1] (Partial) with top memory consumers \
                     (across reservations) as:\n  a#1 consumed 3.0 MB.\nError: Failed to allocate additional 2.0 MB for HashJoinInput[0] with 0.0 B already";
        assert_eq!(operator(words), Some("HashJoinInput[0]"));
        assert_eq!(operator("error: there is no such table"), None);
    }

    #[test]
    fn what_is_beyond_is_told() {
        let failure = Ended::Failure { failure: "no".to_owned(), operator: None };
        let runs = vec![run(1, 512, Ended::Result { result_rows: 4 }), run(1, 256, failure)];
        let here = workspace_root();
        let record = Record {
            benchmark: NAME,
            date: String::new(),
            method: String::new(),
            machine: machine(&here),
            runs,
        };
        let text = record.markdown(&[512 << 20, 256 << 20]);
        assert!(text.contains("| 512 | 1 | 1 | -112 | 0 | 0 |"), "{text}");
        assert!(text.contains("| 256 | 1 | 0 | 144 | 1 | 1 |"), "{text}");
        assert!(text.contains("| 1 | 1.00 | 400 | -112 | failed: no operator named | 400 | 144 |"), "{text}");
    }

    #[test]
    fn rows_in_all_memories_are_the_same() {
        let of = |result_rows| run(6, 1, Ended::Result { result_rows });
        assert!(same_rows(&[of(4), of(4)], 6).is_ok() && same_rows(&[of(4), of(5)], 6).is_err());
    }
}
