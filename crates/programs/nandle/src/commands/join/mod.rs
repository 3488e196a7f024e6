//! `nandle join`.

mod args;
mod explain;
mod results;
mod work;

use std::path::Path;
use std::time::Instant;

use nandle_spill::{JoinKind, JoinOptions};
use nandle_terminal::args::Common;
use nandle_terminal::progress::Bar;

pub(crate) use self::args::JoinArgs;
use self::explain::Told;
use self::work::{Done, Work};
use crate::commands::rows::{
    Carried, Fields, Format, Input, KeySpec, Keys, Memory, Setup, place, tell, threads,
};
use crate::error::CliError;

/// Divisor of a thread's memory that bounds a record's length.
const RECORD_PART_BY_THREAD: usize = 8;

pub(crate) fn run(args: &JoinArgs, common: Common) -> Result<(), CliError> {
    if args.left == args.right && args.left.as_os_str() == "-" {
        return Err(CliError::usage("both files are standard input"));
    }
    let Setup { cancel, memory, costs, temporary } = Setup::open(&args.spill, args.output())?;
    let threads = threads(&args.spill, &memory, &temporary, false);
    let right = input(args, &args.right, args.on.right, Carried::OtherFields, &memory, threads);
    let options = JoinOptions {
        expected_build_bytes: right.bytes(),
        cluster_bytes: args.spill.cluster_bytes(),
        ..JoinOptions::new(memory.budget.clone(), costs, args.kind.into())
    };
    let mut bar = Bar::new(!common.no_progress);
    let work = Work { args, memory, cancel, temporary: &temporary, threads };
    let began = Instant::now();
    let result = work.run((place(&temporary), options), right, &mut bar);
    bar.finish();
    // A closed output pipe is no error.
    let Done { report: Some(report), joined_ns } = result.map_err(|error| temporary.explain(error))? else {
        return Ok(());
    };
    let told = Told {
        report,
        place: &temporary.name,
        is_modelled: temporary.is_modelled,
        threads,
        joined_ns,
        elapsed_s: began.elapsed().as_secs_f64(),
    };
    let (file, lines) = (explain::file(&told), explain::lines(&told));
    tell(&file, lines, (args.spill.explain, common.json, args.output().is_some()))
}

fn fields(args: &JoinArgs) -> Fields {
    match (args.csv, args.delimiter) {
        (true, delimiter) => Fields::Csv(delimiter.unwrap_or(b',')),
        (false, Some(delimiter)) => Fields::Delimited(delimiter),
        (false, None) => Fields::TrimmedWords,
    }
}

/// Byte between a record and the fields appended to it.
fn between(args: &JoinArgs) -> u8 {
    args.delimiter.unwrap_or(if args.csv { b',' } else { b' ' })
}

fn input(
    args: &JoinArgs,
    file: &Path,
    field: usize,
    carried: Carried,
    memory: &Memory,
    threads: usize,
) -> Input {
    Input {
        files: vec![file.to_owned()],
        format: if args.csv { Format::Csv } else { Format::Lines },
        has_header: args.csv && !args.no_header,
        keys: Some(Keys::new(fields(args), &[KeySpec::plain(field)], false, false).required()),
        carried,
        batch_bytes: memory.batch_bytes,
        record_limit: memory.record_limit(RECORD_PART_BY_THREAD * threads),
    }
}

/// Returns true if the result has fields of both files.
fn gives_pairs(args: &JoinArgs) -> bool {
    match args.kind.into() {
        JoinKind::Inner | JoinKind::Left => true,
        JoinKind::Semi | JoinKind::Anti => false,
    }
}

/// Empty fields for a record without a partner: with a CSV header all records have equally many
/// fields.
fn padding(args: &JoinArgs, right_header: Option<&[u8]>) -> Result<Vec<u8>, CliError> {
    let (JoinKind::Left, Some(header)) = (args.kind.into(), right_header) else {
        return Ok(Vec::new());
    };
    let Some((_, others)) = header.split_first() else { return Ok(Vec::new()) };
    let count = Keys::new(fields(args), &[], false, false).count(others).map_err(CliError::failed)?;
    Ok(vec![between(args); count])
}
