use std::collections::BTreeMap;
use std::io::Write;

use nandle_io::Nanos;
use nandle_reads::recording::{QueryTotals, RecordError, RecordedQuery, Recorder};
use nandle_reads::{HostCosts, Plan, Prediction, Want};

use super::metered::Spans;
use crate::{CountReport, CubeQuery};

/// Report of a cube's computation.
#[derive(Debug, Clone)]
pub struct CubeRun {
    /// The cube.
    pub query: CubeQuery,
    /// Requests.
    pub requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes wanted.
    pub wanted_bytes: u64,
    /// Requests by length in bytes.
    pub requests_by_length_bytes: BTreeMap<u64, u64>,
    /// Maximum number of outstanding requests.
    pub depth_max: u32,
    /// Report of counting.
    pub count: CountReport,
    /// Predictions for the reads with the measured processor times of the steps: of dictionaries,
    /// and of rows.
    pub predictions: Vec<Prediction>,
    /// Steps with wants and processor time per thread: those of dictionaries, those of rows, and
    /// one for results.
    steps: Vec<(Vec<Want>, Nanos)>,
    cpu: Nanos,
}

impl CubeRun {
    pub(super) fn new(query: CubeQuery) -> Self {
        Self {
            query,
            requests: 0,
            read_bytes: 0,
            wanted_bytes: 0,
            requests_by_length_bytes: BTreeMap::new(),
            depth_max: 0,
            count: CountReport::default(),
            predictions: Vec::new(),
            steps: Vec::new(),
            cpu: Nanos::ZERO,
        }
    }

    /// Adds an executed plan with its consumers' processor times. Each step counts as its time
    /// divided by the number of consumers.
    pub(super) fn add(&mut self, plan: &Plan, host: HostCosts, spans: &Spans, consumers: usize) {
        let mut by_step = vec![Nanos::ZERO; plan.steps() as usize];
        for (step, span) in spans {
            self.cpu += *span;
            if let Some(place) = by_step.get_mut(*step as usize) {
                *place += Nanos(span.0 / consumers.max(1) as u64);
            }
        }
        self.requests += plan.reads().len() as u64;
        self.read_bytes += plan.read_bytes();
        self.wanted_bytes += plan.wanted_bytes();
        self.depth_max = self.depth_max.max(plan.depth_max());
        for read in plan.reads() {
            *self.requests_by_length_bytes.entry(read.length_bytes).or_default() += 1;
        }
        let seconds = |step: u32| by_step.get(step as usize).map_or(0.0, |span| span.0 as f64 * 1e-9);
        self.predictions.push(plan.predict(host, seconds));
        let wants = (0..plan.steps()).map(|step| plan.wants_of(step).to_vec());
        self.steps.extend(wants.zip(by_step));
    }

    pub(super) fn add_results(&mut self, span: Nanos, cpu: Nanos) {
        self.steps.push((Vec::new(), span));
        self.cpu += cpu;
    }

    /// Processor time of all consuming threads, including results.
    pub fn cpu(&self) -> Nanos {
        self.cpu
    }

    /// Processor time from the last row to the last result, per thread.
    pub fn results_cpu(&self) -> Nanos {
        self.steps.last().map_or(Nanos::ZERO, |(_, span)| *span)
    }

    /// Recorded reads, for replay on another device. Its files are those of the snapshot, in order.
    pub fn recorded(&self) -> RecordedQuery {
        let number = |step: usize| u32::try_from(step).unwrap_or(u32::MAX);
        let steps = self.steps.iter().enumerate();
        let wants = steps.flat_map(|(step, (wants, _))| {
            wants.iter().map(move |want| Want { step: number(step), ..*want })
        });
        RecordedQuery {
            name: Some(self.query.to_string()),
            text: None,
            wants: wants.collect(),
            cpu_after_ns: self.steps.iter().map(|(_, span)| span.0).collect(),
            totals: QueryTotals {
                spilled_bytes: self.count.spilled_bytes,
                // Each run is read once; the counter doesn't report further merge passes.
                spill_read_bytes: self.count.spilled_bytes,
                result_rows: self.count.groups,
                took_ns: None,
            },
        }
    }

    /// Writes the query to a recording with the files of the snapshot.
    ///
    /// # Errors
    /// The recording can't be written.
    pub fn record<W: Write>(&self, recorder: &mut Recorder<W>) -> Result<(), RecordError> {
        let needed = self.recorded();
        recorder.begin_query(needed.name.as_deref().unwrap_or_default(), None)?;
        for (wants, span) in &self.steps {
            recorder.step(wants, *span)?;
        }
        recorder.end_query(needed.totals)
    }
}
