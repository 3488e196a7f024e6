//! `nandle sort`.

mod args;
mod explain;

use std::rc::Rc;
use std::time::Instant;

use nandle_io::runtime::{Handle, Runtime};
use nandle_session::{Cancel, Observer as _};
use nandle_spill::{Combine, Place, SortOptions, SortReport, Sorted, Sorter};
use nandle_units::format_bytes;

pub(crate) use self::args::SortArgs;
use self::explain::Told;
use crate::commands::rows::{
    Batch, Carried, Fields, Format, Input, Keys, Memory, Message, Output, Rows, Setup, interrupted, place,
    spilled, tell, unless_cancelled,
};
use crate::common::Common;
use crate::error::CliError;
use crate::progress::Bar;

/// Runs the command.
pub(crate) fn run(args: &SortArgs, common: Common) -> Result<(), CliError> {
    let Setup { cancel, memory, costs, temporary } = Setup::open(&args.spill, args.output.as_deref())?;
    let input = input(args, &memory)?;
    let options = SortOptions {
        expected_bytes: input.bytes(),
        limit: args.limit,
        stable: args.stable || args.unique,
        combine: args.unique.then(|| Rc::new(KeepFirst) as Rc<dyn Combine>),
        cluster_bytes: args.spill.cluster_bytes(),
        ..SortOptions::new(memory.budget.clone(), costs)
    };
    let mut bar = Bar::new(!common.no_progress);
    let place = place(&temporary);
    let runtime = Runtime::new(temporary.io);
    let sort = Sort { args, memory, cancel, total_bytes: input.bytes() };
    let began = Instant::now();
    let handle = runtime.handle();
    let result = runtime.block_on(sort.run(&handle, place, options, input.start()?, &mut bar));
    bar.finish();
    let done = result?;
    let told = Told {
        report: done.report,
        place: &temporary.name,
        is_modelled: temporary.is_modelled,
        read_ns: done.read_ns,
        sorted_ns: done.sorted_ns,
        elapsed_s: began.elapsed().as_secs_f64(),
    };
    let (file, lines) = (explain::file(&told), explain::lines(&told));
    tell(&file, lines, (args.spill.explain, common.json, args.output.is_some()))
}

fn input(args: &SortArgs, memory: &Memory) -> Result<Input, CliError> {
    if let (Some(record), Some(key)) = (args.record, args.key_bytes)
        && key > record
    {
        return Err(CliError::usage(format!("--key-bytes {key}: a record has {record} bytes")));
    }
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let format = match args.record {
        Some(bytes) => Format::Fixed(in_memory(bytes)),
        None if args.csv => Format::Csv,
        None => Format::Lines,
    };
    let fields = match (format, args.delimiter) {
        (Format::Fixed(record), _) => Fields::First(args.key_bytes.map_or(record, in_memory)),
        (Format::Csv, delimiter) => Fields::Csv(delimiter.unwrap_or(b',')),
        (Format::Lines, Some(delimiter)) => Fields::Delimited(delimiter),
        (Format::Lines, None) => Fields::Words,
    };
    let compares_records = args.record.is_none() && (args.key.is_empty() || !(args.unique || args.stable));
    let keys =
        (!args.sorts_whole_records()).then(|| Keys::new(fields, &args.key, args.reverse, compares_records));
    let has_header = args.csv && !args.no_header;
    Ok(Input {
        files: args.files.clone(),
        format,
        has_header,
        keys,
        carried: Carried::Record,
        batch_bytes: memory.batch_bytes,
        record_bytes_max: memory.record_bytes_max,
    })
}

/// Of records with equal keys the first stays.
struct KeepFirst;

impl Combine for KeepFirst {
    fn combine(&self, _into: &mut Vec<u8>, _payload: &[u8]) {}
}

struct Sort<'a> {
    args: &'a SortArgs,
    memory: Memory,
    cancel: Cancel,
    total_bytes: Option<u64>,
}

/// What came of it, and when, on the world's clock.
struct Done {
    report: SortReport,
    /// Until all was read.
    read_ns: u64,
    /// Until all was sorted.
    sorted_ns: u64,
}

impl Sort<'_> {
    async fn run(
        &self,
        handle: &Handle,
        place: Place,
        options: SortOptions,
        rows: Rows,
        bar: &mut Bar,
    ) -> Result<Done, CliError> {
        let began = handle.now();
        let mut sorter = Sorter::new(handle, place, options).map_err(spilled)?;
        let header = self.take(&mut sorter, &rows, bar).await?;
        let read_ns = handle.now().since(began).0;
        bar.progress("merging", 0.5);
        let mut result = unless_cancelled(&self.cancel, sorter.finish()).await?.map_err(spilled)?;
        self.write(header, &mut result, bar).await?;
        Ok(Done { report: result.report(), read_ns, sorted_ns: handle.now().since(began).0 })
    }

    /// Takes all rows. Returns the header, if there is one.
    async fn take(
        &self,
        sorter: &mut Sorter,
        rows: &Rows,
        bar: &mut Bar,
    ) -> Result<Option<Vec<u8>>, CliError> {
        let mut header = None;
        let mut taken_bytes = 0;
        loop {
            self.check_cancelled()?;
            let Some(message) = rows.next() else { continue };
            let batch: Batch = match message {
                Message::End => return Ok(header),
                Message::Header(record) => {
                    header = Some(record);
                    continue;
                }
                Message::Failed(error) => return Err(error),
                Message::Rows(batch) => batch,
            };
            for row in batch.rows() {
                sorter.push(row).await.map_err(spilled)?;
            }
            taken_bytes += batch.input_bytes;
            rows.give_back(batch);
            // Merging takes about as long.
            let share = self.total_bytes.map_or(0.0, |total| taken_bytes as f64 / total.max(1) as f64 / 2.0);
            bar.progress(&format!("{} read", format_bytes(taken_bytes)), share);
        }
    }

    async fn write(
        &self,
        header: Option<Vec<u8>>,
        sorted: &mut Sorted,
        bar: &mut Bar,
    ) -> Result<(), CliError> {
        let mut output = Output::start(self.args.output.as_deref(), self.memory.batch_bytes)?;
        let end: &[u8] = if self.args.record.is_some() { &[] } else { b"\n" };
        let is_key = self.args.sorts_whole_records();
        let mut wants_more = header.is_none_or(|header| output.push(&header, end));
        let total = sorted.report().rows.max(1);
        let mut written: u64 = 0;
        while wants_more && let Some(row) = sorted.next().await.map_err(spilled)? {
            wants_more = output.push(if is_key { row.key } else { row.payload }, end);
            written += 1;
            if written.is_multiple_of(1 << 16) {
                self.check_cancelled()?;
                bar.progress("writing", 0.5 + written as f64 / total as f64 / 2.0);
            }
        }
        output.finish()
    }

    fn check_cancelled(&self) -> Result<(), CliError> {
        if self.cancel.is_cancelled() {
            return Err(interrupted());
        }
        Ok(())
    }
}
