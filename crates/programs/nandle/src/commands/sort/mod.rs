//! `nandle sort`.

mod args;
mod explain;
mod result;
mod work;

use std::sync::Arc;
use std::time::Instant;

use nandle_io::runtime::Runtime;
use nandle_spill::{Combine, ParallelSort, SortOptions};
use nandle_terminal::args::Common;
use nandle_terminal::progress::Bar;

pub(crate) use self::args::SortArgs;
use self::explain::Told;
use self::work::Work;
use crate::commands::rows::{
    Carried, Fields, Format, Input, Keys, Memory, Setup, check_specs, place, spilled, tell, threads,
};
use crate::error::CliError;

pub(crate) fn run(args: &SortArgs, common: Common) -> Result<(), CliError> {
    check_specs(&args.key).map_err(CliError::usage)?;
    let Setup { cancel, memory, costs, temporary } = Setup::open(&args.spill, args.output())?;
    let mut options = SortOptions {
        limit: args.limit,
        // Equal whole records are identical, so any of them may stay.
        stable: args.stable || (args.unique && !args.sorts_whole_records()),
        combine: args.unique.then(|| Arc::new(KeepFirst) as Arc<dyn Combine>),
        cluster_bytes: args.spill.cluster_bytes(),
        ..SortOptions::new(memory.budget.clone(), costs)
    };
    // The order of equal records decides which of them stay.
    let needs_one = options.stable && (options.combine.is_some() || options.limit.is_some());
    let threads = threads(&args.spill, &memory, &temporary, needs_one);
    let input = input(args, &memory, threads)?;
    options.expected_bytes = input.bytes();
    let mut bar = Bar::new(!common.no_progress);
    let runtime = Runtime::new(temporary.world()?);
    let handle = runtime.handle();
    let sort = ParallelSort::new(place(&temporary), options, threads).map_err(spilled)?;
    let work = Work { args, memory, cancel, temporary: &temporary, threads, total_bytes: input.bytes() };
    let began = Instant::now();
    let result = runtime.block_on(work.run(&handle, &sort, input, &mut bar));
    bar.finish();
    let done = result.map_err(|error| temporary.explain(error))?;
    let told = Told {
        report: done.report,
        place: &temporary.name,
        is_modelled: temporary.is_modelled,
        threads,
        read_ns: done.read_ns,
        sorted_ns: done.sorted_ns,
        elapsed_s: began.elapsed().as_secs_f64(),
    };
    let (file, lines) = (explain::file(&told), explain::lines(&told));
    tell(&file, lines, (args.spill.explain, common.json, args.output().is_some()))
}

/// Divisor of a thread's memory that bounds a record: its key may be twice as long in another
/// order.
const RECORD_PART_BY_THREAD: usize = 5;

fn input(args: &SortArgs, memory: &Memory, threads: usize) -> Result<Input, CliError> {
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
        record_limit: memory.record_limit(RECORD_PART_BY_THREAD * threads),
    })
}

/// Keeps the first of records with equal keys.
struct KeepFirst;

impl Combine for KeepFirst {
    fn combine(&self, _into: &mut Vec<u8>, _payload: &[u8]) {}
}
