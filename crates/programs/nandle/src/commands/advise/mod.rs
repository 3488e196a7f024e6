//! `nandle advise`.

mod args;
mod device;
mod pages;
#[cfg(feature = "verify")]
mod trial;
#[cfg(feature = "verify")]
mod verify;
mod version;

use std::path::{Path, PathBuf};

use nandle_advise::settings::{Advice, Question, Version, Workload};
use nandle_advise::{FRAGMENT_COLUMNS, Product, UnknownVersion, advise, fragment, fragment_within, verdict};
use nandle_profile::{DeviceProfile, read_profile};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::{paragraph, table_columns};
use serde_json::json;

pub(crate) use args::AdviseArgs;
use args::Subject;
pub(crate) use device::{Warning, warning_of_another};

use crate::error::CliError;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 1;

pub(crate) fn run(args: &AdviseArgs, common: Common) -> Result<(), CliError> {
    let profile = read_profile(&args.profile)?;
    let product = match args.product {
        None => return tell_verdict(args, &profile, common),
        Some(Subject::Pages) => {
            refuse_of_products(args)?;
            device::warn_of_another(&profile, args.on.as_deref())?;
            return pages::run(args, &profile, common);
        }
        Some(Subject::Product(product)) => product,
    };
    if let Some(option) = args.store.given() {
        return Err(CliError::usage(format!(
            "{option}: only --for pages takes it, not --for {}",
            product.name()
        )));
    }
    let found = found_version(args, product, &profile);
    let question = question(args, product, found.as_ref().map(|(version, _)| *version))?;
    let mut advice = advise(&profile, &question).map_err(|error| unknown_version(args, error))?;
    device::warn_of_another(&profile, args.on.as_deref())?;
    if advice.parts.is_empty() {
        return Err(nothing_supported(&args.profile, &advice));
    }
    if found.is_none() {
        advice.remarks.extend(assumed_version(args, &question));
    }
    say_assumptions(args, &question, found.as_ref().map(|(_, path)| path.as_path()));
    #[cfg(feature = "verify")]
    if args.is_tried() {
        return trial::run(args, &profile, &advice, common);
    }
    print(&advice, common)
}

/// Refuses options that apply to products only: a page store has no version or workload, and its
/// advice can't be verified.
fn refuse_of_products(args: &AdviseArgs) -> Result<(), CliError> {
    let given = [
        ("--product-version", args.product_version.is_some()),
        ("--workload", args.workload.is_some()),
        ("--memory", args.memory.is_some()),
        ("--verify", args.is_tried()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(CliError::usage(format!(
            "{option}: --for pages doesn't take it; nandle replay tries the policies with a trace"
        ))),
        None => Ok(()),
    }
}

/// Prints the verdict: device type, strengths, risks, changes and figures.
fn tell_verdict(args: &AdviseArgs, profile: &DeviceProfile, common: Common) -> Result<(), CliError> {
    device::warn_of_another(profile, args.on.as_deref())?;
    let verdict = verdict(profile);
    if common.json {
        let answer = json!({ "schema_version": SCHEMA_VERSION, "verdict": verdict });
        return Ok(output::json(&answer)?);
    }
    let mut text = String::new();
    paragraph(&mut text, "", &format!("{}.", verdict.device));
    text.push('\n');
    Ok(output::result(&(text + &super::verdict::text(&verdict, &args.profile)))?)
}

/// Version of the server whose data lie there, and the file that records it, if the user names no
/// version.
fn found_version(args: &AdviseArgs, product: Product, profile: &DeviceProfile) -> Option<(Version, PathBuf)> {
    if product != Product::Postgresql || args.product_version.is_some() || args.is_tried() {
        return None;
    }
    version::of_postgresql(&args.on.clone().or_else(|| device::probed_place(profile))?)
}

/// Note that the latest version was assumed: a server refuses to start with unknown settings.
fn assumed_version(args: &AdviseArgs, question: &Question) -> Option<String> {
    let has_file = matches!(question.product, Product::Postgresql | Product::Mariadb | Product::Mysql);
    (has_file && args.product_version.is_none() && !args.is_tried()).then(|| {
        format!(
            "{} {} was assumed: an older server doesn't start with settings that it doesn't know. Name yours with --product-version.",
            question.product, question.version
        )
    })
}

fn question(args: &AdviseArgs, product: Product, found: Option<Version>) -> Result<Question, CliError> {
    let workload = args.workload.unwrap_or(Workload::Oltp);
    let tried = tried_version(args, product)?;
    Ok(Question {
        product,
        version: tried.or(args.product_version).or(found).unwrap_or_else(|| product.latest()),
        workload,
        sessions: args.sessions.unwrap_or_else(|| workload.sessions_assumed()),
        memory_bytes: args.memory,
    })
}

/// Version that a trial runs.
#[cfg(feature = "verify")]
fn tried_version(args: &AdviseArgs, product: Product) -> Result<Option<Version>, CliError> {
    if args.is_tried() { trial::version(product, args.product_version) } else { Ok(None) }
}

/// Returns `None`: this build runs no trials.
#[cfg(not(feature = "verify"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
fn tried_version(_args: &AdviseArgs, _product: Product) -> Result<Option<Version>, CliError> {
    Ok(None)
}

fn unknown_version(args: &AdviseArgs, error: UnknownVersion) -> CliError {
    let option = if args.product_version.is_some() { "--product-version: " } else { "" };
    CliError::usage(format!("{option}{error}"))
}

/// Prints the assumptions, since they change the advice.
fn say_assumptions(args: &AdviseArgs, question: &Question, found: Option<&Path>) {
    if let Some(path) = found {
        output::note(&format!("{} {}, by {}", question.product, question.version, path.display()));
    } else if args.product_version.is_none() && !args.is_tried() {
        output::note(&format!(
            "assumed: {} {}; name yours with --product-version",
            question.product, question.version
        ));
    }
    if args.sessions.is_none() && question.depends_on_sessions() {
        output::note(&format!(
            "assumed: {} sessions that do I/O at once; name yours with --sessions",
            question.sessions
        ));
    }
}

fn nothing_supported(profile: &Path, advice: &Advice) -> CliError {
    let missing = advice
        .missing
        .iter()
        .map(|missing| format!("\n  {} needs {}; {}", missing.setting, missing.needs, missing.how));
    CliError::failed(format!(
        "{}: nothing can be advised for {} from this profile:{}",
        profile.display(),
        advice.question.product,
        missing.collect::<String>()
    ))
}

/// Fragment wrapped to the terminal, if the terminal is narrower than a file's lines.
fn fragment_for_terminal(advice: &Advice) -> String {
    /// Least width of a comment.
    const COLUMNS_MIN: usize = 40;
    let columns =
        table_columns().map_or(FRAGMENT_COLUMNS, |columns| columns.clamp(COLUMNS_MIN, FRAGMENT_COLUMNS));
    fragment_within(advice, columns)
}

fn print(advice: &Advice, common: Common) -> Result<(), CliError> {
    let text = if common.json { fragment(advice) } else { fragment_for_terminal(advice) };
    if common.json {
        let answer = json!({ "schema_version": SCHEMA_VERSION, "advice": advice, "fragment": text });
        return Ok(output::json(&answer)?);
    }
    output::result(&text)?;
    if !advice.missing.is_empty() {
        output::note(&format!(
            "{} of {} settings need figures that this profile lacks; see the end of the fragment",
            advice.missing.len(),
            advice.missing.len() + advice.settings().count()
        ));
    }
    Ok(())
}
