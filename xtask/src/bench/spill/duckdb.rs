//! DuckDB from `PyPI`, in an environment of its own that is gone afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::succeeds;

const VERSION: &str = "2.0.0";

/// Sorts lines: the file, the result, the folder for temporary data, megabytes of memory, threads.
const PROGRAM: &str = "
import duckdb, sys
source, result, folder, memory, threads = sys.argv[1:]
base = duckdb.connect()
base.execute(f\"SET memory_limit='{memory}'\")
base.execute(f\"SET temp_directory='{folder}'\")
base.execute('SET preserve_insertion_order=false')
base.execute(f'SET threads={threads}')
read = f\"read_csv('{source}', header=false, columns={{'line': 'VARCHAR'}}, delim='\\x01', quote='', escape='', auto_detect=false)\"
base.execute(f\"COPY (SELECT line FROM {read} ORDER BY line) TO '{result}' (HEADER false, QUOTE '', DELIMITER '\\x01')\")
";

pub(super) struct DuckDb {
    folder: PathBuf,
    threads: usize,
}

impl DuckDb {
    /// Installs it below `folder`; none where that can't be done.
    pub(super) fn install(folder: &Path) -> Option<Self> {
        let folder = folder.join("duckdb");
        let environment = folder.join("environment");
        let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment));
        let package = format!("duckdb=={VERSION}");
        let installed =
            || succeeds(Command::new(environment.join("bin/pip")).args(["--quiet", "install", &package]));
        if !made.is_ok_and(|made| made) || !installed().is_ok_and(|installed| installed) {
            return None;
        }
        fs::write(folder.join("sort.py"), PROGRAM).ok()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Some(Self { folder, threads })
    }

    /// The command that sorts.
    pub(super) fn command(&self, source: &Path, result: &Path, memory_bytes: u64) -> Command {
        let mut command = Command::new(self.folder.join("environment/bin/python"));
        command.arg(self.folder.join("sort.py")).arg(source).arg(result).arg(&self.folder);
        command.arg(format!("{memory_bytes}B")).arg(self.threads.to_string());
        command
    }
}
