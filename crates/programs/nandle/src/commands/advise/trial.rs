//! Runs and prints the trial of the advice.

use std::fmt::Write as _;
use std::path::PathBuf;

use comfy_table::{Table, presets};
use nandle_advise::settings::{Advice, Setting, Version};
use nandle_advise::{Product, fragment};
use nandle_profile::DeviceProfile;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{paragraph, thousands, to_the_right};
use serde_json::{Value, json};

use super::args::AdviseArgs;
use super::verify::{self, Contest, Outcome, median};
use super::{SCHEMA_VERSION, device};
use crate::error::CliError;

/// Installed version, which a trial runs. Refuses another major version in `wanted`.
pub(super) fn version(product: Product, wanted: Option<Version>) -> Result<Option<Version>, CliError> {
    let installed = match product {
        Product::Postgresql => verify::installed_version()?,
        Product::Sqlite => rusqlite::version().parse().ok(),
        _ => None,
    };
    match (installed, wanted) {
        (Some(installed), Some(wanted)) if installed.major != wanted.major => Err(CliError::usage(format!(
            "--verify: {product} {installed} is what can be tried here, not {wanted}; leave --product-version out"
        ))),
        _ => Ok(installed),
    }
}

/// Runs the workloads, then prints the advice and its effect.
pub(super) fn run(
    args: &AdviseArgs,
    profile: &DeviceProfile,
    advice: &Advice,
    common: Common,
) -> Result<(), CliError> {
    let directory = directory(args, profile)?;
    let can_be_tried = matches!(advice.question.product, Product::Postgresql | Product::Sqlite);
    if can_be_tried && !advice.settings().any(changes_something) {
        output::note("--verify: nothing to try: every setting is the default, or stands as a comment");
        return super::print(advice, common);
    }
    let cancel = cancel_on_signals()?;
    let mut progress = Bar::new(!common.no_progress);
    let contests = verify::verify(&args.trial, &directory, advice, cancel, &mut progress);
    progress.finish();
    let contests = contests?;
    if common.json {
        let trials: Vec<Value> = contests
            .iter()
            .map(|contest| {
                let outcome = contest.outcome();
                json!({ "results": contest, "outcome": outcome, "verdict": outcome.map(|outcome| outcome.verdict()) })
            })
            .collect();
        return Ok(output::json(&json!({
            "schema_version": SCHEMA_VERSION, "advice": advice, "fragment": fragment(advice), "verified": trials,
        }))?);
    }
    output::result(&fragment(advice))?;
    let told: String = contests.iter().map(|contest| tell(advice, contest)).collect();
    Ok(output::result(&told)?)
}

/// Returns true if a setting differs from the product's default.
fn changes_something(setting: &Setting) -> bool {
    setting.only_a_comment.is_none() && setting.default != Some(setting.value.as_str())
}

/// Directory that the user named, or else the probed one.
fn directory(args: &AdviseArgs, profile: &DeviceProfile) -> Result<PathBuf, CliError> {
    let probed = || device::probed_place(profile).filter(|place| place.is_dir());
    args.on.clone().or_else(probed).ok_or_else(|| {
        CliError::usage(format!(
            "--verify: {} was probed, which is no directory of this machine; name one on that device with --on",
            profile.target
        ))
    })
}

/// Results of the trial as comments below the fragment.
fn tell(advice: &Advice, contest: &Contest) -> String {
    let Some(outcome) = contest.outcome() else { return String::new() };
    let mut text = String::new();
    paragraph(&mut text, "", &format!("Tried on this machine: {}.", contest.workload));
    let _ = writeln!(text, "{}", table(contest));
    paragraph(&mut text, "", &sentence(&outcome));
    let comment = if advice.question.product == Product::Sqlite { "--" } else { "#" };
    let lines = text.lines().map(|line| format!("{comment} {line}").trim_end().to_owned() + "\n");
    format!("\n{}", lines.collect::<String>())
}

fn table(contest: &Contest) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let unit = if contest.counts_transactions { "transactions/s" } else { "rounds/min" };
    table.set_header(["", "median", "least", "most", unit]);
    for (name, results) in [("defaults", &contest.defaults_per_s), ("advice", &contest.advised_per_s)] {
        let mut sorted = results.clone();
        sorted.sort_by(f64::total_cmp);
        let print = |value: Option<f64>| value.map_or_else(String::new, |value| rate(contest, value));
        table.add_row([
            name.to_owned(),
            print(median(&sorted)),
            print(sorted.first().copied()),
            print(sorted.last().copied()),
            String::new(),
        ]);
    }
    to_the_right(&mut table, 1..4);
    table
}

fn rate(contest: &Contest, per_s: f64) -> String {
    if contest.counts_transactions { thousands(per_s) } else { format!("{:.2}", per_s * 60.0) }
}

fn sentence(outcome: &Outcome) -> String {
    format!(
        "Advice by defaults: {:.2} ({:.2}–{:.2} over {} pairs of runs): {}.",
        outcome.ratio,
        outcome.ratio_min,
        outcome.ratio_max,
        outcome.pairs,
        outcome.verdict()
    )
}
