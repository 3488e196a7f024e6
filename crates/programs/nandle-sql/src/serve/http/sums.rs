//! Sums of a version's flights, built in the background while the flights themselves answer.
//! A failure is reported once, and the flights go on answering.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use nandle_dashboard::{Relation, Sums, SumsState, SumsStatus};
use nandle_engine::{EngineError, KeptRows, View};
use nandle_terminal::output;

/// Sums and their progress.
pub(super) struct MadeSums {
    sums: Sums,
    relation: Relation,
    made: OnceLock<Result<Made, String>>,
    is_over: AtomicBool,
}

/// Finished sums.
struct Made {
    kept: KeptRows,
    making_ns: u64,
}

/// A build, cancelled on drop.
pub(super) struct Making(Arc<MadeSums>);

impl MadeSums {
    /// Sums of a table, not built yet.
    pub(super) fn of(table: &str) -> Self {
        let sums = Sums::of(table);
        let relation = Relation::Sums(sums.clone());
        Self { sums, relation, made: OnceLock::new(), is_over: AtomicBool::new(false) }
    }

    /// Relation for statements; `None` until built.
    pub(super) fn relation(&self) -> Option<&Relation> {
        self.kept().map(|_| &self.relation)
    }

    /// Reason why the time of reading them can't be predicted; `None` if it can.
    pub(super) fn refusal(&self) -> Option<&'static str> {
        let elsewhere = self.kept().filter(|made| !made.kept.is_on_tables_file_system);
        elsewhere.map(|_| {
            "sums lie in the directory for temporary files, on another file system than the table, whose device alone was measured"
        })
    }

    /// Progress of the build.
    pub(super) fn status(&self, version: String) -> SumsStatus {
        let (state, refusal) = match self.made.get() {
            None => (SumsState::Making, None),
            Some(Ok(_)) => (SumsState::Ready, None),
            Some(Err(refusal)) => (SumsState::Failed, Some(refusal.clone())),
        };
        let kept = self.kept();
        SumsStatus {
            version,
            state,
            sql: self.sums.statement().to_owned(),
            making_ns: kept.map(|made| made.making_ns),
            rows: kept.map(|made| made.kept.rows),
            file_bytes: kept.map(|made| made.kept.file_bytes),
            refusal,
        }
    }

    /// Builds the sums. Blocks the thread.
    fn make(&self, view: &View) {
        let began = Instant::now();
        let is_over = || self.is_over.load(Ordering::Relaxed);
        let kept =
            catch_unwind(AssertUnwindSafe(|| view.keep(self.sums.name(), self.sums.statement(), &is_over)));
        let made = match kept {
            Ok(Ok(kept)) => Ok(Made { kept, making_ns: super::query::nanos(began.elapsed()) }),
            Ok(Err(EngineError::Interrupted)) if is_over() => return,
            Ok(Err(error)) => {
                Err((error.to_string(), "; with more --memory or --spill-limit there may be room"))
            }
            Err(_) => Err(("the program failed while it made them".to_owned(), "")),
        };
        let made = made.map_err(|(why, advice)| {
            output::note(&format!(
                "making sums of the flights: {why}; the dashboard asks the flights themselves, which takes longer{advice}"
            ));
            why
        });
        // Set once only.
        let _ = self.made.set(made);
    }

    fn kept(&self) -> Option<&Made> {
        self.made.get()?.as_ref().ok()
    }
}

impl Making {
    /// Starts building in a separate thread. It takes no query's slot, and runs alongside queries
    /// with a part of the memory.
    pub(super) fn begin(sums: &Arc<MadeSums>, view: &Arc<View>) -> Self {
        let (own, view) = (Arc::clone(sums), Arc::clone(view));
        tokio::task::spawn_blocking(move || own.make(&view));
        Self(Arc::clone(sums))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}
