//! Programs from `PyPI`, in an environment of their own that is gone afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::succeeds;
use crate::{Outcome, output};

/// A package, and what sorts and joins with it: the task, bytes of memory, threads, the folder for temporary data, the result, and the
/// files.
struct Package {
    name: &'static str,
    version: &'static str,
    needs: &'static [&'static str],
    program: &'static str,
}

const PACKAGES: [Package; 2] = [
    Package { name: "duckdb", version: "2.0.0", needs: &[], program: include_str!("python/by_duckdb.py") },
    Package {
        name: "datafusion",
        version: "55.0.0",
        needs: &["pyarrow==26.0.1"],
        program: include_str!("python/by_datafusion.py"),
    },
];

/// Those that could be installed.
pub(super) struct Installed {
    folder: PathBuf,
    packages: Vec<&'static str>,
    threads: usize,
}

impl Installed {
    /// Installs them below `folder`, and says which can't be.
    pub(super) fn below(folder: &Path) -> Outcome<Self> {
        let folder = folder.join("python");
        let environment = folder.join("environment");
        let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment));
        let made = made.is_ok_and(|made| made);
        let mut packages = Vec::new();
        for Package { name, version, needs, program } in PACKAGES {
            let wanted = format!("{name}=={version}");
            let mut pip = Command::new(environment.join("bin/pip"));
            pip.args(["--quiet", "install", &wanted]).args(needs);
            if made && succeeds(&mut pip).is_ok_and(|installed| installed) {
                fs::write(folder.join(format!("by_{name}.py")), program)?;
                packages.push(name);
            } else {
                output::say(&format!("{name}: SKIPPED, it can't be installed from PyPI here"));
            }
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { folder, packages, threads })
    }

    /// The command that does a task; none where the package isn't there.
    pub(super) fn command(
        &self,
        package: &str,
        task: &str,
        memory_bytes: u64,
        result: &Path,
        files: &[&Path],
    ) -> Option<Command> {
        if !self.packages.contains(&package) {
            return None;
        }
        let mut command = Command::new(self.folder.join("environment/bin/python"));
        command.arg(self.folder.join(format!("by_{package}.py"))).arg(task);
        command.args([memory_bytes.to_string(), self.threads.to_string()]);
        command.arg(&self.folder).arg(result).args(files);
        Some(command)
    }
}
