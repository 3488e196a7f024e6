//! `nandle join`.

mod args;
mod explain;

use std::path::Path;
use std::time::Instant;

use nandle_io::runtime::{Handle, Runtime};
use nandle_session::{Cancel, Observer as _};
use nandle_spill::{JoinKind, JoinOptions, JoinReport, JoinSink, Joiner, Place, Probing, Row, SpillError};
use nandle_units::format_bytes;

pub(crate) use self::args::JoinArgs;
use self::explain::Told;
use crate::commands::rows::{
    Batches, Carried, Fields, Format, Input, KeySpec, Keys, Memory, Output, Setup, place, spilled, tell,
    unless_cancelled,
};
use crate::common::Common;
use crate::error::CliError;
use crate::progress::Bar;

/// Runs the command.
pub(crate) fn run(args: &JoinArgs, common: Common) -> Result<(), CliError> {
    if args.left == args.right && args.left.as_os_str() == "-" {
        return Err(CliError::usage("both files are standard input"));
    }
    let Setup { cancel, memory, costs, temporary } = Setup::open(&args.spill, args.output.as_deref())?;
    let right = input(args, &args.right, args.on.right, Carried::OtherFields, &memory);
    let options = JoinOptions {
        expected_build_bytes: right.bytes(),
        cluster_bytes: args.spill.cluster_bytes(),
        ..JoinOptions::new(memory.budget.clone(), costs, args.kind.into())
    };
    let place = place(&temporary);
    let runtime = Runtime::new(temporary.world()?);
    let handle = runtime.handle();
    let mut bar = Bar::new(!common.no_progress);
    let join = Join { args, memory, cancel };
    let began = Instant::now();
    let result = runtime.block_on(join.run(&handle, place, options, right, &mut bar));
    bar.finish();
    // A reader that has gone away is no error.
    let Some(done) = result? else { return Ok(()) };
    let told = Told {
        report: done.report,
        place: &temporary.name,
        is_modelled: temporary.is_modelled,
        joined_ns: done.joined_ns,
        elapsed_s: began.elapsed().as_secs_f64(),
    };
    let (file, lines) = (explain::file(&told), explain::lines(&told));
    tell(&file, lines, (args.spill.explain, common.json, args.output.is_some()))
}

fn fields(args: &JoinArgs) -> Fields {
    match (args.csv, args.delimiter) {
        (true, delimiter) => Fields::Csv(delimiter.unwrap_or(b',')),
        (false, Some(delimiter)) => Fields::Delimited(delimiter),
        (false, None) => Fields::TrimmedWords,
    }
}

/// The byte between a record and the fields behind it.
fn between(args: &JoinArgs) -> u8 {
    args.delimiter.unwrap_or(if args.csv { b',' } else { b' ' })
}

fn input(args: &JoinArgs, file: &Path, field: usize, carried: Carried, memory: &Memory) -> Input {
    Input {
        files: vec![file.to_owned()],
        format: if args.csv { Format::Csv } else { Format::Lines },
        has_header: args.csv && !args.no_header,
        keys: Some(Keys::new(fields(args), &[KeySpec::plain(field)], false, false)),
        carried,
        batch_bytes: memory.batch_bytes,
        record_limit: memory.record_limit(0),
    }
}

struct Join<'a> {
    args: &'a JoinArgs,
    memory: Memory,
    cancel: Cancel,
}

struct Done {
    report: JoinReport,
    /// On the world's clock.
    joined_ns: u64,
}

impl Join<'_> {
    async fn run(
        &self,
        handle: &Handle,
        place: Place,
        options: JoinOptions,
        right: Input,
        bar: &mut Bar,
    ) -> Result<Option<Done>, CliError> {
        let Self { args, memory, .. } = self;
        let began = handle.now();
        let total_bytes = right.bytes().unwrap_or_default();
        let mut joiner = Joiner::new(handle, place, options).map_err(spilled)?;
        let header = self.build(&mut joiner, &right.start(self.cancel.clone())?, total_bytes, bar).await?;
        let mut probing = joiner.finish_build().await.map_err(spilled)?;
        let left = input(args, &args.left, args.on.left, Carried::Record, memory);
        let total_bytes = left.bytes().unwrap_or_default();
        let rows = left.start(self.cancel.clone())?;
        let mut results = Results {
            output: Output::start(args.output.as_deref(), memory.batch_bytes)?,
            is_csv: args.csv,
            padding: self.padding(header.as_deref())?,
            wants_more: true,
            record: Vec::new(),
        };
        let left = (total_bytes, header);
        let is_wanted = self.probe(&mut probing, &rows, left, &mut results, bar).await?;
        bar.progress("joining what was written", 0.9);
        let report = if is_wanted {
            unless_cancelled(&self.cancel, finish(probing, &mut results)).await??
        } else {
            None
        };
        results.output.finish()?;
        Ok(report.map(|report| Done { report, joined_ns: handle.now().since(began).0 }))
    }

    /// Takes the second file. Returns the other fields of its header.
    async fn build(
        &self,
        joiner: &mut Joiner,
        rows: &Batches,
        total_bytes: u64,
        bar: &mut Bar,
    ) -> Result<Option<Vec<u8>>, CliError> {
        let (mut header, mut taken_bytes) = (None, 0);
        while let Some(mut batch) = rows.next()? {
            header = batch.header.take().or(header);
            for row in batch.rows() {
                joiner.build(row).await.map_err(spilled)?;
            }
            taken_bytes += batch.input_bytes;
            rows.give_back(batch);
            bar.progress(
                &format!("{} of the second file", format_bytes(taken_bytes)),
                share(taken_bytes, total_bytes) * 0.4,
            );
        }
        Ok(header)
    }

    /// Streams the first file past the second. False: the result is wanted no more.
    async fn probe(
        &self,
        probing: &mut Probing,
        rows: &Batches,
        (total_bytes, right_header): (u64, Option<Vec<u8>>),
        results: &mut Results,
        bar: &mut Bar,
    ) -> Result<bool, CliError> {
        let mut taken_bytes = 0;
        while let Some(mut batch) = rows.next()? {
            if let Some(header) = batch.header.take() {
                results.push(&header, right_header.as_deref().filter(|_| self.gives_pairs()));
            }
            for row in batch.rows() {
                match probing.probe(row, results).await {
                    Ok(()) => {}
                    Err(Ended::Failed(error)) => return Err(spilled(error)),
                    Err(Ended::NothingWanted) => return Ok(false),
                }
            }
            taken_bytes += batch.input_bytes;
            rows.give_back(batch);
            bar.progress(
                &format!("{} of the first file", format_bytes(taken_bytes)),
                0.4 + share(taken_bytes, total_bytes) * 0.5,
            );
        }
        Ok(true)
    }

    fn gives_pairs(&self) -> bool {
        match self.args.kind.into() {
            JoinKind::Inner | JoinKind::Left => true,
            JoinKind::Semi | JoinKind::Anti => false,
        }
    }

    /// Empty fields for those that a record without a partner lacks: in CSV with a header all records have as many.
    fn padding(&self, right_header: Option<&[u8]>) -> Result<Vec<u8>, CliError> {
        let (JoinKind::Left, Some(header)) = (self.args.kind.into(), right_header) else {
            return Ok(Vec::new());
        };
        let Some((_, others)) = header.split_first() else { return Ok(Vec::new()) };
        let count =
            Keys::new(fields(self.args), &[], false, false).count(others).map_err(CliError::failed)?;
        Ok(vec![between(self.args); count])
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Joins what was written. None: the result is wanted no more.
async fn finish(probing: Probing, results: &mut Results) -> Result<Option<JoinReport>, CliError> {
    match probing.finish(results).await {
        Ok(report) => Ok(Some(report)),
        Err(Ended::Failed(error)) => Err(spilled(error)),
        Err(Ended::NothingWanted) => Ok(None),
    }
}

/// Writes records of the result.
struct Results {
    output: Output,
    is_csv: bool,
    /// Behind a record without a partner.
    padding: Vec<u8>,
    wants_more: bool,
    record: Vec<u8>,
}

/// Why a join ends early.
enum Ended {
    Failed(SpillError),
    /// The reader of the result has gone away, or it can't be written; the output says which.
    NothingWanted,
}

impl From<SpillError> for Ended {
    fn from(error: SpillError) -> Self {
        Self::Failed(error)
    }
}

impl Results {
    /// Writes a record and other fields, or what is in their place.
    fn push(&mut self, record: &[u8], others: Option<&[u8]>) {
        // A line of CSV ends with two bytes, the first of which came with the record.
        let (record, end): (&[u8], &[u8]) = match record.strip_suffix(b"\r") {
            Some(record) if self.is_csv => (record, b"\r\n"),
            _ => (record, b"\n"),
        };
        self.record.clear();
        self.record.extend_from_slice(record);
        self.record.extend_from_slice(others.unwrap_or(&self.padding));
        self.wants_more = self.output.push(&self.record, end);
    }
}

impl JoinSink for Results {
    type Error = Ended;

    async fn row(&mut self, build: Option<Row<'_>>, probe: Row<'_>) -> Result<(), Ended> {
        self.push(probe.payload, build.map(|build| build.payload));
        if self.wants_more { Ok(()) } else { Err(Ended::NothingWanted) }
    }
}
