//! Process that distributes queries to workers.

use std::path::Path;
use std::process::Command;

use super::MEMORY_BYTES;
use super::fleet::{BY_TIME, EQUAL, Fleet, TWO, bound, cores};
use super::options::{Options, Part};
use super::shares::{Share, shares};
use crate::Outcome;
use crate::bench::contained;
use crate::bench::release::nandle_sql;
use crate::bench::tpch;
use crate::bench::trial::{Ran, Run};

/// Statement without reads.
const NOTHING: &str = "SELECT 1";
/// Query of a table short enough to run quickly, and long enough to distribute.
const SHORT: &str = "SELECT count(*), min(p_size), max(p_size) FROM part WHERE p_size > 1";
/// Full EXPLAIN would plan twice: once to show the plan, and again to predict its reads.
const PLAN_ONCE: &str = "SET datafusion.explain.logical_plan_only = true";
/// Distributes every scan that permits it.
const ALWAYS: &str = "0ms";

/// Task of the coordinator.
pub(super) enum Task {
    Query(String),
    /// Only connects: neither the process nor the workers run a query.
    Connecting,
    /// Plans a query, with and without workers, and doesn't run it.
    Planning(String),
    /// Distributes a query however short it is.
    Short,
}

pub(super) struct Coordinator<'a> {
    pub(super) options: &'a Options,
    pub(super) folder: &'a Path,
    pub(super) files: &'a Path,
    pub(super) fleet: &'a Fleet,
}

impl Coordinator<'_> {
    /// Runs a task under a name, or returns the reason of its failure.
    pub(super) fn run(&self, task: &Task, name: &str) -> Outcome<Ran> {
        if matches!(task, Task::Query(_)) {
            contained::forget(self.files)?;
        }
        let command = self.command_of(task, name)?;
        let ran = contained::run(&command, None, self.folder)?;
        let answer = |said: &str| match task {
            Task::Query(_) | Task::Short => sorted(said),
            Task::Connecting | Task::Planning(_) => String::new(),
        };
        Ok(ran.said.map(|said| Run { seconds: ran.seconds, own_bytes: None, answer: answer(&said) }))
    }

    /// Command of a task. Planning and connecting use the same cores with and without workers, as
    /// the number of cores would affect such short times.
    fn command_of(&self, task: &Task, name: &str) -> Outcome<Command> {
        let above = self.options.distribute_above.as_str();
        let explain;
        let (queries, above, cores): (&[&str], _, _) = match task {
            Task::Query(query) => (&[query], above, cores(name)),
            Task::Short => (&[SHORT], ALWAYS, cores(TWO)),
            Task::Planning(query) => {
                explain = format!("EXPLAIN {query}");
                (&[PLAN_ONCE, &explain], above, cores(TWO))
            }
            Task::Connecting => (&[NOTHING], ALWAYS, cores(TWO)),
        };
        Ok(bound(&self.command(name, above, "csv", queries)?, &cores))
    }

    /// Share of each worker in each query, from EXPLAIN.
    pub(super) fn all_shares(&self) -> Outcome<Vec<Share>> {
        let has = |part| self.options.parts.contains(&part);
        let names = [(Part::Cores, TWO), (Part::Devices, EQUAL), (Part::Devices, BY_TIME)];
        let mut all = Vec::new();
        for number in &self.options.queries {
            for (_, name) in names.iter().filter(|(part, _)| has(*part)) {
                let query = format!("EXPLAIN {}", tpch::query(*number, self.options.scale)?);
                let command = self.command(name, &self.options.distribute_above, "json", &[&query])?;
                let said = contained::run(&command, None, self.folder)?.said?;
                all.extend(shares(*number, name, &said, &self.fleet.urls(name)?)?);
            }
        }
        Ok(all)
    }

    fn command(&self, name: &str, above: &str, format: &str, queries: &[&str]) -> Outcome<Command> {
        let mut command = nandle_sql();
        command.arg("sql").args(tpch::tables(self.files)?).arg("--profile").arg(&self.fleet.profile);
        command.arg("--spill-directory").arg(self.folder);
        command.args(["--memory", &MEMORY_BYTES.to_string(), "--format", format]);
        let urls = self.fleet.urls(name)?;
        if !urls.is_empty() {
            command.args(["--workers", &urls.join(","), "--distribute-above", above]);
        }
        command.args(queries.iter().flat_map(|query| ["-c", query]));
        Ok(command)
    }
}

/// Sorts lines, as equal rows may come in any order.
fn sorted(said: &str) -> String {
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn rows_are_compared_in_one_order() {
        assert_eq!(sorted("b\na\n"), "a\nb");
    }
}
