//! Chooses the policy by the replay, and compares it with the profile's prediction.

use nandle_advise::pages::page_figures;
use nandle_advise::settings::MissingFigure;
use nandle_pages::{ExpectedUse, PolicyKind, predict_policies};
use nandle_profile::DeviceProfile;
use nandle_replay::{PolicyDecision, PolicyOutcome, PolicyTime, StoreUsage, Work};

use super::ReplayArgs;
use super::stores::StoreFactory;
use crate::commands::page_times::page_times;

/// Decision by the measured times. If the profile lacks a figure, a sentence names it.
pub(super) fn decide(
    args: &ReplayArgs,
    work: &Work,
    factory: &StoreFactory,
    profile: Option<&DeviceProfile>,
    policies: &[PolicyOutcome],
) -> (Option<PolicyDecision>, Option<String>) {
    let usage = work.usage(args.durability.into());
    let predicted = profile.map(|profile| {
        predict(args, work, factory, profile, usage).map_err(|missing| lacks(args, profile, &missing))
    });
    let (predicted, lack) = match predicted {
        None => (Vec::new(), None),
        Some(Ok(predicted)) => (predicted, None),
        Some(Err(lack)) => (Vec::new(), Some(lack)),
    };
    (PolicyDecision::of(policies, usage, predicted), lack)
}

fn lacks(args: &ReplayArgs, profile: &DeviceProfile, missing: &MissingFigure) -> String {
    let path =
        args.profile.as_ref().map_or_else(|| "the profile".to_owned(), |path| path.display().to_string());
    let how = missing.how_to_measure(profile);
    format!("{path} lacks {}, so nothing is predicted of the policies; {how}.", missing.needs)
}

/// Times that the profile predicts for the policies.
fn predict(
    args: &ReplayArgs,
    work: &Work,
    factory: &StoreFactory,
    profile: &DeviceProfile,
    usage: StoreUsage,
) -> Result<Vec<PolicyTime>, MissingFigure> {
    let figures = page_figures(profile, args.page)?;
    let expected = ExpectedUse {
        fill_percent: usage.living_percent,
        batch_pages: usage.batch_pages,
        sync_pages: usage.sync_pages,
        writers: args.queue_depth,
        compressible_percent: args.compressible,
    };
    // Any staging policy: all have equal staging areas.
    let create = factory.create(PolicyKind::DoubleWrite, work.pages);
    let predicted = predict_policies(&create, &factory.open_options(), &page_times(&figures), &expected);
    let times = predicted.into_iter();
    Ok(times.map(|predicted| PolicyTime { policy: predicted.policy, page_ns: predicted.page_ns }).collect())
}
