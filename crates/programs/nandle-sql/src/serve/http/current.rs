//! A version of the table, with its cached answers.

use std::sync::Arc;

use nandle_dashboard::{Relation, Runner, Statement, StatementResult, SumsStatus, TableName};

use super::query::{Runs, run};
use super::single_flight::SingleFlight;
use super::sums::Making;
use crate::serve::limits::Ended;

/// Answers cached per version of the table.
const KEPT_MOST: usize = 512;
const KEPT_BYTES_MOST: usize = 64 << 20;

/// A version of the table.
pub(super) struct Current {
    runs: Arc<Runs>,
    flights: Relation,
    version: String,
    /// Keyed by statement and by the state of the devices: new device figures cause a rerun.
    answers: SingleFlight<(Statement, u64), Arc<StatementResult>, Arc<Ended>>,
}

impl Current {
    pub(super) fn new(runs: Runs, table: &str) -> Self {
        let version = runs.view.version().to_string();
        let answers = SingleFlight::new(KEPT_MOST, KEPT_BYTES_MOST);
        let flights = Relation::Flights(TableName::new(table));
        Self { runs: Arc::new(runs), flights, version, answers }
    }

    /// Starts building sums of the flights, which answer requests once they are ready.
    pub(super) fn make_sums(&self) -> Making {
        Making::begin(&self.runs.sums, &self.runs.view)
    }

    /// Progress of the sums.
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
