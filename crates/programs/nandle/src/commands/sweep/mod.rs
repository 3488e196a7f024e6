//! `nandle sweep`.

mod again;
mod args;
mod csv;
mod keep;
mod plan;
mod space;
mod table;

use std::path::Path;

use nandle_profile::SweepFile;
use nandle_session::sweep::SweepEnd;
use nandle_session::{Sweep, SweepError};
use nandle_target::TargetSpec;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::{cancel_on_signals, remove_when_interrupted};
use nandle_terminal::output;
use nandle_terminal::progress::Bar;

pub(crate) use self::args::SweepArgs;

use self::again::command_to_resume;
use self::args::FormatArg;
use self::keep::Keeper;
use crate::error::CliError;
use crate::target::open_when_free;

pub(crate) fn run(args: &SweepArgs, common: Common) -> Result<(), CliError> {
    let options = space::options(args)?;
    let keeper = Keeper::new(args.output.as_deref(), args.resume.as_deref())?;
    let cancel = cancel_on_signals()?;
    let target = place(&args.target.target, args.plan && args.target.overwrite);
    let open = || Sweep::open(&target, &args.target.access(), options.clone(), &cancel);
    let mut sweep = open_when_free(open, SweepError::is_busy)?;
    remove_when_interrupted(sweep.session().target.names_of_test_files());
    sweep.resume(keeper.resumed(sweep.file())?);
    if args.plan {
        return plan::print(&sweep, common);
    }
    tell_circumstances(&sweep);
    let (file, ended) = measure(sweep, &keeper, common)?;
    keeper.keep(&file)?;
    print(&file, args.format, common)?;
    ended.map_or(Ok(()), |ended| Err(told(&ended, &file, &keeper)))
}

/// Returns the results, and the error or interruption that ended the sweep early.
fn measure(sweep: Sweep, keeper: &Keeper, common: Common) -> Result<(SweepFile, Option<SweepEnd>), CliError> {
    let mut bar = Bar::new(!common.no_progress);
    let measured = sweep.run(&mut bar, &mut |file| Ok(keeper.keep(file)?));
    bar.finish();
    match measured {
        Ok(file) => Ok((file, None)),
        Err(SweepError::Ended { end, file, .. }) => {
            // Without cells there is nothing to print, unless each was skipped.
            let is_result = !file.cells.is_empty() || matches!(end, SweepEnd::NothingMeasured { .. });
            if is_result { Ok((*file, Some(end))) } else { Err(told(&end, &file, keeper)) }
        }
        Err(error) => Err(error.into()),
    }
}

/// Target to examine. A plan leaves no file behind, so instead of a new file it uses the file's
/// directory.
fn place(target: &TargetSpec, is_plan_of_new_file: bool) -> TargetSpec {
    if let (true, TargetSpec::Path(path)) = (is_plan_of_new_file, target)
        && std::fs::symlink_metadata(path).is_err()
    {
        let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        return TargetSpec::Path(parent.into());
    }
    target.clone()
}

/// Prints remarks on the figures.
fn tell_circumstances(sweep: &Sweep) {
    for remark in sweep.session().remarks().iter().chain(&sweep.file().backend.stepped_down) {
        output::note(remark);
    }
}

/// Error that ends a sweep; for an interruption, with the command to resume it.
fn told(ended: &SweepEnd, file: &SweepFile, keeper: &Keeper) -> CliError {
    match (ended, keeper.path()) {
        (SweepEnd::Interrupted { .. }, Some(path)) => {
            let command = command_to_resume(std::env::args_os().skip(1), path);
            CliError::interrupted(format!("{ended}; go on with: {command}"))
        }
        (SweepEnd::Interrupted { .. }, None) => CliError::interrupted(ended.to_string()),
        (SweepEnd::NotKept(error), _) => CliError::failed(error.to_string()),
        _ => CliError::failed(format!("{}: {ended}", file.target)),
    }
}

fn print(file: &SweepFile, format: Option<FormatArg>, common: Common) -> Result<(), CliError> {
    let default = if output::is_terminal() { FormatArg::Table } else { FormatArg::Csv };
    let format = if common.json { FormatArg::Json } else { format.unwrap_or(default) };
    let text = match format {
        FormatArg::Table => table::table(file),
        FormatArg::Csv => csv::to_csv(file).map_err(CliError::failed)?,
        FormatArg::Json => keep::to_json(file)?,
    };
    output::result(&text)?;
    for skipped in file.skipped.iter().filter(|_| format != FormatArg::Json) {
        output::note(&format!(
            "skipped {} {} in groups of {}, depth {}: {}",
            skipped.pattern,
            nandle_units::format_bytes(skipped.block_bytes),
            skipped.group_blocks,
            skipped.queue_depth,
            skipped.reason
        ));
    }
    Ok(())
}
