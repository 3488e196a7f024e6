//! One, two and three predicates on flights as loaded, sorted, and in cells: reads saved by the
//! order of rows.

mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use self::page::{Line, page};
use super::Bench;
use super::machine::machine;
use super::stats::Spread;
use crate::command::{build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "predicates",
    about: "one to three predicates on flights as loaded, sorted and in cells, here and on two models (options: --rows N)",
    run,
};

const ROWS: &str = "10000000";
const SEED: &str = "1";
/// Rounds in which all scans here run in turns.
const ROUNDS: usize = 5;
/// Names of the tables, and their orders of rows.
const TABLES: [(&str, &str); 3] =
    [("loaded", "none"), ("sort", "sort:Month,Origin"), ("cells", "cells:Airline,Origin,Year")];
const PREDICATES: [(&str, &str); 3] = [("Origin", "IAH"), ("Year", "2005"), ("Airline", "CO")];
/// Selected columns.
const COLUMNS: &str = "ArrDelay,Distance";
const MODELS: [&str; 2] = ["model:crucial-m4-256", "model:wd2003fyys"];

fn run(options: &[String]) -> Outcome {
    let rows = match options {
        [] => ROWS,
        [option, rows] if option == "--rows" => rows,
        other => return Err(format!("`predicates` takes --rows N; got {other:?}").into()),
    };
    let build = ["build", "--release", "--package", "nandle", "--package", "nandle-tables"];
    if !succeeds(&mut cargo(&build))? {
        return Err("building the programs failed".into());
    }
    let folder = Folder(build_folder().join("bench-predicates"));
    fs::create_dir_all(&folder.0)?;
    let machine = machine(&folder.0);
    let measured = folder.measure(rows);
    fs::remove_dir_all(&folder.0)?;
    let lines = measured?;
    let page = page(rows, ROUNDS, COLUMNS, &machine, &lines)?;
    let kept = workspace_root().join("benches/predicates");
    fs::create_dir_all(&kept)?;
    fs::write(kept.join("latest.md"), &page)?;
    output::say(&page);
    Ok(())
}

fn model_of(target: &str) -> &str {
    target.trim_start_matches("model:")
}

fn profile_of(target: &str) -> String {
    format!("{}.json", model_of(target))
}

/// Folder of tables, profiles and recordings.
struct Folder(PathBuf);

impl Folder {
    fn measure(&self, rows: &str) -> Outcome<Vec<Line>> {
        self.answer(
            "nandle",
            &["probe", ".", "--only", "reads", "--budget", "20s", "--profile", "here.json"],
        )?;
        for target in MODELS {
            let profile = profile_of(target);
            self.answer(
                "nandle",
                &["probe", target, "--only", "reads", "--budget", "60s", "--profile", &profile],
            )?;
        }
        for (name, order) in TABLES {
            let made = ["table", "generate", name, "--rows", rows, "--seed", SEED];
            let how = ["--cluster", order, "--profile", "here.json"];
            self.answer("nandle-tables", &[made.as_slice(), &how].concat())?;
        }
        let cases =
            || TABLES.iter().flat_map(|(table, _)| (1..=PREDICATES.len()).map(move |count| (*table, count)));
        let mut scans: Vec<Vec<Value>> = cases().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for ((table, count), scans) in cases().zip(&mut scans) {
                scans.push(self.scan(table, count)?);
            }
        }
        let mut lines = Vec::new();
        for ((table, count), scans) in cases().zip(&scans) {
            lines.push(here(table, count, scans)?);
            for target in MODELS {
                lines.push(self.on_model(table, count, target)?);
            }
        }
        Ok(lines)
    }

    /// Records a scan with the first `count` predicates.
    fn scan(&self, table: &str, count: usize) -> Outcome<Value> {
        let recording = recording(table, count);
        let mut words = vec!["scan", table, "--columns", COLUMNS, "--explain", "--record", &recording];
        let predicates: Vec<String> =
            PREDICATES.iter().take(count).map(|(column, value)| format!("{column}={value}")).collect();
        for predicate in &predicates {
            words.extend(["--in", predicate]);
        }
        self.answer("nandle-tables", &words)
    }

    fn on_model(&self, table: &str, count: usize, target: &str) -> Outcome<Line> {
        let profile = profile_of(target);
        let recording = recording(table, count);
        let told = self.answer("nandle", &["predict", &recording, "--on", target, "--profile", &profile])?;
        let played = told.pointer("/targets/0/queries/0/played").ok_or("a prediction without a query")?;
        let seconds = |key: &str| Ok::<f64, Box<dyn std::error::Error>>(figure(played, key)? / 1e9);
        Ok(Line {
            device: model_of(target).to_owned(),
            table: table.to_owned(),
            predicates: asked(count),
            read_bytes: figure(played, "/read_bytes")?,
            requests: figure(played, "/requests")?,
            seconds: seconds("/time_ns")?,
            predicted_seconds: seconds("/predicted_ns/value")?,
        })
    }

    /// JSON output of one of our programs.
    fn answer(&self, program: &str, words: &[&str]) -> Outcome<Value> {
        let mut command = Command::new(build_folder().join("release").join(program));
        command.args(["--json", "--no-progress"]).args(words).current_dir(&self.0);
        let told = command.output()?;
        if !told.status.success() {
            let why = String::from_utf8_lossy(&told.stderr);
            return Err(format!("{program} {}: {}", words.join(" "), why.trim()).into());
        }
        Ok(serde_json::from_slice(&told.stdout)?)
    }
}

/// Result of the scans of one case, which read the same bytes: median time and bytes.
fn here(table: &str, count: usize, scans: &[Value]) -> Outcome<Line> {
    let median = |key: &str| -> Outcome<f64> {
        let figures: Vec<f64> = scans.iter().map(|scan| figure(scan, key)).collect::<Outcome<_>>()?;
        Ok(Spread::of(&figures).ok_or("no scan ran")?.median)
    };
    Ok(Line {
        device: "this disk".to_owned(),
        table: table.to_owned(),
        predicates: asked(count),
        read_bytes: median("/actual/read_bytes")?,
        requests: median("/actual/requests")?,
        seconds: median("/actual/time_s")?,
        predicted_seconds: median("/forecasts/0/time/value_s")?,
    })
}

fn recording(table: &str, count: usize) -> String {
    Path::new(table).with_extension(format!("{count}.needs.zst")).display().to_string()
}

/// Columns of the first `count` predicates.
fn asked(count: usize) -> String {
    let columns: Vec<&str> = PREDICATES.iter().take(count).map(|(column, _)| *column).collect();
    columns.join(" + ")
}

fn figure(of: &Value, key: &str) -> Outcome<f64> {
    Ok(of.pointer(key).and_then(Value::as_f64).ok_or_else(|| format!("no figure {key} in {of}"))?)
}
