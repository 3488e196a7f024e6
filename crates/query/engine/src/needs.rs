//! Records the reads and processor time of a statement, for a recording.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nandle_io::Nanos;
use nandle_reads::{FileId, Groups, Want};

use crate::table::TableFiles;

/// Processor time of all computing threads, without reading threads, from an arbitrary origin.
pub type CpuClock = Arc<dyn Fn() -> Nanos + Send + Sync>;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededFile {
    /// Its path.
    pub name: String,
    /// Its length.
    pub length_bytes: u64,
    /// Groups of its parts.
    pub groups: Groups,
}

/// Reads at one point, and the computation until the next reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededStep {
    /// Byte ranges; their files are indices into [`Needed::files`].
    pub wants: Vec<Want>,
    /// Processor time of all threads together.
    pub cpu_after: Nanos,
}

/// Reads of a statement in chronological order; those of parallel partitions interleave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needed {
    /// Files of all tables that were read.
    pub files: Vec<NeededFile>,
    /// Steps. The first one has no wants: it is the planning.
    pub steps: Vec<NeededStep>,
}

/// Recorder of a running statement.
pub struct Needs {
    clock: CpuClock,
    noted: Mutex<Noted>,
}

struct Noted {
    needed: Needed,
    /// Tables that were read, with the number of each one's first file.
    tables: Vec<(Arc<TableFiles>, u32)>,
    /// Time up to which processor time has been counted.
    counted: Nanos,
}

impl Needs {
    /// Starts to record; processor time counts from now on.
    pub fn new(clock: CpuClock) -> Self {
        let noted = Mutex::new(Noted::new(clock()));
        Self { clock, noted }
    }

    /// Discards the record when the statement restarts.
    pub(crate) fn begin_again(&self) {
        *self.noted() = Noted::new((self.clock)());
    }

    /// Records reads of a table's files.
    pub(crate) fn took(&self, table: &Arc<TableFiles>, wants: impl Iterator<Item = Want>) {
        let mut noted = self.noted();
        noted.count(&self.clock);
        let first = noted.first_file(table);
        let number = u32::try_from(noted.needed.steps.len()).unwrap_or(u32::MAX);
        let wants = wants.map(|want| Want { file: FileId(first + want.file.0), step: number, ..want });
        let wants = wants.collect();
        noted.needed.steps.push(NeededStep { wants, cpu_after: Nanos::ZERO });
    }

    /// Returns the record.
    pub fn finish(&self) -> Needed {
        let mut noted = self.noted();
        noted.count(&self.clock);
        noted.tables.clear();
        std::mem::take(&mut noted.needed)
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Noted {
    fn new(counted: Nanos) -> Self {
        let planning = NeededStep { wants: Vec::new(), cpu_after: Nanos::ZERO };
        let needed = Needed { files: Vec::new(), steps: vec![planning] };
        Self { needed, tables: Vec::new(), counted }
    }

    /// Adds the processor time since the last call to the last step.
    fn count(&mut self, clock: &CpuClock) {
        let now = clock();
        let span = now.since(std::mem::replace(&mut self.counted, now));
        if let Some(last) = self.needed.steps.last_mut() {
            last.cpu_after += span;
        }
    }

    fn first_file(&mut self, table: &Arc<TableFiles>) -> u32 {
        if let Some((_, first)) = self.tables.iter().find(|(known, _)| Arc::ptr_eq(known, table)) {
            return *first;
        }
        let first = u32::try_from(self.needed.files.len()).unwrap_or(u32::MAX);
        let files = table.paths.iter().zip(table.read.iter()).map(|(path, read)| NeededFile {
            name: path.display().to_string(),
            length_bytes: read.plan.length_bytes,
            groups: read.plan.groups.clone(),
        });
        self.needed.files.extend(files);
        self.tables.push((Arc::clone(table), first));
        first
    }
}

impl std::fmt::Debug for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Needs").finish_non_exhaustive()
    }
}
