//! `nandle compare`.

mod args;
mod cell;
mod named;
mod over_time;
mod side_by_side;

use nandle_advise::compare::{DeviceMatch, same_device};
use nandle_terminal::args::Common;
use nandle_terminal::output;

pub(crate) use args::CompareArgs;
use named::Named;

use crate::error::CliError;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 2;

pub(crate) fn run(args: &CompareArgs, common: Common) -> Result<(), CliError> {
    let drives = named::read(args)?;
    for Named { name, profile, .. } in drives.iter().filter(|drive| !drive.profile.partial.is_empty()) {
        output::note(&format!("note: {name} is partial: {}", profile.partial.join("; ")));
    }
    if args.fail_on_regression.is_some() && !args.prices.is_empty() {
        return Err(CliError::usage(
            "--fail-on-regression holds a device against itself at another time, and --price devices against each other: ask for \
             one of them at a time",
        ));
    }
    match (drives.as_slice(), args.fail_on_regression) {
        ([old, new], Some(_)) => over_time::run(old, new, args, common),
        (_, Some(_)) => Err(CliError::usage(format!(
            "--fail-on-regression: expected two profiles, the older one first; got {}",
            drives.len()
        ))),
        ([old, new], None) if of_one_device(old, new) && args.prices.is_empty() => {
            over_time::run(old, new, args, common)
        }
        _ => side_by_side::run(&drives, args, common),
    }
}

fn of_one_device(one: &Named, other: &Named) -> bool {
    same_device(&one.profile.identity, &other.profile.identity) == DeviceMatch::Same
}
