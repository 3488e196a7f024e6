//! Programs from `PyPI` in a temporary environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::succeeds;
use crate::{Outcome, output};

/// A package, and the script that runs a benchmark's tasks with it.
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) needs: &'static [&'static str],
    pub(super) program: &'static str,
}

/// Packages that could be installed.
pub(super) struct Installed {
    folder: PathBuf,
    packages: Vec<&'static str>,
}

impl Installed {
    /// Installs packages below `folder`, and reports those that fail.
    pub(super) fn below(folder: &Path, packages: &'static [Package]) -> Outcome<Self> {
        let folder = folder.join("python");
        let environment = folder.join("environment");
        let made = succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment));
        let made = made.is_ok_and(|made| made);
        let mut installed = Vec::new();
        for Package { name, version, needs, program } in packages {
            let wanted = format!("{name}=={version}");
            let mut pip = Command::new(environment.join("bin/pip"));
            pip.args(["--quiet", "install", &wanted]).args(*needs);
            if made && succeeds(&mut pip).is_ok_and(|installed| installed) {
                fs::write(folder.join(format!("by_{name}.py")), program)?;
                installed.push(*name);
            } else {
                output::say(&format!("{name}: SKIPPED, it can't be installed from PyPI here"));
            }
        }
        Ok(Self { folder, packages: installed })
    }

    /// Folder of the packages, also for their temporary files.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Command of a package's script, or `None` if the package is missing.
    pub(super) fn program(&self, package: &str) -> Option<Command> {
        if !self.packages.contains(&package) {
            return None;
        }
        let mut command = Command::new(self.folder.join("environment/bin/python"));
        command.arg(self.folder.join(format!("by_{package}.py")));
        Some(command)
    }
}

/// Number of threads for each program.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
