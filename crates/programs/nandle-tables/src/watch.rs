//! Progress and cancellation of long work on a table.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nandle_columns::{Files, Manifest, RealFiles, Stopped, Table, Watch, WatchedFiles};
use nandle_session::{Cancel, Observer};
use nandle_terminal::progress::Bar;

use crate::error::CliError;
use crate::input::{of_table, open_table};

/// Bytes between progress updates.
const TOLD_BYTES: u64 = 4 << 20;

/// Table whose long work shows progress and ends on Ctrl-C.
pub(crate) struct WatchedTable {
    pub(crate) table: Table,
    /// Manifest before the work.
    pub(crate) before: Manifest,
    watched: WatchedDirectory,
}

/// Directory, with or without a table, whose long work shows progress and ends on Ctrl-C.
pub(crate) struct WatchedDirectory {
    files: Arc<WatchedFiles>,
    watch: Arc<Watching>,
}

impl WatchedDirectory {
    /// For work that moves about `bytes`.
    pub(crate) fn new(directory: &Path, doing: &str, bytes: u64, cancel: &Cancel, bar: Bar) -> Self {
        let watch = Arc::new(Watching {
            cancel: cancel.clone(),
            bar: Mutex::new(bar),
            doing: doing.to_owned(),
            bytes,
            moved_bytes: AtomicU64::new(0),
        });
        let files = WatchedFiles::new(Arc::new(RealFiles::new(directory)), Arc::<Watching>::clone(&watch));
        Self { files: Arc::new(files), watch }
    }

    pub(crate) fn files(&self) -> Arc<dyn Files> {
        Arc::<WatchedFiles>::clone(&self.files)
    }

    /// Clears the progress.
    pub(crate) fn finish(&self) {
        self.watch.bar.lock().unwrap_or_else(PoisonError::into_inner).finish();
    }
}

/// Passes over a table's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moves {
    /// Reads the bytes.
    Reads,
    /// Reads the bytes and writes as many.
    Copies,
    /// Reads the bytes, spills them unless they fit in memory, and sorts them.
    Sorts,
}

#[derive(Debug)]
struct Watching {
    cancel: Cancel,
    bar: Mutex<Bar>,
    doing: String,
    /// Approximate bytes of all work.
    bytes: u64,
    moved_bytes: AtomicU64,
}

impl WatchedTable {
    /// Opens a table for work shown as `doing`.
    pub(crate) fn open(
        directory: &Path,
        doing: &str,
        moves: Moves,
        cancel: &Cancel,
        bar: Bar,
    ) -> Result<Self, CliError> {
        let of = |error| of_table(directory, error);
        let before = open_table(directory)?.manifest().map_err(of)?;
        let table_bytes: u64 = before.files().map(|file| file.bytes).sum();
        let times = match moves {
            Moves::Reads => 1,
            Moves::Copies => 2,
            Moves::Sorts => 4,
        };
        let watched = WatchedDirectory::new(directory, doing, times * table_bytes, cancel, bar);
        let table = Table::open_in(watched.files()).map_err(of)?;
        Ok(Self { table, before, watched })
    }

    /// Opens a table for work with its own progress.
    pub(crate) fn without_progress(directory: &Path, cancel: &Cancel) -> Result<Table, CliError> {
        Ok(Self::open(directory, "", Moves::Reads, cancel, Bar::new(false))?.table)
    }

    /// Clears the progress.
    pub(crate) fn finish(&self) {
        self.watched.finish();
    }
}

impl Watch for Watching {
    fn moves(&self, bytes: u64) -> std::io::Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Stopped::error());
        }
        let before = self.moved_bytes.fetch_add(bytes, Ordering::Relaxed);
        let now = before + bytes;
        if before / TOLD_BYTES != now / TOLD_BYTES {
            let share = now as f64 / self.bytes.max(1) as f64;
            self.bar.lock().unwrap_or_else(PoisonError::into_inner).progress(&self.doing, share);
        }
        Ok(())
    }
}
