//! `nandle replay`.

mod args;
mod contenders;
mod table;

use std::rc::Rc;

use nandle_pages::PolicyKind;
use nandle_probe::Observer as _;
use nandle_probe::load::Cancel;
use nandle_replay::{PolicyOutcome, Race, ReplayError, Watcher, Work, WorkOptions, beside_direct, replay};
use serde::Serialize;

pub(crate) use args::ReplayArgs;

use self::contenders::Stable;
use crate::args::Common;
use crate::commands::trace::reader;
use crate::error::CliError;
use crate::interrupt::cancel_on_signals;
use crate::output;
use crate::progress::Progress;

/// Steps that a policy does before it is the next one's turn.
const STRETCH_STEPS: usize = 4096;

#[derive(Serialize)]
struct Told<'a> {
    schema_version: u32,
    trace: String,
    target: String,
    page_writes: u64,
    pages: u64,
    page_bytes: u64,
    durability: &'a str,
    queue_depth: u32,
    wrapped: bool,
    bad_lines: u64,
    remarks: Vec<String>,
    policies: &'a [PolicyOutcome],
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs, common: Common) -> Result<(), CliError> {
    let cancel = cancel_on_signals()?;
    let mut progress = Progress::new(!common.no_progress);
    let stable = Stable::new(args)?;
    progress.progress("reading the trace", 0.0);
    let mut records = reader(&args.source)?;
    let work = Rc::new(Work::read(records.by_ref(), stable.work_options()?)?);
    let mut watching = Watching { progress: &mut progress, cancel: &cancel };
    let (policies, remarks) = race(args, &stable, &work, &mut watching)?;
    progress.finish();
    let told = Told {
        schema_version: 1,
        trace: args.source.trace.display().to_string(),
        target: args.on.to_string(),
        page_writes: work.page_writes,
        pages: work.pages,
        page_bytes: work.page_bytes as u64,
        durability: args.durability.name(),
        queue_depth: args.queue_depth,
        wrapped: work.wrapped,
        bad_lines: records.bad_lines(),
        remarks,
        policies: &policies,
    };
    if common.json { output::json(&told) } else { output::result(&table::text(&told)) }
}
