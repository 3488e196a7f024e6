//! Test directory.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::OnceLock;
use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_session::{ProbeOptions, Unobserved, probe};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a profile, and a file of 5000 numbers and texts.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::write(place.path("disk.json"), profile()).unwrap();
        let rows = "SELECT value AS id, 'note ' || value AS note FROM generate_series(1, 5000)";
        let written = place.run(&["-c", rows, "--format", "parquet"]);
        assert!(written.status.success(), "{written:?}");
        std::fs::write(place.path("Numbers.parquet"), written.stdout).unwrap();
        place
    }

    /// Profile of a disk; commands use the flash drive's by default.
    pub(crate) fn slow_profile(&self) -> PathBuf {
        let path = self.path("slow.json");
        std::fs::write(&path, profile_of("model:wd2003fyys")).unwrap();
        path
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of("sql", arguments)
    }

    pub(crate) fn command_of(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nandle-sql"));
        command.arg(name).args(arguments).args(["--profile", "disk.json", "--spill-directory", "."]);
        if !arguments.contains(&"--memory") {
            command.args(["--memory", "64MiB"]);
        }
        command.current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// JSON object that a server prints when it has started.
pub(crate) fn said(child: &mut Child) -> Value {
    let mut object = String::new();
    for line in BufReader::new(child.stdout.as_mut().unwrap()).lines() {
        let line = line.unwrap();
        object += &line;
        if line == "}" {
            break;
        }
    }
    serde_json::from_str(&object).unwrap()
}

/// Profile of a modelled drive, probed in virtual time.
fn profile() -> &'static [u8] {
    static PROFILE: OnceLock<Vec<u8>> = OnceLock::new();
    PROFILE.get_or_init(|| profile_of("model:nvme-tlc"))
}

fn profile_of(target: &str) -> Vec<u8> {
    let options = ProbeOptions {
        budget: Nanos::from_secs(3),
        only: vec!["reads".to_owned()],
        ..ProbeOptions::new(SystemTime::UNIX_EPOCH)
    };
    let profile = probe(&target.parse().unwrap(), &options, &mut Unobserved).unwrap();
    serde_json::to_vec(&profile).unwrap()
}
