//! Programs from `PyPI` that sort and join.

use std::path::Path;
use std::process::Command;

use crate::bench::python::{Installed, Package, threads};

/// Scripts that take the task, bytes of memory, threads, the folder for temporary data, the result,
/// and the files.
pub(super) const PACKAGES: [Package; 2] = [
    Package { name: "duckdb", version: "2.0.0", needs: &[], program: include_str!("python/by_duckdb.py") },
    Package {
        name: "datafusion",
        version: "55.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_datafusion.py"),
    },
];

/// Command for a task, or `None` if the package is missing.
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
