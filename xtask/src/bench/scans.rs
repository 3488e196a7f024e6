//! Compares `nandle scan` with `DataFusion`, `DuckDB` and Polars on the same Parquet files: cold,
//! with equal memory, with full and with limited disk reads.

mod questions;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::questions::{ALL, Question};
use super::Bench;
use super::cgroup::{Group, ReadLimit};
use super::contained;
use super::io::json;
use super::machine::{disk_numbers, machine};
use super::python::{Installed, Package, threads};
use super::release::nandle_tables;
use super::results::{Comparison, Failure, Results, Runs};
use super::speed::Speed;
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "scans",
    about: "scans beside DataFusion, DuckDB and Polars, which read the same Parquet files (options: --rows N, --rounds N, --in DIR)",
    run,
};

/// Memory setting of each program, and limit of its group, page cache included.
const MEMORY_BYTES: u64 = 256 << 20;
const GROUP_BYTES: u64 = 1 << 30;
const OURS: &str = "nandle";

/// Scripts that take the files' folder, bytes of memory, threads, columns and a condition, and
/// print JSON.
const PACKAGES: [Package; 3] = [
    Package {
        name: "datafusion",
        version: "55.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("scans/python/scan_datafusion.py"),
    },
    Package {
        name: "duckdb",
        version: "2.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("scans/python/scan_duckdb.py"),
    },
    Package {
        name: "polars",
        version: "2.1.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("scans/python/scan_polars.py"),
    },
];

struct Options {
    rows: u64,
    rounds: usize,
    folder: PathBuf,
}

impl Options {
    fn parse(words: &[String]) -> Outcome<Self> {
        let mut options = Self { rows: 10_000_000, rounds: 5, folder: workspace_root().join("target") };
        let (pairs, rest) = words.as_chunks::<2>();
        for [name, value] in pairs {
            match name.as_str() {
                "--rows" => options.rows = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--in" => options.folder = value.into(),
                other => return Err(format!("`scans` takes --rows, --rounds, --in; got {other}").into()),
            }
        }
        match rest {
            [] => Ok(options),
            [name, ..] => Err(format!("`scans`: {name} needs a value").into()),
        }
    }
}

fn run(words: &[String]) -> Outcome {
    let options = Options::parse(words)?;
    if !succeeds(&mut cargo(&["build", "--release", "--package", "nandle-tables"]))? {
        return Err("building nandle-tables failed".into());
    }
    let folder = options.folder.join("bench-scans");
    fs::create_dir_all(&folder)?;
    let measured = measure(&options, &folder);
    fs::remove_dir_all(&folder)?;
    output::say(&measured?.write(&workspace_root().join("benches"))?);
    Ok(())
}

fn measure(options: &Options, folder: &Path) -> Outcome<Results> {
    let installed = Installed::below(folder, &PACKAGES)?;
    let rows = options.rows.to_string();
    json(nandle_tables().args(["table", "generate", "--rows", &rows]).arg(folder.join("flights")))?;
    let runner = Runner { options, folder, installed: &installed };
    let (mut comparisons, mut failures) = (Vec::new(), Vec::new());
    for speed in Speed::COLD {
        for question in &ALL {
            let task = format!("{}, {}", question.name, speed.name());
            output::say(&task);
            let trial = runner.trial(question, speed.limit())?;
            failures.extend(trial.failures(&task));
            comparisons.extend(trial.comparisons(&task)?);
        }
    }
    let mut results = Results::new(BENCH.name, &method(options, &comparisons), machine(folder), comparisons)?;
    results.failures = failures;
    Ok(results)
}

fn method(options: &Options, comparisons: &[Comparison]) -> String {
    let means = PACKAGES.iter().flat_map(|peer| {
        Speed::COLD.map(Speed::name).map(|speed| {
            let of = |one: &&Comparison| one.baseline.name == peer.name && one.task.ends_with(speed);
            let logarithms: Vec<f64> =
                comparisons.iter().filter(of).map(|one| one.ratio.median.ln()).collect();
            let mean = (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp();
            format!("{} {speed} {mean:.2}", peer.name)
        })
    });
    format!(
        "{} made-up flights (seed 1) in a table as they come, whose Parquet files everyone reads; {} rounds of each scan, in which every program runs once, in turns. A run is a \
         process: its time goes from opening to the last row as Arrow. Files are out of the page cache before. Every program is told to use {} MiB and {} threads (Nandle decodes in one, beside the one that reads), in a memory \
         cgroup of {} MiB, page cache included. Limited: {} MB/s and {} reads a second, by cgroup. Below 1 Nandle is quicker. Geometric means of the ratios: {}.",
        options.rows,
        options.rounds,
        MEMORY_BYTES >> 20,
        threads(),
        GROUP_BYTES >> 20,
        Speed::SMALL_VOLUME.bytes_per_s / 1_000_000,
        Speed::SMALL_VOLUME.reads_per_s,
        means.collect::<Vec<_>>().join(", ")
    )
}

struct Runner<'a> {
    options: &'a Options,
    folder: &'a Path,
    installed: &'a Installed,
}

/// Seconds of each program's runs, or the reason for having none.
struct Trial(BTreeMap<&'static str, Result<Vec<f64>, String>>);

impl Runner<'_> {
    /// Runs every program in turns. A program that failed isn't run again.
    fn trial(&self, question: &Question, limit: ReadLimit) -> Outcome<Trial> {
        let mut programs: Vec<&'static str> =
            PACKAGES.iter().map(|package| package.name).chain([OURS]).collect();
        let mut trial = Trial(BTreeMap::new());
        let mut rows = None;
        for _ in 0..self.options.rounds {
            programs.rotate_left(1);
            for program in &programs {
                let Some(command) = self.command(program, question) else { continue };
                let Ok(all) = trial.0.entry(program).or_insert_with(|| Ok(Vec::new())) else { continue };
                match self.once(&command, limit)? {
                    Ok((seconds, got)) if *rows.get_or_insert(got) == got => all.push(seconds),
                    Ok((_, got)) => {
                        return Err(
                            format!("{}: {program} has {got} rows, another {rows:?}", question.name).into()
                        );
                    }
                    Err(why) => _ = trial.0.insert(program, Err(why)),
                }
            }
        }
        Ok(trial)
    }

    fn command(&self, program: &str, question: &Question) -> Option<Command> {
        let table = self.folder.join("flights");
        if program == OURS {
            let mut command = nandle_tables();
            command.arg("scan").arg(table).args(["--no-prediction", "--columns", question.columns]);
            command.args(question.options);
            return Some(command);
        }
        let mut command = self.installed.program(program)?;
        command.arg(table.join("data")).args([MEMORY_BYTES.to_string(), threads().to_string()]);
        command.args([question.columns, question.condition]);
        Some(command)
    }

    /// Seconds and rows of a run, or the reason of its failure.
    fn once(&self, command: &Command, limit: ReadLimit) -> Outcome<Result<(f64, u64), String>> {
        contained::forget(&self.folder.join("flights"))?;
        let (group, disk) = (Group::make(GROUP_BYTES), disk_numbers(self.folder));
        let group = group.zip(disk).and_then(|(group, disk)| group.with_reads(&disk, limit));
        if group.is_none() {
            return Ok(Err("no cgroup limits memory and reads here".to_owned()));
        }
        let said = match contained::run(command, group.as_ref(), self.folder)?.said {
            Ok(said) => said,
            Err(why) => return Ok(Err(why)),
        };
        let told: Value = serde_json::from_str(&said)?;
        let figure = |ours, theirs| told.pointer(ours).or_else(|| told.pointer(theirs));
        let seconds = figure("/elapsed_s", "/seconds").and_then(Value::as_f64);
        let rows = figure("/actual/rows", "/rows").and_then(Value::as_u64);
        seconds.zip(rows).map(Ok).ok_or_else(|| format!("no seconds or rows in {said}").into())
    }
}

impl Trial {
    /// Compares Nandle with each of the others.
    fn comparisons(&self, task: &str) -> Outcome<Vec<Comparison>> {
        let Some(Ok(ours)) = self.0.get(OURS) else { return Ok(Vec::new()) };
        let others = self.0.iter().filter(|(program, _)| **program != OURS);
        let pairs = others.filter_map(|(program, seconds)| Some((program, seconds.as_ref().ok()?)));
        let compared = pairs.map(|(program, seconds)| {
            let baseline = Runs { name: program, figures: seconds.clone() };
            Comparison::new(task, "s", baseline, Runs { name: OURS, figures: ours.clone() })
        });
        compared.collect()
    }

    fn failures(&self, task: &str) -> Vec<Failure> {
        let failed = self.0.iter().filter_map(|(program, seconds)| Some((program, seconds.as_ref().err()?)));
        let failed = failed.map(|(program, message)| Failure {
            task: task.to_owned(),
            name: (*program).to_owned(),
            message: message.clone(),
        });
        failed.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--rows 1000 --rounds 1 --in /tmp").unwrap();
        assert_eq!((options.rows, options.rounds, options.folder), (1000, 1, PathBuf::from("/tmp")));
        assert!(parse("--rows").is_err() && parse("--colour red").is_err());
    }

    #[test]
    fn the_others_are_baselines_and_failures_are_told() {
        let runs = [
            ("nandle", Ok(vec![1.0, 1.0])),
            ("duckdb", Ok(vec![2.0, 4.0])),
            ("polars", Err("no".to_owned())),
        ];
        let trial = Trial(BTreeMap::from(runs));
        let compared = trial.comparisons("all").unwrap();
        assert_eq!(compared.len(), 1);
        assert_eq!((compared[0].baseline.name.as_str(), compared[0].ratio.median), ("duckdb", 0.375));
        assert_eq!(trial.failures("all").len(), 1);
    }
}
