//! What a statement needed while it ran, for a recording.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nandle_io::Nanos;
use nandle_reads::{FileId, Groups, Want};

use crate::table::TableFiles;

/// Processor time that all threads have used that compute, without those that read; its zero is arbitrary.
pub type CpuClock = Arc<dyn Fn() -> Nanos + Send + Sync>;

/// A file of which something was needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededFile {
    /// Its path.
    pub name: String,
    /// How long it is.
    pub length_bytes: u64,
    /// What of it lies together.
    pub groups: Groups,
}

/// What was needed at a time, and computed until something was needed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededStep {
    /// Stretches; their files are places in [`Needed::files`].
    pub wants: Vec<Want>,
    /// Processor time of all threads together.
    pub cpu_after: Nanos,
}

/// What a statement needed, in the order in which it was taken: where partitions run side by side theirs take turns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needed {
    /// The files of all tables that were read.
    pub files: Vec<NeededFile>,
    /// The first one wants nothing: it is the planning.
    pub steps: Vec<NeededStep>,
}

/// Notes what a statement needs while it runs.
pub struct Needs {
    clock: CpuClock,
    noted: Mutex<Noted>,
}

struct Noted {
    needed: Needed,
    /// The tables that were read, and the number of each one's first file.
    tables: Vec<(Arc<TableFiles>, u32)>,
    /// Until when processor time is counted.
    counted: Nanos,
}

impl Needs {
    /// Begins to note; processor time counts from now on.
    pub fn new(clock: CpuClock) -> Self {
        let noted = Mutex::new(Noted::new(clock()));
        Self { clock, noted }
    }

    /// Forgets what was noted: the statement runs anew.
    pub(crate) fn begin_again(&self) {
        *self.noted() = Noted::new((self.clock)());
    }

    /// Stretches of a table's files were taken.
    pub(crate) fn took(&self, table: &Arc<TableFiles>, wants: impl Iterator<Item = Want>) {
        let mut noted = self.noted();
        noted.count(&self.clock);
        let first = noted.first_file(table);
        let number = u32::try_from(noted.needed.steps.len()).unwrap_or(u32::MAX);
        let wants = wants.map(|want| Want { file: FileId(first + want.file.0), step: number, ..want });
        let wants = wants.collect();
        noted.needed.steps.push(NeededStep { wants, cpu_after: Nanos::ZERO });
    }

    /// What was needed until now.
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

    /// What was computed since the last time belongs to the last step.
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
