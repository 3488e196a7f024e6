//! The 69 flight cubes in SQL, compared with `nandle cubes` on the same table.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::options::Options;
use super::programs::profile;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::bench::columns::cubes::Cube;
use crate::bench::conditions::Conditions;
use crate::bench::data_folder::DataFolder;
use crate::bench::io::json;
use crate::bench::machine::machine;
use crate::bench::python::threads;
use crate::bench::release::{nandle_sql, nandle_tables};
use crate::bench::results::{Comparison, Results};
use crate::bench::speed::Speed;
use crate::bench::trial::{OWN_MEMORY, Pair, Ran, Run, SECONDS, Trial, rounds, summary};
use crate::{Outcome, workspace_root};

const NAME: &str = "sql-cubes";
const CUBES: &str = "nandle cubes";
const SQL: &str = "sql";
const PAIR: Pair = Pair { baseline: CUBES, candidate: SQL };
/// Discards a program's output.
const UNSEEN: &str = "exec \"$@\" > /dev/null";

struct Task {
    cube: Cube,
    speed: Speed,
    /// Rows of the result in SQL, and number of flights counted.
    result_rows: u64,
}

/// Runs all cubes, and rewrites the record after each, so that an interrupted benchmark leaves
/// results.
pub(super) fn measure(options: &Options, cubes: &[Cube], data: &DataFolder) -> Outcome<String> {
    let profile = profile(options, data)?;
    let table = data.have(&format!("flights-{}", options.rows), |folder| {
        let mut generate = nandle_tables();
        generate.args(["table", "generate"]).arg(folder).args(["--rows", &options.rows.to_string()]);
        json(generate.arg("--profile").arg(&profile)).map(|_| ())
    })?;
    let programs = Programs { folder: data.path(), table, profile };
    let mut results = Results::new(NAME, "", machine(data.path()), Vec::new())?;
    let mut text = String::new();
    rounds(
        &mut programs.trials(options, cubes)?,
        options.rounds,
        &mut |task, name| programs.run(name, task),
        &mut |trials, done| {
            results.comparisons = comparisons(trials)?;
            results.failures = trials.iter().flat_map(Trial::failures).collect();
            results.method = method(options, done, &results.comparisons);
            text = results.write(&workspace_root().join("benches"))?;
            Ok(())
        },
    )?;
    Ok(text)
}

struct Programs<'a> {
    folder: &'a Path,
    table: PathBuf,
    profile: PathBuf,
}

impl Programs<'_> {
    fn trials(&self, options: &Options, cubes: &[Cube]) -> Outcome<Vec<Trial<Task>>> {
        let mut trials = Vec::new();
        for cube in cubes {
            let result_rows = self.result_rows(cube, options.rows)?;
            for speed in &options.speeds {
                let name = format!("{}, {}", cube.name, speed.name());
                let task = Task { cube: cube.clone(), speed: *speed, result_rows };
                trials.push(Trial::new(name, task, vec![CUBES, SQL]));
            }
        }
        Ok(trials)
    }

    /// Rows of a cube in SQL, which counts all flights. Determined in advance, as counting takes
    /// time.
    fn result_rows(&self, cube: &Cube, flights: u64) -> Outcome<u64> {
        let mut command = self.nandle_sql();
        command.args(["--format", "json", "-c", &counted(cube)]);
        let told = json(&mut command)?;
        let number = |name| told.get(name).and_then(Value::as_u64);
        let (rows, counted) = number("rows").zip(number("flights")).ok_or("no rows or flights were told")?;
        if counted == flights {
            Ok(rows)
        } else {
            Err(format!("{} counts {counted} of {flights} flights in SQL", cube.name).into())
        }
    }

    fn run(&self, name: &str, task: &Task) -> Outcome<Ran> {
        let command = if name == CUBES { self.cubes(&task.cube) } else { self.sql(&task.cube) };
        let conditions = Conditions { speed: task.speed, group_bytes: GROUP_BYTES, folder: self.folder };
        let ran = match conditions.run(&command, &self.table)? {
            Ok(ran) => ran,
            Err(why) => return Ok(Err(why)),
        };
        let said = match ran.said {
            Ok(said) => said,
            Err(why) => return Ok(Err(why)),
        };
        let result_rows = if name == CUBES { rows_of_cubes(&said)? } else { task.result_rows };
        let own_bytes = ran.taken.map(|taken| taken.anonymous_bytes);
        Ok(Ok(Run { seconds: ran.seconds, own_bytes, answer: format!("{result_rows} rows") }))
    }

    fn cubes(&self, cube: &Cube) -> Command {
        let mut command = nandle_tables();
        command.arg("cubes").arg(&self.table).args(["--only", &cube.name, "--no-prediction"]);
        command.args(["--memory", &MEMORY_BYTES.to_string()]).arg("--profile").arg(&self.profile);
        command
    }

    fn sql(&self, cube: &Cube) -> Command {
        let sql = self.nandle_sql();
        let mut unseen = Command::new("sh");
        unseen.args(["-c", UNSEEN, "sh"]).arg(sql.get_program()).args(sql.get_args());
        unseen.args(["--format", "arrow", "-c", &query(cube)]);
        unseen
    }

    fn nandle_sql(&self) -> Command {
        let mut command = nandle_sql();
        let mut named = std::ffi::OsString::from("flights=");
        named.push(&self.table);
        command.arg("sql").arg(named).arg("--profile").arg(&self.profile);
        command.arg("--spill-directory").arg(self.folder).args(["--memory", &MEMORY_BYTES.to_string()]);
        command
    }
}

/// The paper's query: dimensions, the fact, and the number of flights for each combination.
fn query(cube: &Cube) -> String {
    let names: Vec<String> = cube.columns.iter().map(|column| format!("\"{column}\"")).collect();
    let names = names.join(", ");
    format!("SELECT {names}, count(*) AS flights FROM flights GROUP BY {names}")
}

fn counted(cube: &Cube) -> String {
    format!("SELECT count(*) AS rows, sum(flights) AS flights FROM ({})", query(cube))
}

fn rows_of_cubes(said: &str) -> Outcome<u64> {
    let told: Value = serde_json::from_str(said)?;
    let rows = told.pointer("/paths/0/cubes/0/result_rows").and_then(Value::as_u64);
    rows.ok_or_else(|| format!("no rows in {said}").into())
}

/// Comparisons of times, then of memory.
fn comparisons(trials: &[Trial<Task>]) -> Outcome<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for measure in [SECONDS, OWN_MEMORY] {
        for trial in trials {
            comparisons.extend(trial.comparisons(&[PAIR], measure)?);
        }
    }
    Ok(comparisons)
}

fn method(options: &Options, done: &str, comparisons: &[Comparison]) -> String {
    let means = options.speeds.iter().filter_map(|speed| {
        let of = |one: &&Comparison| one.unit == "s" && one.task.ends_with(speed.name());
        Some(format!("{} {}", speed.name(), summary(comparisons.iter().filter(of))?))
    });
    format!(
        "{} made-up flights (seed 1) in a table as `nandle table generate` lays them out; {done}, in each of which `nandle cubes --only CUBE` and `nandle sql` with the same cube as SELECT … GROUP BY run once, in \
         turns. A run is a process, from its start to its end; SQL's rows are written as Arrow, to nowhere, and were counted once beforehand. As is and limited, files are out of the page cache before; both read past it. Both are told \
         to use {} MiB in a memory cgroup of {} MiB, page cache included; SQL has {} threads. Limited: {} MB/s and {} reads a second, by cgroup. In MiB: the most that a program had without page cache, looked at every 20 ms. Geometric \
         means of the ratios of seconds: {}.",
        options.rows,
        MEMORY_BYTES >> 20,
        GROUP_BYTES >> 20,
        threads(),
        Speed::SMALL_VOLUME.bytes_per_s / 1_000_000,
        Speed::SMALL_VOLUME.reads_per_s,
        means.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::columns::cubes;

    #[test]
    fn cubes_are_said_in_sql() {
        let cube = cubes::named("delay-airline-month").unwrap().remove(0);
        assert_eq!(
            query(&cube),
            "SELECT \"Airline\", \"Month\", \"ArrDelay\", count(*) AS flights FROM flights GROUP BY \"Airline\", \"Month\", \"ArrDelay\""
        );
        assert_eq!(
            counted(&cubes::named("diverted-year").unwrap().remove(0)),
            "SELECT count(*) AS rows, sum(flights) AS flights FROM (SELECT \"Year\", \"Diverted\", count(*) AS flights FROM flights GROUP BY \"Year\", \"Diverted\")"
        );
    }

    #[test]
    fn rows_are_what_cubes_say() {
        assert_eq!(rows_of_cubes("{\"paths\": [{\"cubes\": [{\"result_rows\": 7}]}]}").unwrap(), 7);
        assert!(rows_of_cubes("{}").is_err());
    }
}
