use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use nandle_advise::settings::Version;

use crate::error::CliError;

/// Debian's directory of installed versions.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Programs that a trial needs.
const NEEDED: [&str; 5] = ["postgres", "initdb", "pgbench", "psql", "pg_isready"];
/// User that runs the server for root: a server refuses to run as root.
const SERVER_USER: &str = "postgres";

/// An installed server and the user that may run it.
#[derive(Debug)]
pub(super) struct Programs {
    directory: PathBuf,
    user: Option<&'static str>,
}

impl Programs {
    /// Finds the newest installed server.
    pub(super) fn find() -> Result<Self, CliError> {
        let directory = directories()
            .into_iter()
            .find(|directory| NEEDED.iter().all(|program| directory.join(program).is_file()));
        let directory = directory.ok_or_else(|| {
            CliError::failed(format!(
                "--verify: no PostgreSQL with {} in the search path or in {DEBIAN}; install it (Debian: postgresql)",
                NEEDED.join(", ")
            ))
        })?;
        let user = rustix::process::geteuid().is_root().then_some(SERVER_USER);
        Ok(Self { directory, user })
    }

    /// Command that ends when this process does, even by SIGKILL. Runs as the server's user if this
    /// process is root.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        if let Some(user) = self.user {
            command.args(["--reuid", user, "--regid", user, "--init-groups"]);
        }
        command.args(["--pdeathsig", "INT", "--"]).arg(self.directory.join(program));
        command.env("LC_ALL", "C").current_dir("/");
        command
    }

    /// Version that `postgres --version` prints.
    pub(super) fn version(&self) -> Option<Version> {
        let output = Command::new(self.directory.join("postgres")).arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_whitespace().find_map(|word| word.parse::<Version>().ok())
    }

    /// Gives a directory to the server's user.
    pub(super) fn hand_over(&self, directory: &Path) -> Result<(), CliError> {
        let Some(user) = self.user else { return Ok(()) };
        let status = Command::new("chown").arg(format!("{user}:")).arg(directory).output();
        match status {
            Ok(output) if output.status.success() => Ok(()),
            _ => Err(CliError::failed(format!(
                "{}: giving it to the user {user}, who runs the server for root: {}",
                directory.display(),
                status.map_or_else(
                    |error| error.to_string(),
                    |output| { String::from_utf8_lossy(&output.stderr).trim().to_owned() }
                )
            ))),
        }
    }
}

/// Directories that may hold servers: Debian's, newest first, then the search path.
fn directories() -> Vec<PathBuf> {
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<f64>().ok();
    let entries = fs::read_dir(DEBIAN).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut versions: Vec<(f64, PathBuf)> = entries.filter_map(|path| Some((number(&path)?, path))).collect();
    versions.sort_by(|a, b| b.0.total_cmp(&a.0));
    let debian = versions.into_iter().map(|(_, path)| path.join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    debian.chain(env::split_paths(&path)).collect()
}
