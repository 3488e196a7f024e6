//! Runs the program in a private directory, with a profile measured once.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::SystemTime;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;
use nandle_columns::{BatchDecoder, DirectBytes, ScanSpec, Table};
use nandle_io::Nanos;
use nandle_session::{ProbeOptions, Unobserved, probe};
use serde_json::Value;
use tempfile::TempDir;

/// Exit code and output of a run.
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

    /// Asserts the exit code, and that the message contains each of `parts`.
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

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Directory in which the program runs.
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

    /// The program with arguments separated by blanks.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nandle-tables"));
        command.args(line.split_whitespace()).current_dir(self.directory.path());
        command
    }

    /// Runs the program with arguments separated by blanks.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.command(line).output().unwrap().into()
    }

    /// Creates a table of generated flights.
    pub(crate) fn generate(&self, table: &str, rows: u64) {
        self.run(&format!("table generate {table} --rows {rows} --seed 3 --profile disk.json")).done();
    }

    /// Parquet files of a table.
    pub(crate) fn parquet_files(&self, table: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path(table).join("data")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "parquet")).collect()
    }
}

/// Sorted rows of a table, of the columns that identify them. Asserts that the table is sound.
pub(crate) fn sound_rows(table: &Path) -> Vec<String> {
    let columns = ["Month", "FlightDate", "Airline", "FlightNum", "TailNum", "Origin", "ArrDelay"];
    let table = Table::open(table).unwrap();
    assert_eq!(table.verify().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    let snapshot = table.snapshot().unwrap();
    let plan = snapshot.scan(&ScanSpec::of(columns)).unwrap();
    let (mut bytes, mut decoder) = (DirectBytes::new(&plan), BatchDecoder::new(&plan));
    let mut rows = Vec::new();
    while let Some(batch) = decoder.next(&mut bytes).unwrap() {
        let columns: Vec<_> =
            batch.columns().iter().map(|column| cast(column, &DataType::Utf8).unwrap()).collect();
        let text = |row: usize| {
            let cells = columns.iter().map(AsArray::as_string::<i32>);
            cells.map(|cells| if cells.is_valid(row) { cells.value(row) } else { "-" }).collect::<Vec<_>>()
        };
        rows.extend((0..batch.num_rows()).map(|row| text(row).join("|")));
    }
    rows.sort_unstable();
    rows
}

/// Files of a table that its current manifest doesn't list.
pub(crate) fn leftovers(table: &Path) -> Vec<String> {
    let manifest = Table::open(table).unwrap().manifest().unwrap();
    let mut known: Vec<String> =
        ["CURRENT", "LOCK", "profile.json", "data", "projections"].map(str::to_owned).into();
    known.push(format!("manifest-{}.json", manifest.snapshot));
    known.extend(manifest.files().flat_map(|file| [file.path.clone(), file.sums.path.clone()]));
    let names = |folder: &str| {
        let entries = std::fs::read_dir(table.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
            .collect::<Vec<_>>()
    };
    let there = ["", "data", "projections"].into_iter().flat_map(names);
    there.filter(|name| !known.contains(name)).collect()
}

/// Flips a bit in the middle of a file.
pub(crate) fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Profile of a modelled drive, probed in virtual time.
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
