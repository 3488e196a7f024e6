//! `nandle pages`.

mod args;
mod json;
mod words;

use std::path::Path;
use std::process::ExitCode;

use nandle_pages::salvage::{FileInspection, Finding, Report, Salvage, Stepped};
use nandle_pages::{PageError, PolicyKind};
use nandle_session::Observer as _;
use nandle_terminal::Exit;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;

pub(crate) use self::args::PagesArgs;
use self::args::{PagesCommand, SalvageArgs, VerifyArgs};
use crate::error::CliError;

/// Result of `verify` or `salvage`.
struct Examined<'a> {
    store: &'a Path,
    /// Destination of the sound pages.
    new: Option<&'a Path>,
    policy: PolicyKind,
    pages: u64,
    page_bytes: usize,
    findings: Vec<Finding>,
    report: Report,
    shows_all: bool,
    newest_only: bool,
}

/// Runs the command. Exits with 1 if there is damage.
pub(crate) fn run(args: &PagesArgs, common: Common) -> Result<ExitCode, CliError> {
    match &args.command {
        PagesCommand::Verify(args) => verify(args, common),
        PagesCommand::Salvage(args) => salvage(args, common),
    }
}

fn verify(args: &VerifyArgs, common: Common) -> Result<ExitCode, CliError> {
    let store = &args.store;
    let named = |error| named(store, &error);
    let mut inspection = FileInspection::open(store, &args.layout.options()).map_err(named)?;
    let step = || inspection.step(&mut |_, _, _| {}).map_err(named);
    let findings = all_findings(&format!("examining {}", store.display()), common, step)?;
    show(
        &Examined {
            store,
            new: None,
            policy: inspection.policy(),
            pages: inspection.pages(),
            page_bytes: inspection.page_bytes(),
            findings,
            report: inspection.report().clone(),
            shows_all: args.all,
            newest_only: false,
        },
        common,
    )
}

fn salvage(args: &SalvageArgs, common: Common) -> Result<ExitCode, CliError> {
    let (store, new) = (&args.store, &args.output);
    let begun = Salvage::begin(store, new, &args.layout.options(), args.newest_only);
    let mut salvage = begun.map_err(|error| named(store, &error))?;
    let inspection = salvage.inspection();
    let (policy, pages, page_bytes) = (inspection.policy(), inspection.pages(), inspection.page_bytes());
    let of_new = |error| named(new, &error);
    let step = || salvage.step().map_err(of_new);
    let findings = all_findings(&format!("salvaging {}", store.display()), common, step)?;
    let report = salvage.finish().map_err(of_new)?;
    let (new, shows_all, newest_only) = (Some(new.as_path()), args.all, args.newest_only);
    show(
        &Examined { store, new, policy, pages, page_bytes, findings, report, shows_all, newest_only },
        common,
    )
}

/// Runs all steps of the inspection.
fn all_findings(
    doing: &str,
    common: Common,
    mut step: impl FnMut() -> Result<Option<Stepped>, CliError>,
) -> Result<Vec<Finding>, CliError> {
    let cancel = cancel_on_signals()?;
    let mut progress = Bar::new(!common.no_progress);
    let mut findings = Vec::new();
    while let Some(stepped) = step()? {
        progress.progress(doing, stepped.share);
        findings.extend(stepped.findings);
        if cancel.is_cancelled() {
            return Err(CliError::interrupted("interrupted; nothing was kept"));
        }
    }
    progress.finish();
    Ok(findings)
}

/// Error with the file's name.
fn named(path: &Path, error: &PageError) -> CliError {
    match error {
        PageError::File { .. } => CliError::usage(error.to_string()),
        error => CliError::usage(format!("{}: {error}", path.display())),
    }
}

fn show(examined: &Examined<'_>, common: Common) -> Result<ExitCode, CliError> {
    if common.json {
        output::json(&json::json(examined))?;
    } else {
        output::result(&words::text(examined))?;
    }
    Ok(if examined.report.is_sound() { ExitCode::SUCCESS } else { Exit::Failed.into() })
}
