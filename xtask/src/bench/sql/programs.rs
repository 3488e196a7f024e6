//! Programs that answer queries, with their commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::options::Options;
use super::{GROUP_BYTES, MEMORY_BYTES};
use crate::Outcome;
use crate::bench::conditions::Conditions;
use crate::bench::data_folder::DataFolder;
use crate::bench::io::json;
use crate::bench::python::{Installed, Package, threads};
use crate::bench::release::{nandle_sql, nandle_tables, probe};
use crate::bench::speed::Speed;
use crate::bench::tpch;
use crate::bench::trial::{Ran, Run};

/// Planned reads of Parquet files.
pub(super) const PLANNED: &str = "planned";
/// Same program with the engine's own readers.
pub(super) const ENGINE: &str = "engine";
pub(super) const DUCKDB: &str = "duckdb";
/// Planned reads of tables.
pub(super) const TABLES: &str = "tables";

const PACKAGES: [Package; 1] =
    [Package { name: DUCKDB, version: "2.0.0", needs: &[], program: include_str!("python/sql_duckdb.py") }];

/// Data, and the programs that query them.
pub(super) struct Programs<'a> {
    folder: &'a Path,
    files: PathBuf,
    tables: Option<PathBuf>,
    profile: PathBuf,
    installed: Installed,
}

impl<'a> Programs<'a> {
    /// Makes missing data, and a profile of the disk.
    pub(super) fn prepare(options: &Options, data: &'a DataFolder) -> Outcome<Self> {
        let files = tpch::files(data, options.scale)?;
        let profile = profile(options, data)?;
        let tables = options.has_tables.then(|| {
            data.have(&format!("tables-{}", options.scale), |folder| load(&files, folder, &profile))
        });
        let installed = Installed::below(data.path(), &PACKAGES)?;
        Ok(Self { folder: data.path(), files, tables: tables.transpose()?, profile, installed })
    }

    /// Names of the available programs.
    pub(super) fn everyone(&self) -> Vec<&'static str> {
        let duckdb = self.installed.program(DUCKDB).map(|_| DUCKDB);
        let tables = self.tables.as_ref().map(|_| TABLES);
        [PLANNED, ENGINE].into_iter().chain(duckdb).chain(tables).collect()
    }

    /// A query with planned reads of files and a memory setting.
    pub(super) fn planned(&self, query: &str, memory_bytes: u64) -> Outcome<Command> {
        self.nandle_sql(&self.files, "flexible", query, memory_bytes)
    }

    pub(super) fn files(&self) -> &Path {
        &self.files
    }

    /// Runs a query with a program, or returns the reason of its failure.
    pub(super) fn run(&self, name: &str, query: &str, speed: Speed) -> Outcome<Ran> {
        let data = self.tables.as_deref().filter(|_| name == TABLES).unwrap_or(&self.files);
        let command = match name {
            DUCKDB => self.duckdb(query)?,
            ENGINE => self.nandle_sql(data, ENGINE, query, MEMORY_BYTES)?,
            _ => self.nandle_sql(data, "flexible", query, MEMORY_BYTES)?,
        };
        let conditions = Conditions { speed, group_bytes: GROUP_BYTES, folder: self.folder };
        let ran = match conditions.run(&command, data)? {
            Ok(ran) => ran,
            Err(why) => return Ok(Err(why)),
        };
        let own_bytes = ran.taken.map(|taken| taken.anonymous_bytes);
        let said = match ran.said {
            Ok(said) => said,
            Err(why) => return Ok(Err(why)),
        };
        let (seconds, rows) = match name {
            DUCKDB => told(&said)?,
            _ => (ran.seconds, rows(&said)),
        };
        Ok(Ok(Run { seconds, own_bytes, answer: format!("{rows} rows") }))
    }

    fn nandle_sql(&self, data: &Path, reads: &str, query: &str, memory_bytes: u64) -> Outcome<Command> {
        let mut command = nandle_sql();
        command.arg("sql").args(tpch::tables(data)?).arg("--profile").arg(&self.profile);
        command.arg("--spill-directory").arg(self.installed.folder());
        command.args(["--memory", &memory_bytes.to_string(), "--format", "csv"]);
        command.args(["-c", &format!("SET nandle.reads = '{reads}'"), "-c", query]);
        Ok(command)
    }

    fn duckdb(&self, query: &str) -> Outcome<Command> {
        let mut command = self.installed.program(DUCKDB).ok_or("DuckDB isn't installed")?;
        command.arg(&self.files).args([MEMORY_BYTES.to_string(), threads().to_string()]);
        command.arg(self.installed.folder()).arg(query);
        Ok(command)
    }
}

/// Today's profile of the disk under the data.
pub(super) fn profile(options: &Options, data: &DataFolder) -> Outcome<PathBuf> {
    let profile = data.path().join("profile.json");
    probe(data.path(), &options.probe_budget, None, &profile)?;
    Ok(profile)
}

/// Loads each file into a table, in the file's order.
fn load(files: &Path, folder: &Path, profile: &Path) -> Outcome {
    std::fs::create_dir(folder)?;
    for file in tpch::tables(files)? {
        let name = file.file_stem().ok_or("a file without a name")?;
        let mut load = nandle_tables();
        load.args(["table", "load"]).arg(folder.join(name)).arg(&file).arg("--profile").arg(profile);
        json(&mut load)?;
    }
    Ok(())
}

/// Number of CSV rows after the header.
pub(super) fn rows(said: &str) -> usize {
    said.lines().count().saturating_sub(1)
}

/// Seconds and rows that a peer reports.
fn told(said: &str) -> Outcome<(f64, usize)> {
    let told: Value = serde_json::from_str(said)?;
    let seconds = told.get("seconds").and_then(Value::as_f64);
    let rows = told.get("rows").and_then(Value::as_u64).and_then(|rows| usize::try_from(rows).ok());
    seconds.zip(rows).ok_or_else(|| format!("no seconds or rows in {said}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted() {
        assert_eq!((rows("a,b\n1,2\n3,4\n"), rows("")), (2, 0));
        assert_eq!(told("{\"seconds\": 0.5, \"rows\": 4}").unwrap(), (0.5, 4));
        assert!(told("{\"rows\": 4}").is_err());
    }
}
