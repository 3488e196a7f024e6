//! Test data: the same rows in the same order for each program, and the costs of loading them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::options::Options;
use super::programs::Program;
use crate::bench::cgroup::Group;
use crate::bench::contained;
use crate::bench::io::json;
use crate::bench::python::Installed;
use crate::bench::release::nandle_tables;
use crate::{Outcome, output};

/// Limit of loads and queries, page cache included.
pub(super) const GROUP_BYTES: u64 = 1 << 30;
/// Memory setting of loads.
const LOAD_BYTES: u64 = 512 << 20;
const SEED: u64 = 1;
/// Record of existing data.
const FACTS: &str = "facts.json";

/// Figures of the stores.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) loads: Vec<Load>,
    /// Bytes of each program's store.
    pub(super) store_bytes: BTreeMap<String, u64>,
    /// Bytes of each column, by program: the minimum that a cold query reads. Nandle reports them
    /// itself.
    columns: BTreeMap<String, BTreeMap<String, u64>>,
}

/// A load from CSV into a store.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Load {
    pub(super) program: String,
    pub(super) seconds: f64,
    pub(super) peak_bytes: Option<u64>,
    pub(super) anonymous_bytes: Option<u64>,
    pub(super) failure: Option<String>,
}

impl Facts {
    /// Minimum bytes that a cold query of those columns reads.
    pub(super) fn needed_bytes(&self, program: Program, columns: &[&str]) -> u64 {
        let Some(sizes) = self.columns.get(program.name()) else { return 0 };
        columns.iter().filter_map(|column| sizes.get(*column)).sum()
    }
}

/// Makes the stores in a folder unless they exist.
pub(super) fn make(folder: &Path, options: &Options, installed: &Installed) -> Outcome<Facts> {
    if let Ok(facts) = fs::read(folder.join(FACTS)) {
        return Ok(serde_json::from_slice(&facts)?);
    }
    let maker = Maker { folder, options, installed };
    let facts = maker.make()?;
    fs::write(folder.join(FACTS), serde_json::to_vec(&facts)?)?;
    Ok(facts)
}

struct Maker<'a> {
    folder: &'a Path,
    options: &'a Options,
    installed: &'a Installed,
}

impl Maker<'_> {
    fn make(&self) -> Outcome<Facts> {
        let mut facts = Facts::default();
        let profile = self.profile()?;
        let (csv, parquet) = self.files()?;
        let mut load = nandle_tables();
        load.args(["table", "load"])
            .arg(Program::Nandle.store(self.folder))
            .arg(&csv)
            .arg("--profile")
            .arg(profile);
        facts.loads.push(self.timed(Program::Nandle, &load)?);
        if let Some(mut load) = Program::DuckDb.task(self.installed, "load", self.folder, LOAD_BYTES) {
            load.arg(&csv).arg(&parquet);
            facts.loads.push(self.timed(Program::DuckDb, &load)?);
        }
        self.others(&mut facts)?;
        fs::remove_file(csv)?;
        fs::remove_file(parquet)?;
        for program in Program::PEERS.into_iter().chain([Program::Nandle]) {
            let bytes = length_bytes(&program.store(self.folder))?;
            facts.store_bytes.insert(program.name().to_owned(), bytes);
        }
        Ok(facts)
    }

    /// Profile of the disk, taken from a tiny table.
    fn profile(&self) -> Outcome<PathBuf> {
        let tiny = self.folder.join("tiny");
        json(
            nandle_tables().args(["table", "generate", "--rows", "1000", "--probe-budget", "10s"]).arg(&tiny),
        )?;
        Ok(tiny.join("profile.json"))
    }

    /// Generates the rows as CSV and as Parquet.
    fn files(&self) -> Outcome<(PathBuf, PathBuf)> {
        output::say(&format!("{} rows are made up", self.options.rows));
        let (rows, seed) = (self.options.rows.to_string(), SEED.to_string());
        let mut generate = nandle_tables();
        generate.args(["table", "generate", "--rows", &rows, "--seed", &seed]);
        let files = self.folder.join("files");
        let told = json(generate.arg("--csv").arg(&files).arg("--parquet").arg(&files))?;
        let path = |key| told.get(key).and_then(Value::as_str).map(PathBuf::from).ok_or("no path was told");
        Ok((path("csv")?, path("parquet")?))
    }

    /// Runs a load in a group.
    fn timed(&self, program: Program, load: &Command) -> Outcome<Load> {
        output::say(&format!("{}: load from CSV", program.name()));
        contained::forget(self.folder)?;
        let group = Group::make(GROUP_BYTES);
        let ran = contained::run(load, group.as_ref(), self.folder)?;
        Ok(Load {
            program: program.name().to_owned(),
            seconds: ran.seconds,
            peak_bytes: ran.taken.and_then(|taken| taken.peak_bytes),
            anonymous_bytes: ran.taken.map(|taken| taken.anonymous_bytes),
            failure: ran.said.err(),
        })
    }

    /// Makes the stores derived from that of `DuckDB`, and reads the lengths of columns.
    fn others(&self, facts: &mut Facts) -> Outcome {
        let parquet = Program::DuckDbParquet.store(self.folder);
        if let Some(mut sizes) = Program::DuckDb.task(self.installed, "sizes", self.folder, LOAD_BYTES) {
            facts.add_columns(&[Program::DuckDb], &mut sizes)?;
        }
        if let Some(mut write) = Program::DuckDb.task(self.installed, "parquet", self.folder, LOAD_BYTES) {
            let readers = [Program::DuckDbParquet, Program::Polars, Program::DataFusion];
            facts.add_columns(&readers, write.arg(&parquet))?;
        }
        if let Some(mut load) = Program::ChDb.task(self.installed, "load", self.folder, LOAD_BYTES) {
            facts.add_columns(&[Program::ChDb], load.arg(&parquet))?;
        }
        Ok(())
    }
}

impl Facts {
    fn add_columns(&mut self, programs: &[Program], tells: &mut Command) -> Outcome {
        let told = json(tells)?;
        let columns: BTreeMap<String, u64> =
            serde_json::from_value(told.get("columns").cloned().ok_or("no columns were told")?)?;
        self.columns.extend(programs.iter().map(|program| (program.name().to_owned(), columns.clone())));
        Ok(())
    }
}

/// Length of a file or of all files in a folder; 0 if missing.
fn length_bytes(path: &Path) -> Outcome<u64> {
    let Ok(facts) = fs::symlink_metadata(path) else { return Ok(0) };
    if !facts.is_dir() {
        return Ok(if facts.is_file() { facts.len() } else { 0 });
    }
    fs::read_dir(path)?.map(|entry| length_bytes(&entry?.path())).sum()
}
