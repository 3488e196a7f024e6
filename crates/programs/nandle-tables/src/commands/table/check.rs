//! `nandle table verify` and `nandle table compact`.

use std::path::PathBuf;

use clap::Args;
use nandle_columns::{Clustering, ColumnsError, Manifest, Place};
use nandle_session::{Cancel, Progress};
use nandle_terminal::args::{Common, bytes_of_at_least};
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use nandle_units::format_bytes;
use serde::Serialize;

use super::economics::MergeRule;
use crate::costs::{ProfileArgs, costs_of};
use crate::error::CliError;
use crate::input::{of_table, open_table, tell_of_left};
use crate::watch::{Moves, WatchedTable};

/// Read a whole table and list damage by file, row group and column
///
/// With --json, `damage` is an array of objects: `file` (its name in the table), `row_group`
/// (counted from 0), `column`, `offset_bytes` (start of the damaged 4 KiB block in the file) and
/// `what` (description). Unknown fields are null. The exit code is 1 if there is damage.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  nandle table verify flights/\n  nandle table verify flights/ --json")]
pub(super) struct VerifyArgs {
    /// Directory of the table
    table: PathBuf,
}

/// With less memory sorting has no room.
const SORT_MEMORY_BYTES_MIN: u64 = 1 << 20;

pub(super) fn sort_memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, SORT_MEMORY_BYTES_MIN, "1MiB")
}

/// Merge all runs of a table into one
///
/// Runs are merged if jumps between them take more than 10 % of a scan, by the table's profile or
/// --profile. The rule and its figures are printed. In a table with order sort:… the merged run is
/// sorted as a whole. Projections are kept.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle table compact flights/\n  nandle table compact flights/ --memory 64MiB\n  nandle table compact flights/ --always"
)]
pub(super) struct CompactArgs {
    /// Directory of the table
    table: PathBuf,
    /// Memory for sorting; excess rows go to temporary files in the table's directory
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = sort_memory)]
    memory: u64,
    /// Merge in any case
    #[arg(long)]
    always: bool,
    #[command(flatten)]
    profile: ProfileArgs,
}

#[derive(Serialize)]
struct Verified {
    schema_version: u32,
    table: String,
    damage: Vec<Damage>,
}

/// Kind and place of damage, as far as known.
#[derive(Serialize)]
struct Damage {
    file: Option<String>,
    row_group: Option<usize>,
    column: Option<String>,
    offset_bytes: Option<u64>,
    what: String,
}

impl From<&ColumnsError> for Damage {
    fn from(error: &ColumnsError) -> Self {
        let Some((place, what)) = error.at_place() else {
            let what = error.to_string();
            return Self { file: None, row_group: None, column: None, offset_bytes: None, what };
        };
        let Place { file, row_group, column, offset_bytes } = place;
        Self { file: Some(file), row_group, column, offset_bytes, what }
    }
}

/// Runs `verify`. Damage is a failure.
pub(super) fn verify(args: &VerifyArgs, common: Common) -> Result<(), CliError> {
    let (cancel, bar) = (cancel_on_signals()?, Bar::new(!common.no_progress));
    let watched = WatchedTable::open(&args.table, "verifying", Moves::Reads, &cancel, bar)?;
    let damage = watched.table.verify();
    watched.finish();
    let damage = damage.map_err(|error| of_table(&args.table, error))?;
    let files = || watched.before.files();
    let (files, bytes) = (files().count() as u64, files().map(|file| file.bytes).sum());
    let (count, place) = (damage.len() as u64, args.table.display());
    if common.json {
        let damage = damage.iter().map(Damage::from).collect();
        output::json(&Verified { schema_version: 2, table: place.to_string(), damage })?;
    } else if damage.is_empty() {
        let (files, bytes) = (counted(files, "file"), format_bytes(bytes));
        output::result(&format!("{place}: sound ({files}, {bytes})\n"))?;
    } else {
        let lines: Vec<String> = damage.iter().map(|error| format!("{error}\n")).collect();
        output::result(&lines.concat())?;
    }
    match count {
        0 => Ok(()),
        _ => Err(CliError::failed(format!(
            "{place} is damaged in {}; restore these files from a copy, or load their rows anew",
            counted(count, "place")
        ))),
    }
}

#[derive(Serialize)]
struct Compacted {
    schema_version: u32,
    table: String,
    snapshot: u64,
    runs_before: u64,
    rows: u64,
    is_merged: bool,
    /// Reason for the decision; `None` if merging was forced.
    rule: Option<MergeRule>,
}

pub(super) fn compact(args: &CompactArgs, common: Common) -> Result<(), CliError> {
    let of = |error| of_table(&args.table, error);
    let (cancel, mut bar) = (cancel_on_signals()?, Bar::new(!common.no_progress));
    let before = open_table(&args.table)?.manifest().map_err(of)?;
    let is_one = before.runs.len() <= 1;
    let rule = if args.always || is_one { None } else { Some(rule(args, &before, &cancel, &mut bar)?) };
    let is_merged = rule.as_ref().map_or(args.always, |rule| rule.is_worth_it);
    bar.begin_stage();
    let moves = if matches!(before.clustering, Clustering::Sort(_)) { Moves::Sorts } else { Moves::Copies };
    let watched = WatchedTable::open(&args.table, "merging runs", moves, &cancel, bar)?;
    let merged = is_merged.then(|| watched.table.compact(args.memory)).transpose();
    watched.finish();
    let merged = merged.map_err(of)?;
    if let Some(commit) = &merged {
        tell_of_left(&args.table, commit);
    }
    let snapshot = merged.map_or(before.snapshot, |commit| commit.made.snapshot);
    let (runs_before, rows) = (before.runs.len() as u64, before.rows());
    if common.json {
        let table = args.table.display().to_string();
        return Ok(output::json(&Compacted {
            schema_version: 1,
            table,
            snapshot,
            runs_before,
            rows,
            is_merged,
            rule,
        })?);
    }
    let (place, rows) = (args.table.display(), thousands(rows as f64));
    let runs = counted(runs_before, "run");
    if let Some(rule) = &rule {
        output::result(&format!("{}\n", rule.sentence()))?;
    }
    if !is_merged {
        let told =
            if is_one { format!("{place}: {runs}, so there is nothing to merge\n") } else { String::new() };
        return Ok(output::result(&told)?);
    }
    Ok(output::result(&format!("{place}: {rows} rows of {runs} are one (snapshot {snapshot})\n"))?)
}

fn rule(
    args: &CompactArgs,
    manifest: &Manifest,
    cancel: &Cancel,
    bar: &mut Bar,
) -> Result<MergeRule, CliError> {
    let kept = manifest.profile.as_ref().map(|_| args.table.join("profile.json"));
    let found = args.profile.find(kept.as_deref(), &args.table, cancel, bar)?.told();
    let (costs, _) = costs_of(&found, None)?;
    MergeRule::of(manifest, &costs)
}
