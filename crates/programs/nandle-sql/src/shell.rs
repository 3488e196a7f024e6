//! Runs statements and prints their rows.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use nandle_distributed::{HeldRows, WorkerError};
use nandle_engine::{Engine, EngineError, Format, Needs, RowWriter, Rows, Statement};
use nandle_io::Nanos;
use nandle_reads::recording::QueryTotals;
use nandle_session::Cancel;
use nandle_terminal::{Failure, output};
use nandle_units::format_duration;

use crate::error::of_engine;
use crate::record::{self, Record};
use crate::workers::Workers;

const SPILLED_JOINS: &str = "The rows of a join didn't fit the memory, so the query began again with joins that write them to temporary files; with more --memory it takes less time.";

/// An engine with its tables, and the outputs for rows and recordings.
pub(crate) struct Shell<'a> {
    pub(crate) engine: Engine,
    pub(crate) format: Format,
    pub(crate) record: Option<Record>,
    /// Workers on which a statement is retried after a loss; rows are held back until the last has
    /// arrived.
    pub(crate) retry: Option<&'a Workers>,
    pub(crate) cancel: Cancel,
}

impl Shell<'_> {
    /// Names for completion: tables and their columns, as SQL quotes them.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        self.engine.names().map_err(|error| of_engine(&error))
    }

    /// Runs statements separated by semicolons.
    pub(crate) fn run(&mut self, text: &str) -> Result<(), Failure> {
        let statements = self.engine.parse(text).map_err(|error| of_engine(&error))?;
        self.run_all(&Vec::from(statements))
    }

    /// Runs statements until the output is closed.
    pub(crate) fn run_all(&mut self, statements: &[Statement]) -> Result<(), Failure> {
        for statement in statements {
            if !self.run_one(statement)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs one statement. Returns false if the output is closed.
    fn run_one(&mut self, statement: &Statement) -> Result<bool, Failure> {
        let began = Instant::now();
        let is_read = match self.retry {
            Some(workers) => self.run_held(workers, statement)?,
            None => self.run_streamed(statement)?,
        };
        if statement.is_analysis() {
            let took = Nanos(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
            output::note(&format!("The query took {}.", format_duration(took)));
        }
        Ok(is_read)
    }

    fn run_streamed(&mut self, statement: &Statement) -> Result<bool, Failure> {
        let began = Instant::now();
        let needs = self.record.is_some().then(|| record::needs(self.engine.reads()));
        let rows = self.engine.run_noted(statement, needs.clone()).map_err(|error| of_engine(&error))?;
        let (is_read, totals) = self.print(rows)?;
        if let Some(needs) = needs {
            let took_ns = u64::try_from(began.elapsed().as_nanos()).ok();
            self.keep(statement, &needs, QueryTotals { took_ns, ..totals })?;
        }
        Ok(is_read)
    }

    fn run_held(&self, workers: &Workers, statement: &Statement) -> Result<bool, Failure> {
        let is_over = || self.cancel.is_cancelled();
        let mut on_lost = |lost: &WorkerError| output::note(&format!("{lost}; the query runs again."));
        let held = workers.cluster.run_held(&self.engine, statement, &is_over, &mut on_lost);
        let held = held.map_err(|error| of_engine(&error))?;
        let written = if held.schema.fields().is_empty() { Ok(()) } else { self.write_held(&held) };
        is_read(written, 0)
    }

    fn write_held(&self, held: &HeldRows) -> Result<(), EngineError> {
        let mut writer = RowWriter::new(output::rows(), self.format, &held.schema)?;
        held.batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.finish()
    }

    fn keep(
        &mut self,
        statement: &Statement,
        needs: &Arc<Needs>,
        totals: QueryTotals,
    ) -> Result<(), Failure> {
        let needed = needs.finish();
        match &mut self.record {
            // SET and statements answered from statistics need nothing.
            Some(record) if !needed.files.is_empty() => record.add(&statement.to_string(), &needed, totals),
            _ => Ok(()),
        }
    }

    /// Clears an interruption, so that further statements can run.
    pub(crate) fn go_on(&self) {
        self.cancel.clear();
    }

    /// Writes a statement's rows. Returns false if the output is closed, and the totals.
    fn print(&self, mut rows: Rows) -> Result<(bool, QueryTotals), Failure> {
        let mut counts = RowCounts::default();
        // Statements without a result, such as SET, print nothing.
        let written = if rows.schema().fields().is_empty() {
            self.pass_over(&mut rows)
        } else {
            self.write(&mut rows, &mut counts)
        };
        let is_read = is_read(written, counts.readable)?;
        if rows.spills_joins() {
            output::note(SPILLED_JOINS);
        }
        // Operators read each temporary file once.
        let (spilled_bytes, spill_read_bytes) = (rows.spilled_bytes(), rows.spilled_bytes());
        Ok((is_read, QueryTotals { spilled_bytes, spill_read_bytes, result_rows: counts.all, took_ns: None }))
    }

    fn pass_over(&self, rows: &mut Rows) -> Result<(), EngineError> {
        while rows.next_batch(&|| self.cancel.is_cancelled())?.is_some() {}
        Ok(())
    }

    fn write(&self, rows: &mut Rows, counts: &mut RowCounts) -> Result<(), EngineError> {
        let mut writer = RowWriter::new(output::rows(), self.format, rows.schema())?;
        while let Some(batch) = rows.next_batch(&|| self.cancel.is_cancelled())? {
            writer.write(&batch)?;
            counts.all += batch.num_rows() as u64;
            counts.readable = writer.readable_rows();
            if self.cancel.is_cancelled() {
                return Err(EngineError::Interrupted);
            }
        }
        writer.finish()
    }
}

/// Row counts of a statement.
#[derive(Debug, Default)]
struct RowCounts {
    all: u64,
    /// Rows that the reader can see: some formats buffer rows.
    readable: u64,
}

/// Returns false if the output is closed. An interruption becomes an error that states
/// `readable_rows`.
fn is_read(written: Result<(), EngineError>, readable_rows: u64) -> Result<bool, Failure> {
    match written {
        Err(EngineError::Interrupted) if readable_rows > 0 => {
            Err(Failure::interrupted(format!("interrupted; the first {readable_rows} rows were written")))
        }
        Err(EngineError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(of_engine(&error)),
        Ok(()) => Ok(true),
    }
}
