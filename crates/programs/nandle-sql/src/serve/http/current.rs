//! The table as it is, and what was asked of it since it is so.

use std::sync::Arc;

use nandle_dashboard::{Relation, Runner, Statement, StatementResult, SumsStatus, TableName};

use super::query::{Runs, run};
use super::single_flight::SingleFlight;
use super::sums::Making;
use crate::serve::limits::Ended;

/// Answers that are kept of a version of the table.
const KEPT_MOST: usize = 512;
const KEPT_BYTES_MOST: usize = 64 << 20;

/// A version of the table.
pub(super) struct Current {
    runs: Arc<Runs>,
    flights: Relation,
    version: String,
    /// Of each statement with what was known of other devices: once more is known it runs again.
    answers: SingleFlight<(Statement, u64), Arc<StatementResult>, Arc<Ended>>,
}

impl Current {
    pub(super) fn new(runs: Runs, table: &str) -> Self {
        let version = runs.view.version().to_string();
        let answers = SingleFlight::new(KEPT_MOST, KEPT_BYTES_MOST);
        let flights = Relation::Flights(TableName::new(table));
        Self { runs: Arc::new(runs), flights, version, answers }
    }

    /// Begins to make sums of its flights, by which questions are answered from when they are ready.
    pub(super) fn make_sums(&self) -> Making {
        Making::begin(&self.runs.sums, &self.runs.view)
    }

    /// How far these are.
    pub(super) fn sums_status(&self) -> SumsStatus {
        self.runs.sums.status(self.version.clone())
    }
}

impl Runner for Current {
    type Error = Arc<Ended>;

    fn version(&self) -> String {
        self.version.clone()
    }

    fn flights(&self) -> &Relation {
        &self.flights
    }

    fn sums(&self) -> Option<&Relation> {
        self.runs.sums.relation()
    }

    async fn run(&self, statement: &Statement) -> Result<Arc<StatementResult>, Arc<Ended>> {
        let make = || run(Arc::clone(&self.runs), statement.clone());
        let bytes = |ran: &Arc<StatementResult>| {
            ran.batches.iter().map(arrow_array::RecordBatch::get_array_memory_size).sum()
        };
        self.answers.get((statement.clone(), self.runs.devices.number()), make, bytes).await
    }
}
