//! Records the needs of statements.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nandle_engine::{CpuClock, Needed, Needs, Reads};
use nandle_io::Nanos;
use nandle_reads::recording::{Names, QueryTotals, RecordError, Recorder};
use nandle_reads::{FileId, Want};
use nandle_terminal::result_file::RECORDING;
use nandle_terminal::{Failure, cpu, output, result_file};

use crate::args::SqlArgs;

/// Name of the reading threads.
const READING_THREADS: &str = "nandle-reads";

/// Names have to fit a table's column.
const NAME_LETTERS_MOST: usize = 24;

/// A recording in progress.
pub(crate) struct Record {
    path: PathBuf,
    recorder: Recorder<Vec<u8>>,
    files: BTreeMap<(String, u64), FileId>,
    queries: u64,
}

impl Record {
    /// Starts a recording, if requested.
    pub(crate) fn begin(args: &SqlArgs) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.record else { return Ok(None) };
        result_file::check(path, &RECORDING)?;
        let names = if args.anonymous { Names::Left } else { Names::Kept };
        let recorder = Recorder::new(Vec::new(), names).map_err(|error| failed(path, &error))?;
        Ok(Some(Self { path: path.clone(), recorder, files: BTreeMap::new(), queries: 0 }))
    }

    /// Adds a finished statement.
    pub(crate) fn add(&mut self, text: &str, needed: &Needed, totals: QueryTotals) -> Result<(), Failure> {
        self.queries += 1;
        self.try_add(text, needed, totals).map_err(|error| failed(&self.path, &error))
    }

    fn try_add(&mut self, text: &str, needed: &Needed, totals: QueryTotals) -> Result<(), RecordError> {
        let mut files = Vec::with_capacity(needed.files.len());
        for file in &needed.files {
            let key = (file.name.clone(), file.length_bytes);
            let number = match self.files.get(&key) {
                Some(number) => *number,
                None => self.recorder.file(&file.name, file.length_bytes, &file.groups)?,
            };
            self.files.insert(key, number);
            files.push(number);
        }
        self.recorder.begin_query(&name(self.queries, text), Some(text))?;
        for step in &needed.steps {
            let wants = step
                .wants
                .iter()
                .filter_map(|want| Some(Want { file: *files.get(want.file.0 as usize)?, ..*want }));
            self.recorder.step(&wants.collect::<Vec<_>>(), step.cpu_after)?;
        }
        self.recorder.end_query(totals)
    }

    /// Writes the recording of the statements before a failure or interruption, and reports its
    /// contents. Writes nothing if none finished.
    pub(crate) fn finish_early(self) {
        let (path, queries) = (self.path.display().to_string(), self.queries);
        let said = match queries {
            0 => format!("No statement was recorded, so {path} isn't written."),
            queries => match self.finish() {
                Ok(()) if queries == 1 => format!("{path} has the one statement that was done before."),
                Ok(()) => format!("{path} has the {queries} statements that were done before."),
                Err(failure) => failure.message,
            },
        };
        output::note(&said);
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        let bytes = self.recorder.finish().map_err(|error| failed(&self.path, &error))?;
        result_file::write(&self.path, &bytes)
    }
}

/// Name of a statement: its number and beginning.
fn name(number: u64, text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let beginning: String = words.chars().take(NAME_LETTERS_MOST).collect();
    let mark = if beginning.len() < words.len() { "…" } else { "" };
    format!("{number}: {beginning}{mark}")
}

/// Starts recording a statement's needs.
pub(crate) fn needs(reads: Reads) -> Arc<Needs> {
    if reads == Reads::Engine {
        output::note("What a statement reads with nandle.reads = engine isn't in the recording.");
    }
    Arc::new(Needs::new(cpu_clock()))
}

fn failed(path: &Path, error: &RecordError) -> Failure {
    Failure::failed(format!("recording to {}: {error}", path.display()))
}

/// Processor time of this process without the reading threads.
fn cpu_clock() -> CpuClock {
    let reading = reading_threads();
    Arc::new(move || {
        let of_reads: u64 = reading.iter().filter_map(|thread| cpu_ns_of(thread)).sum();
        Nanos(cpu::of_process().0.saturating_sub(of_reads))
    })
}

/// Directories of the reading threads in `/proc`.
fn reading_threads() -> Vec<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    let is_reading = |task: &PathBuf| {
        fs::read_to_string(task.join("comm")).is_ok_and(|name| OsStr::new(name.trim_end()) == READING_THREADS)
    };
    tasks.map(|task| task.path()).filter(is_reading).collect()
}

/// First number of `schedstat`: nanoseconds on a processor.
fn cpu_ns_of(task: &Path) -> Option<u64> {
    fs::read_to_string(task.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_called_by_how_it_begins() {
        assert_eq!(name(1, "SELECT 1"), "1: SELECT 1");
        assert_eq!(name(12, "SELECT\n  \"Origin\", avg(\"ArrDelay\")"), "12: SELECT \"Origin\", avg(\"Ar…");
    }

    #[test]
    fn threads_that_read_do_not_count() {
        let (told, begun) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let body = move || {
            let mut sum = 0_u64;
            while cpu::of_thread().0 < 100_000_000 {
                sum = std::hint::black_box(sum + 1);
            }
            told.send(cpu::of_thread().0).unwrap();
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().name(READING_THREADS.to_owned()).spawn(body).unwrap();
        let reading_ns = begun.recv().unwrap();
        // Other tests use the processor as well.
        let (counted, all_ns) = (cpu_clock()(), cpu::of_process().0);
        assert!(counted.0 + reading_ns * 9 / 10 < all_ns, "{counted:?} of {all_ns}");
        drop(end);
        thread.join().unwrap();
    }
}
