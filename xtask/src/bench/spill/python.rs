//! What sorts and joins with packages from `PyPI`.

use std::path::Path;
use std::process::Command;

use crate::bench::python::{Installed, Package, threads};

/// Their programs take the task, bytes of memory, threads, the folder for temporary data, the result, and the files.
pub(super) const PACKAGES: [Package; 2] = [
    Package { name: "duckdb", version: "2.0.0", needs: &[], program: include_str!("python/by_duckdb.py") },
    Package {
        name: "datafusion",
        version: "55.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_datafusion.py"),
    },
];

/// The command that does a task; none where the package isn't there.
pub(super) fn command(
    installed: &Installed,
    package: &str,
    task: &str,
    memory_bytes: u64,
    result: &Path,
    files: &[&Path],
) -> Option<Command> {
    let mut command = installed.program(package)?;
    command.arg(task).args([memory_bytes.to_string(), threads().to_string()]);
    command.arg(installed.folder()).arg(result).args(files);
    Some(command)
}
