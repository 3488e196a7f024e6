//! Runs of the program in a directory of its own, by a profile that was measured once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_session::{ProbeOptions, Unobserved, probe};
use serde_json::Value;
use tempfile::TempDir;

/// How a run ended, and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It ended with a code, and said each of these parts of a message.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("stack backtrace"), "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A directory in which the program runs.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::write(place.path("disk.json"), profile()).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the program with the words of a line.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nandle-tables"));
        let output =
            command.args(line.split_whitespace()).current_dir(self.directory.path()).output().unwrap();
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// A table of generated flights.
    pub(crate) fn generate(&self, table: &str, rows: u64) {
        self.run(&format!("table generate {table} --rows {rows} --seed 3 --profile disk.json")).done();
    }

    /// The Parquet files of a table.
    pub(crate) fn parquet_files(&self, table: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path(table).join("data")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "parquet")).collect()
    }
}

/// Flips a bit in the middle of a file.
pub(crate) fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Of a modelled drive, whose probe takes virtual time.
fn profile() -> &'static [u8] {
    static PROFILE: OnceLock<Vec<u8>> = OnceLock::new();
    PROFILE.get_or_init(|| {
        let options = ProbeOptions {
            budget: Nanos::from_secs(20),
            only: vec!["reads".to_owned()],
            ..ProbeOptions::new(SystemTime::UNIX_EPOCH)
        };
        let profile = probe(&"model:nvme-tlc".parse().unwrap(), &options, &mut Unobserved).unwrap();
        serde_json::to_vec(&profile).unwrap()
    })
}
