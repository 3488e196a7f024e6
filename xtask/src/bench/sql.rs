//! `nandle sql` on TPC-H: with planned reads, with the engine's own readers in the same program, and beside `DuckDB`, on the same Parquet files:
//! cold, in equal memory, as the disk is and with reads limited.

mod options;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::options::Options;
use super::Bench;
use super::cgroup::{Group, ReadLimit};
use super::contained;
use super::machine::{disk_numbers, machine};
use super::python::{Installed, Package, threads};
use super::results::{Comparison, Failure, Results, Runs};
use crate::command::{build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "sql",
    about: "TPC-H by SQL: planned reads beside the engine's own and DuckDB (options: --scale N, --rounds N, --only QUERY,…, --in DIR)",
    run,
};

/// What each program is told to use, and what its group has, page cache included.
const MEMORY_BYTES: u64 = 1 << 30;
const GROUP_BYTES: u64 = 2 << 30;
const SMALL_VOLUME: ReadLimit = ReadLimit { bytes_per_s: 125_000_000, reads_per_s: 3_000 };
/// Who is held against the others.
const OURS: &str = "planned";
const ENGINE: &str = "engine";
const DUCKDB: &str = "duckdb";

const PACKAGES: [Package; 2] = [
    Package { name: DUCKDB, version: "2.0.0", needs: &[], program: include_str!("sql/python/sql_duckdb.py") },
    // It makes the files, by a program of its own.
    Package { name: "tpchgen-cli", version: "4.0.0", needs: &[], program: "" },
];

fn run(words: &[String]) -> Outcome {
    let options = Options::parse(words)?;
    let build = ["build", "--release", "--package", "nandle", "--package", "nandle-sql"];
    if !succeeds(&mut cargo(&build))? {
        return Err("building nandle and nandle-sql failed".into());
    }
    let folder = options.folder.join("bench-sql");
    fs::create_dir_all(&folder)?;
    let measured = measure(&options, &folder);
    fs::remove_dir_all(&folder)?;
    output::say(&measured?.write(&workspace_root().join("benches"))?);
    Ok(())
}

fn measure(options: &Options, folder: &Path) -> Outcome<Results> {
    let installed = Installed::below(folder, &PACKAGES)?;
    let runner = Runner { options, folder, installed: &installed };
    runner.prepare()?;
    let (mut comparisons, mut failures) = (Vec::new(), Vec::new());
    for (speed, limit) in [("as is", ReadLimit::NONE), ("limited", SMALL_VOLUME)] {
        for number in &options.queries {
            let task = format!("query {number}, {speed}");
            output::say(&task);
            let trial = runner.trial(&options.query(*number)?, limit)?;
            failures.extend(trial.failures(&task));
            comparisons.extend(trial.comparisons(&task)?);
        }
    }
    let mut results = Results::new(BENCH.name, &method(options, &comparisons), machine(folder), comparisons)?;
    results.failures = failures;
    Ok(results)
}

fn method(options: &Options, comparisons: &[Comparison]) -> String {
    let means = [ENGINE, DUCKDB].iter().flat_map(|peer| {
        ["as is", "limited"].map(|speed| {
            let of = |one: &&Comparison| one.baseline.name == *peer && one.task.ends_with(speed);
            let logarithms: Vec<f64> =
                comparisons.iter().filter(of).map(|one| one.ratio.median.ln()).collect();
            let mean = (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp();
            format!("{peer} {speed} {mean:.2}")
        })
    });
    format!(
        "TPC-H at scale {} as tpchgen-cli writes it to Parquet; {} rounds of each query, in which everyone runs once, in turns. `planned` and `engine` are `nandle sql` with planned reads and \
         with DataFusion's own readers: a run is a process, from its start to its end. DuckDB's time begins when Python has loaded it. Files are out of the page cache before. Everyone is told to use \
         {} MiB and {} threads, in a memory cgroup of {} MiB, page cache included. Limited: {} MB/s and {} reads a second, by cgroup. Below 1 planned reads are quicker. Geometric means of the ratios: {}.",
        options.scale,
        options.rounds,
        MEMORY_BYTES >> 20,
        threads(),
        GROUP_BYTES >> 20,
        SMALL_VOLUME.bytes_per_s / 1_000_000,
        SMALL_VOLUME.reads_per_s,
        means.collect::<Vec<_>>().join(", ")
    )
}

struct Runner<'a> {
    options: &'a Options,
    folder: &'a Path,
    installed: &'a Installed,
}

/// Seconds of everyone's runs, or why there are none.
struct Trial(BTreeMap<&'static str, Result<Vec<f64>, String>>);

impl Runner<'_> {
    fn tables(&self) -> PathBuf {
        self.folder.join("tpch")
    }

    fn profile(&self) -> PathBuf {
        self.folder.join("profile.json")
    }

    /// Makes the files and a profile of their disk.
    fn prepare(&self) -> Outcome {
        let generator = self.installed.folder().join("environment/bin/tpchgen-cli");
        let scale = self.options.scale.to_string();
        let mut made = Command::new(generator);
        made.args(["parquet", "-q", "-s", &scale, "--output-dir"]).arg(self.tables());
        if !succeeds(&mut made)? {
            return Err("tpchgen-cli made no files".into());
        }
        let mut probe = Command::new(build_folder().join("release/nandle"));
        probe.arg("probe").arg(self.folder).args(["--only", "reads", "--budget", "60s", "--no-progress"]);
        probe.arg("--profile").arg(self.profile()).arg("--report").arg(self.folder.join("report.html"));
        if !succeeds(&mut probe)? {
            return Err("the disk can't be probed".into());
        }
        Ok(())
    }

    /// Everyone, in turns; who failed once isn't tried again.
    fn trial(&self, query: &str, limit: ReadLimit) -> Outcome<Trial> {
        let mut everyone = [OURS, ENGINE, DUCKDB];
        let mut trial = Trial(BTreeMap::new());
        let mut rows = None;
        for _ in 0..self.options.rounds {
            everyone.rotate_left(1);
            for name in everyone {
                let Some(command) = self.command(name, query) else { continue };
                let Ok(all) = trial.0.entry(name).or_insert_with(|| Ok(Vec::new())) else { continue };
                match self.once(name, &command, limit)? {
                    Ok((seconds, got)) if *rows.get_or_insert(got) == got => all.push(seconds),
                    Ok((_, got)) => return Err(format!("{name} has {got} rows, another {rows:?}").into()),
                    Err(why) => _ = trial.0.insert(name, Err(why)),
                }
            }
        }
        Ok(trial)
    }

    fn command(&self, name: &str, query: &str) -> Option<Command> {
        let spill = self.installed.folder();
        if name == DUCKDB {
            let mut command = self.installed.program(DUCKDB)?;
            command.arg(self.tables()).args([MEMORY_BYTES.to_string(), threads().to_string()]);
            command.arg(spill).arg(query);
            return Some(command);
        }
        let mut command = Command::new(build_folder().join("release/nandle-sql"));
        command.args(["--no-progress", "sql"]);
        let files = fs::read_dir(self.tables()).into_iter().flatten().flatten().map(|file| file.path());
        command.args(files).arg("--profile").arg(self.profile()).arg("--spill-directory").arg(spill);
        command.args(["--memory", &MEMORY_BYTES.to_string(), "--format", "csv"]);
        let reads = if name == OURS { "flexible" } else { ENGINE };
        command.args(["-c", &format!("SET nandle.reads = '{reads}'"), "-c", query]);
        Some(command)
    }

    /// Seconds and rows, or why there are none.
    fn once(&self, name: &str, command: &Command, limit: ReadLimit) -> Outcome<Result<(f64, u64), String>> {
        contained::forget(&self.tables())?;
        let (group, disk) = (Group::make(GROUP_BYTES), disk_numbers(self.folder));
        let group = group.zip(disk).and_then(|(group, disk)| group.with_reads(&disk, limit));
        if group.is_none() {
            return Ok(Err("no cgroup limits memory and reads here".to_owned()));
        }
        let ran = contained::run(command, group.as_ref(), self.folder)?;
        let said = match ran.said {
            Ok(said) => said,
            Err(why) => return Ok(Err(why)),
        };
        if name != DUCKDB {
            // The first line is the header.
            return Ok(Ok((ran.seconds, said.lines().count().saturating_sub(1) as u64)));
        }
        let told: Value = serde_json::from_str(&said)?;
        let seconds = told.get("seconds").and_then(Value::as_f64);
        let rows = told.get("rows").and_then(Value::as_u64);
        seconds.zip(rows).map(Ok).ok_or_else(|| format!("no seconds or rows in {said}").into())
    }
}

impl Trial {
    /// Planned reads held against each of the others.
    fn comparisons(&self, task: &str) -> Outcome<Vec<Comparison>> {
        let Some(Ok(ours)) = self.0.get(OURS) else { return Ok(Vec::new()) };
        let others = self.0.iter().filter(|(name, _)| **name != OURS);
        let pairs = others.filter_map(|(name, seconds)| Some((name, seconds.as_ref().ok()?)));
        let compared = pairs.map(|(name, seconds)| {
            let baseline = Runs { name, figures: seconds.clone() };
            Comparison::new(task, "s", baseline, Runs { name: OURS, figures: ours.clone() })
        });
        compared.collect()
    }

    fn failures(&self, task: &str) -> Vec<Failure> {
        let failed = self.0.iter().filter_map(|(name, seconds)| Some((name, seconds.as_ref().err()?)));
        let failed = failed.map(|(name, message)| Failure {
            task: task.to_owned(),
            name: (*name).to_owned(),
            message: message.clone(),
        });
        failed.collect()
    }
}
