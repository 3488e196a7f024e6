//! Programs that count cubes, with their commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::cubes::Cube;
use crate::Outcome;
use crate::bench::python::{Installed, Package, threads};
use crate::bench::release::nandle_tables;

/// Scripts that take the task, the folder of rows, bytes of memory, threads, and further arguments,
/// and print JSON.
pub(super) const PACKAGES: [Package; 4] = [
    Package {
        name: "duckdb",
        version: "2.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_duckdb.py"),
    },
    Package {
        name: "chdb",
        version: "4.4.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_chdb.py"),
    },
    Package {
        name: "polars",
        version: "2.1.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_polars.py"),
    },
    Package {
        name: "datafusion",
        version: "55.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_datafusion.py"),
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Nandle,
    /// Native format.
    DuckDb,
    DuckDbParquet,
    ChDb,
    Polars,
    DataFusion,
}

impl Program {
    pub(super) const PEERS: [Self; 5] =
        [Self::DuckDb, Self::DuckDbParquet, Self::ChDb, Self::Polars, Self::DataFusion];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nandle => "nandle",
            Self::DuckDb => "duckdb",
            Self::DuckDbParquet => "duckdb-parquet",
            Self::ChDb => "chdb",
            Self::Polars => "polars",
            Self::DataFusion => "datafusion",
        }
    }

    /// Parses a list of peers such as `duckdb,polars`.
    pub(super) fn named(list: &str) -> Outcome<Vec<Self>> {
        let find = |name: &str| {
            let found = Self::PEERS.into_iter().find(|peer| peer.name() == name);
            found.ok_or_else(|| format!("`columns` knows no {name:?}").into())
        };
        list.split(',').map(find).collect()
    }

    fn package(self) -> &'static str {
        if self == Self::DuckDbParquet { "duckdb" } else { self.name() }
    }

    /// Path of the program's rows.
    pub(super) fn store(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Self::Nandle => "nandle",
            Self::DuckDb => "flights.duckdb",
            Self::DuckDbParquet | Self::Polars | Self::DataFusion => "flights.parquet",
            Self::ChDb => "chdb",
        })
    }

    /// A peer's command for a task, or `None` if its package is missing.
    pub(super) fn task(
        self,
        installed: &Installed,
        task: &str,
        folder: &Path,
        memory_bytes: u64,
    ) -> Option<Command> {
        let mut command = installed.program(self.package())?;
        command.arg(task).arg(self.store(folder)).args([memory_bytes.to_string(), threads().to_string()]);
        Some(command)
    }

    /// Command that computes a cube.
    pub(super) fn cube(
        self,
        installed: &Installed,
        cube: &Cube,
        folder: &Path,
        memory_bytes: u64,
    ) -> Option<Command> {
        if self == Self::Nandle {
            let mut command = nandle_tables();
            let memory = format!("{}MiB", memory_bytes >> 20);
            command.arg("cubes").arg(self.store(folder)).args([
                "--only",
                &cube.name,
                "--memory",
                &memory,
                "--no-prediction",
            ]);
            return Some(command);
        }
        let task = if self == Self::DuckDb { "own" } else { "cube" };
        let mut command = self.task(installed, task, folder, memory_bytes)?;
        command.args(&cube.columns);
        Some(command)
    }
}
