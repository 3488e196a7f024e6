use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nandle_session::Cancel;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::programs::Programs;
use crate::commands::advise::verify::{child, cold};
use crate::error::CliError;

/// Timeout of a server's start, stop or recovery.
const PATIENCE: Duration = Duration::from_mins(2);
/// Timeout of the stop when a cluster is dropped during a trial.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
/// File with a side's settings.
const SETTINGS_FILE: &str = "nandle.conf";
/// Database that `initdb` creates.
const DATABASE: &str = "postgres";

/// Private database cluster: no network, reached by a socket in a private directory. Dropping it
/// stops the server and deletes its files.
pub(super) struct Cluster<'a> {
    programs: &'a Programs,
    cancel: Cancel,
    server: Option<Child>,
    // Removed after the server has stopped.
    home: TempDir,
    socket: TempDir,
}

impl<'a> Cluster<'a> {
    /// Creates the cluster in a directory.
    pub(super) fn new(programs: &'a Programs, directory: &Path, cancel: &Cancel) -> Result<Self, CliError> {
        let home = private_directory(directory, programs)?;
        // A socket's path has at most 107 bytes; a deep directory would exceed them.
        let socket = private_directory(&std::env::temp_dir(), programs)?;
        let cluster = Self { programs, cancel: cancel.clone(), server: None, home, socket };
        let mut initdb = programs.command("initdb");
        initdb.args(["--auth=trust", "--username=nandle", "--encoding=UTF8", "--no-locale", "--pgdata"]);
        child::run(initdb.arg(cluster.data()), cancel).map_err(|error| cluster.with_hint(&error))?;
        let main = cluster.data().join("postgresql.conf");
        let include = format!("\ninclude_if_exists = '{SETTINGS_FILE}'\n");
        let text = fs::read_to_string(&main).map(|text| text + &include);
        text.and_then(|text| fs::write(&main, text))
            .map_err(|error| CliError::failed(format!("{}: {error}", main.display())))?;
        Ok(cluster)
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Adds that the user `postgres` needs access to the directory.
    fn with_hint(&self, error: &CliError) -> CliError {
        if error.exit_code() == nandle_terminal::Exit::Interrupted {
            return child::interrupted();
        }
        CliError::failed(format!(
            "making a database cluster in {}: {error}\nThe user who runs the server must be able to reach that directory; \
             name another one with --on",
            self.home.path().display()
        ))
    }

    /// Restarts the server with an empty page cache and these settings added to the defaults.
    pub(super) fn restart(&mut self, settings: &str) -> Result<(), CliError> {
        self.stop()?;
        let file = self.data().join(SETTINGS_FILE);
        fs::write(&file, settings)
            .map_err(|error| CliError::failed(format!("{}: {error}", file.display())))?;
        cold::evict(&self.data())
            .map_err(|error| CliError::failed(format!("emptying the page cache: {error}")))?;
        let log = self.home.path().join("log");
        let log_file = fs::File::create(&log)
            .map_err(|error| CliError::failed(format!("{}: {error}", log.display())))?;
        let mut postgres = self.programs.command("postgres");
        postgres
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.socket.path())
            .args(["-c", "listen_addresses="]);
        postgres.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log_file);
        self.server = Some(postgres.spawn().map_err(|error| child::not_started(&postgres, &error))?);
        self.wait_until_ready(&log)
    }

    fn wait_until_ready(&mut self, log: &Path) -> Result<(), CliError> {
        let cancel = self.cancel.clone();
        child::wait_until("the server's start", PATIENCE, &cancel, || {
            if let Some(Ok(Some(status))) = self.server.as_mut().map(Child::try_wait) {
                let said = fs::read_to_string(log).unwrap_or_default();
                return Err(CliError::failed(format!(
                    "the server ended at its start ({status}): {}",
                    said.trim()
                )));
            }
            let mut ready = self.client("pg_isready");
            ready.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Ok(ready.status().is_ok_and(|status| status.success()))
        })
    }

    /// Client program with the server's address.
    pub(super) fn client(&self, program: &str) -> Command {
        let mut command = self.programs.command(program);
        command.env("PGHOST", self.socket.path()).env("PGUSER", "nandle").env("PGDATABASE", DATABASE);
        command
    }

    /// Runs statements in one session, each in its own transaction.
    pub(super) fn sql(&self, statements: &[String]) -> Result<String, CliError> {
        let mut psql = self.client("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        psql.args(statements.iter().flat_map(|statement| ["--command", statement]));
        child::run(&mut psql, &self.cancel)
    }

    /// Runs pgbench and returns its output.
    pub(super) fn pgbench(&self, arguments: &[String]) -> Result<String, CliError> {
        child::run(self.client("pgbench").args(arguments), &self.cancel)
    }

    /// Writes a script for pgbench that the server's user can read.
    pub(super) fn script(&self, name: &str, text: &str) -> Result<PathBuf, CliError> {
        let path = self.home.path().join(name);
        let written = fs::write(&path, text);
        written.map_err(|error| CliError::failed(format!("{}: {error}", path.display())))?;
        Ok(path)
    }

    /// Stops the server after a checkpoint.
    fn stop(&mut self) -> Result<(), CliError> {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        signal(&server, Signal::INT);
        let stopped = child::wait_until("the server's stop", PATIENCE, &self.cancel, || {
            server
                .try_wait()
                .map(|status| status.is_some())
                .map_err(|error| CliError::failed(format!("waiting for the server: {error}")))
        });
        if stopped.is_err() {
            self.server = Some(server);
        }
        stopped
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        signal(&server, Signal::QUIT); // immediate: its files are deleted anyway
        let never = Cancel::default();
        let gone = child::wait_until("its end", LAST_PATIENCE, &never, || {
            Ok(matches!(server.try_wait(), Ok(Some(_))))
        });
        if gone.is_err() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn signal(server: &Child, signal: Signal) {
    let _ = kill_process(Pid::from_child(server), signal);
}

/// Creates a directory owned by the server's user.
fn private_directory(parent: &Path, programs: &Programs) -> Result<TempDir, CliError> {
    let made = tempfile::Builder::new().prefix("nandle-verify-").tempdir_in(parent);
    let directory = made.map_err(|error| {
        CliError::failed(format!("{}: making a directory for the trial: {error}", parent.display()))
    })?;
    programs.hand_over(directory.path())?;
    Ok(directory)
}
