//! Record of every run and share, and its tables.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::coordinator::Task;
use super::fleet::{ALONE, BY_TIME, EQUAL, ONE, TWO};
use super::options::Options;
use super::shares::Share;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::Outcome;
use crate::bench::results::{Comparison, Results, write};
use crate::bench::speed::Speed;
use crate::bench::stats::Spread;
use crate::bench::trial::{MILLISECONDS, Pair, SECONDS, Trial, summary};

/// Minimum time with one worker for a query to count as long.
const LONG_S: f64 = 2.0;
const QUERIES: [Pair; 4] = [
    Pair { baseline: ONE, candidate: TWO },
    Pair { baseline: ALONE, candidate: TWO },
    Pair { baseline: ALONE, candidate: ONE },
    Pair { baseline: EQUAL, candidate: BY_TIME },
];
const BEFORE: [Pair; 1] = [Pair { baseline: ALONE, candidate: TWO }];

#[derive(Serialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) results: Results,
    pub(super) shares: Vec<Share>,
}

impl Record {
    /// Writes the results so far. Returns the tables.
    pub(super) fn write(
        &mut self,
        options: &Options,
        trials: &[Trial<Task>],
        done: &str,
        benches: &Path,
    ) -> Outcome<String> {
        let mut comparisons = Vec::new();
        for trial in trials {
            comparisons.extend(match trial.task {
                Task::Query(_) => trial.comparisons(&QUERIES, SECONDS)?,
                Task::Connecting | Task::Planning(_) | Task::Short => {
                    trial.comparisons(&BEFORE, MILLISECONDS)?
                }
            });
        }
        self.results.method = method(options, done, &comparisons);
        self.results.comparisons = comparisons;
        self.results.failures = trials.iter().flat_map(Trial::failures).collect();
        let table = self.results.markdown() + &self.shares();
        write(&benches.join(super::BENCH.name), &self.results.file_name(), self, &table)?;
        Ok(table)
    }

    fn shares(&self) -> String {
        let mut text = "\n## Shares\n\nRow groups, bytes and predicted time of each worker's share, as EXPLAIN says them; what isn't here isn't dealt out.\n\n\
                        | query | workers | table | first | second |\n|--:|---|---|---|---|\n"
            .to_owned();
        for share in &self.shares {
            let parts = share
                .parts
                .iter()
                .map(|part| format!("{} row groups, {}, {}", part.row_groups, part.bytes, part.predicted));
            let mut parts: Vec<String> = parts.collect();
            // One worker runs a scan that isn't split.
            parts.resize(2, String::new());
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                share.query,
                share.workers,
                share.table,
                parts.join(" | ")
            );
        }
        text
    }
}

fn method(options: &Options, done: &str, comparisons: &[Comparison]) -> String {
    format!(
        "TPC-H at scale {} as tpchgen-cli writes it to Parquet; {done}, in each of which everyone runs once, in turns. A worker is bound to one core and has one thread and {} MiB, in a memory cgroup of {} MiB; workers run all the time, \
         and the files are out of the page cache before each query. `{ONE}`: `nandle sql` asks one worker, and has that one's core alone. `{TWO}`: it asks two, and has their two cores and no other. `{ALONE}`: no worker, and one core. The time is that \
         process's, from its start to its end. Scans that are predicted to take less than {} aren't dealt out. All results are compared. `{BY_TIME}` and `{EQUAL}`: the second worker reads at most {} MB/s and {} times a second, by cgroup; it goes by a profile that was \
         measured so, or by the first one's, so that shares are equal. In ms: `{ALONE}` has both cores as well, and files aren't taken out of the page cache. Connecting: SELECT 1 with two workers, and without. A short query: some rows of one column, dealt out whatever it takes, and without workers. \
         Planning: EXPLAIN, which is told to plan once, with two workers and without, so that the difference is connecting and what it takes to plan for workers. {}.",
        options.scale,
        MEMORY_BYTES >> 20,
        GROUP_BYTES >> 20,
        options.distribute_above,
        Speed::SMALL_VOLUME.bytes_per_s / 1_000_000,
        Speed::SMALL_VOLUME.reads_per_s,
        sums(comparisons).join("; ")
    )
}

/// Ratios of queries, and differences of planning and connecting.
fn sums(comparisons: &[Comparison]) -> Vec<String> {
    let mut sums = Vec::new();
    for pair in QUERIES {
        let of = |one: &&Comparison| {
            (one.baseline.name.as_str(), one.candidate.name.as_str()) == (pair.baseline, pair.candidate)
                && one.unit == "s"
        };
        let long = |one: &&Comparison| of(one) && one.baseline.spread.median > LONG_S;
        let (all, long) = (comparisons.iter().filter(of), comparisons.iter().filter(long));
        let count = long.clone().count();
        let long = summary(long).map(|sum| format!(", of the {count} above {LONG_S} s {sum}"));
        let all = summary(all).map(|sum| format!("{} : {} {sum}", pair.candidate, pair.baseline));
        sums.extend(all.map(|all| all + &long.unwrap_or_default()));
    }
    sums.extend(["connecting", "a short query", "planning"].into_iter().filter_map(|task| {
        let before = comparisons.iter().filter(|one| one.unit == "ms" && one.task.starts_with(task));
        let differences = before.map(|one| one.candidate.spread.median - one.baseline.spread.median);
        let Spread { median, max, .. } = Spread::of(&differences.collect::<Vec<_>>())?;
        Some(format!("{task} takes {median:.0} ms more (median), at most {max:.0}"))
    }));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::results::Runs;

    fn comparison(task: &str, unit: &str, pair: Pair, times: [f64; 2]) -> Comparison {
        let [baseline, candidate] = times;
        let baseline = Runs { name: pair.baseline, figures: vec![baseline] };
        Comparison::new(task, unit, baseline, Runs { name: pair.candidate, figures: vec![candidate] })
            .unwrap()
    }

    #[test]
    fn long_queries_and_differences_are_summed_up() {
        let [pair, ..] = QUERIES;
        let all = [
            comparison("query 1", "s", pair, [4.0, 2.0]),
            comparison("query 2", "s", pair, [1.0, 2.0]),
            comparison("planning query 1", "ms", BEFORE[0], [10.0, 30.0]),
            comparison("planning query 2", "ms", BEFORE[0], [10.0, 50.0]),
        ];
        let sums = sums(&all);
        assert_eq!(
            sums[0],
            "two workers : one worker 1.00 (greatest 2.00, query 2), of the 1 above 2 s 0.50 (greatest 0.50, query 1)"
        );
        assert_eq!(sums[1], "planning takes 30 ms more (median), at most 40");
    }
}
