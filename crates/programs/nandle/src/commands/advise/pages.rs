//! `--for pages`: recommends a write policy for a new page store on a profiled device.

use std::fmt::Write as _;

use clap::Args;
use comfy_table::{Table, presets};
use nandle_advise::pages::{PageFigures, page_figures};
use nandle_pages::{
    CreateOptions, ExpectedUse, OpenOptions, PolicyKind, PredictedPolicy, Promises, predict_policies,
    quickest, usual_buffer_bytes,
};
use nandle_profile::DeviceProfile;
use nandle_terminal::args::{Common, bytes_of_at_least, percent};
use nandle_terminal::output;
use nandle_terminal::words::{counted, fitting, latency, paragraph, thousands, to_the_right};
use nandle_units::format_bytes;
use serde_json::{Value, json};

use super::{AdviseArgs, SCHEMA_VERSION};
use crate::commands::page_times::page_times;
use crate::commands::replay::{PAGES_BYTES, write_costs};
use crate::commands::trace::power_of_two;
use crate::error::CliError;

/// Parameters and expected use of a new page store.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page stores (--for pages)")]
pub(crate) struct StoreArgs {
    /// Total size of all pages [default: 1GiB]
    #[arg(long, value_name = "SIZE", requires = "product", value_parser = store_bytes)]
    store: Option<u64>,
    /// Page size [default: 4KiB]
    #[arg(long, value_name = "SIZE", requires = "product", value_parser = page_bytes)]
    page: Option<u64>,
    /// Percentage of the pages in use [default: 90%]
    #[arg(long, value_name = "PERCENT", requires = "product", value_parser = percent)]
    fill: Option<u8>,
    /// Pages per commit [default: 8]
    #[arg(long, value_name = "N", requires = "product", value_parser = clap::value_parser!(u32).range(1..=65536))]
    batch: Option<u32>,
    /// Size of the staging area, for policies with one [default: an eighth of the store, 16MiB to
    /// 256MiB]
    #[arg(long, value_name = "SIZE", requires = "product", value_parser = nandle_units::parse_bytes)]
    buffer: Option<u64>,
    /// Percentage of each page that compresses to nothing [default: 0%]
    #[arg(long, value_name = "PERCENT", requires = "product", value_parser = percent)]
    compressible: Option<u8>,
}

impl StoreArgs {
    /// Returns the first option given that applies to page stores only.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--store", self.store.is_some()),
            ("--page", self.page.is_some()),
            ("--fill", self.fill.is_some()),
            ("--batch", self.batch.is_some()),
            ("--buffer", self.buffer.is_some()),
            ("--compressible", self.compressible.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

fn page_bytes(text: &str) -> Result<u64, String> {
    power_of_two(text, &PAGES_BYTES)
}

fn store_bytes(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, 1 << 20, "1MiB")
}

/// A store, its use, and the predicted time of each policy.
struct Prediction {
    create: CreateOptions,
    expected: ExpectedUse,
    /// Pages per commit.
    batch: u32,
    figures: PageFigures,
    policies: Vec<PredictedPolicy>,
}

/// Predicts the time of each policy and prints the result.
pub(super) fn run(args: &AdviseArgs, profile: &DeviceProfile, common: Common) -> Result<(), CliError> {
    let prediction = predict(args, profile)?;
    if common.json {
        return Ok(output::json(&as_json(&prediction))?);
    }
    Ok(output::result(&text(&prediction))?)
}

fn predict(args: &AdviseArgs, profile: &DeviceProfile) -> Result<Prediction, CliError> {
    let store = &args.store;
    let page = store.page.unwrap_or(4 << 10);
    let figures = page_figures(profile, page).map_err(|missing| {
        let path = args.profile.display();
        CliError::failed(format!(
            "{path}: what the policies take for pages of {} can't be predicted from this profile: it needs {}; {}",
            format_bytes(page),
            missing.needs,
            missing.how_to_measure(profile)
        ))
    })?;
    let costs = write_costs(profile);
    let create = create_options(store, page, costs.mapping_unit_bytes);
    let batch = store.batch.unwrap_or(8);
    let usual = ExpectedUse::commits_of(f64::from(batch));
    let expected = ExpectedUse {
        fill_percent: store.fill.unwrap_or(usual.fill_percent),
        writers: args.sessions.unwrap_or(usual.writers),
        compressible_percent: store.compressible.unwrap_or(usual.compressible_percent),
        ..usual
    };
    let open = OpenOptions { costs, ..OpenOptions::default() };
    let policies = predict_policies(&create, &open, &page_times(&figures), &expected);
    Ok(Prediction { create, expected, batch, figures, policies })
}

/// Options of a store with the staging area that a file-backed store has by default. Zones and
/// sweeps are as long as the drive's erase unit.
fn create_options(store: &StoreArgs, page: u64, alignment_bytes: u64) -> CreateOptions {
    let store_bytes = store.store.unwrap_or(1 << 30);
    let page_bytes = usize::try_from(page).unwrap_or(usize::MAX);
    CreateOptions {
        alignment_bytes,
        buffer_bytes: store.buffer.unwrap_or_else(|| usual_buffer_bytes(store_bytes)),
        ..CreateOptions::new(PolicyKind::Direct, page_bytes, (store_bytes / page).max(1))
    }
}

fn text(prediction: &Prediction) -> String {
    let mut text = String::new();
    let Prediction { create, expected, batch, figures, .. } = prediction;
    let heading = format!(
        "A page store on {}: {} of pages of {}, {} % of them in use, commits of {} by {}; {} to stage in, \
         zones of {}. Predicted:",
        figures.device,
        format_bytes(create.pages * create.page_bytes as u64),
        format_bytes(create.page_bytes as u64),
        expected.fill_percent,
        counted(u64::from(*batch), "page"),
        counted(u64::from(expected.writers), "writer"),
        format_bytes(create.buffer_bytes),
        format_bytes(create.alignment_bytes),
    );
    paragraph(&mut text, "", &heading);
    let _ = writeln!(text, "\n{}\n", fitting(&table(&prediction.policies)));
    paragraph(&mut text, "", "By this profile:");
    for figure in figures.each() {
        paragraph(&mut text, "* ", &figure.says);
    }
    paragraph(&mut text, "", &decision(prediction));
    text
}

fn table(policies: &[PredictedPolicy]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["policy", "a page", "vs direct", "moved per page", "whole batches"]);
    let direct = time_of(policies, PolicyKind::Direct);
    for predicted in policies {
        let cleaned = predicted.policy.has_zones();
        table.add_row([
            predicted.policy.to_string(),
            time(predicted.page_ns),
            direct.map_or("–".into(), |direct| format!("{} x", times(direct / predicted.page_ns))),
            if cleaned { format!("{:.2}", predicted.moved_by_page) } else { "–".into() },
            if predicted.promises.atomic_batch { "yes" } else { "no" }.into(),
        ]);
    }
    to_the_right(&mut table, 1..);
    table
}

fn time_of(policies: &[PredictedPolicy], policy: PolicyKind) -> Option<f64> {
    policies.iter().find(|predicted| predicted.policy == policy).map(|predicted| predicted.page_ns)
}

/// A ratio to three digits.
fn times(ratio: f64) -> String {
    match ratio {
        ..9.995 => format!("{ratio:.2}"),
        ..99.95 => format!("{ratio:.1}"),
        _ => thousands(ratio),
    }
}

fn time(ns: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, rounded")]
    latency(Some(nandle_io::Nanos(ns.round() as u64)))
}

/// Last line: the policy chosen, and its figure.
fn decision(prediction: &Prediction) -> String {
    let policies = &prediction.policies;
    let Some(best) = quickest(policies, Promises::NONE) else {
        return "No policy can have such a store.".into();
    };
    let direct = time_of(policies, PolicyKind::Direct).filter(|_| best.policy != PolicyKind::Direct);
    let direct = direct
        .map_or_else(String::new, |direct| format!(", {:.2} times as fast as direct", direct / best.page_ns));
    let (fill_percent, batch) = (prediction.expected.fill_percent, u64::from(prediction.batch));
    let mut text = format!(
        "Use {}: it takes {} a page{direct}, decided with {fill_percent} % of the pages in use and {} a commit",
        best.policy,
        time(best.page_ns),
        counted(batch, "page")
    );
    let whole = quickest(policies, Promises::WHOLE_BATCHES).filter(|whole| whole.policy != best.policy);
    if let Some(whole) = whole {
        let _ = write!(text, "; where batches must be whole, use {} ({})", whole.policy, time(whole.page_ns));
    }
    text + &equals(policies, &best) + ". nandle replay says what it takes with a trace of one's own."
}

/// Policies that may be as fast as the best, within the prediction's error.
fn within_error<'a>(
    policies: &'a [PredictedPolicy],
    best: &PredictedPolicy,
) -> impl Iterator<Item = &'a PredictedPolicy> {
    let others = policies.iter().filter(|predicted| predicted.policy != best.policy);
    others.filter(|predicted| predicted.is_within_error_of(best))
}

/// Clause with the policies' names and times.
fn equals(policies: &[PredictedPolicy], best: &PredictedPolicy) -> String {
    let named = within_error(policies, best)
        .map(|predicted| format!("{} ({})", predicted.policy, time(predicted.page_ns)))
        .collect::<Vec<_>>()
        .join(", ");
    if named.is_empty() { named } else { format!("; within the error of the prediction: {named}") }
}

fn as_json(prediction: &Prediction) -> Value {
    let policies = prediction.policies.iter().map(|predicted| {
        json!({
            "policy": predicted.policy.name(),
            "page_ns": predicted.page_ns,
            "moved_by_page": predicted.moved_by_page,
            "atomic_batch": predicted.promises.atomic_batch,
        })
    });
    let best = |needed| quickest(&prediction.policies, needed);
    let name = |needed| best(needed).map(|best| best.policy.name());
    let equals: Vec<&str> = best(Promises::NONE).map_or_else(Vec::new, |best| {
        within_error(&prediction.policies, &best).map(|predicted| predicted.policy.name()).collect()
    });
    json!({
        "schema_version": SCHEMA_VERSION,
        "store": {
            "pages": prediction.create.pages,
            "page_bytes": prediction.create.page_bytes,
            "buffer_bytes": prediction.create.buffer_bytes,
            "alignment_bytes": prediction.create.alignment_bytes,
            "fill_percent": prediction.expected.fill_percent,
            "batch_pages": prediction.batch,
            "writers": prediction.expected.writers,
            "compressible_percent": prediction.expected.compressible_percent,
        },
        "figures": prediction.figures,
        "policies": policies.collect::<Vec<_>>(),
        "best": name(Promises::NONE),
        "best_with_whole_batches": name(Promises::WHOLE_BATCHES),
        "within_error_of_best": equals,
    })
}
