//! Which policy the replay speaks for, beside what the profile predicts.

use nandle_advise::pages::page_figures;
use nandle_pages::{ExpectedUse, PolicyKind, predict_policies};
use nandle_profile::DeviceProfile;
use nandle_replay::{PolicyDecision, PolicyOutcome, PolicyTime, StoreUsage, Work};

use super::ReplayArgs;
use super::stores::StoreFactory;
use crate::commands::page_times::page_times;

/// By what the policies took.
pub(super) fn decide(
    args: &ReplayArgs,
    work: &Work,
    factory: &StoreFactory,
    profile: Option<&DeviceProfile>,
    policies: &[PolicyOutcome],
) -> Option<PolicyDecision> {
    let usage = work.usage(args.durability.into());
    let predicted = profile.map_or_else(Vec::new, |profile| predict(args, work, factory, profile, usage));
    PolicyDecision::of(policies, usage, predicted)
}

/// What a profile says that the policies take; nothing where it lacks a figure, which `nandle advise --for pages` names.
fn predict(
    args: &ReplayArgs,
    work: &Work,
    factory: &StoreFactory,
    profile: &DeviceProfile,
    usage: StoreUsage,
) -> Vec<PolicyTime> {
    let Ok(figures) = page_figures(profile, args.page) else { return Vec::new() };
    let expected = ExpectedUse {
        fill_percent: usage.living_percent,
        batch_pages: usage.batch_pages,
        sync_pages: usage.sync_pages,
        writers: args.queue_depth,
        compressible_percent: args.compressible,
    };
    // Any that stages: the size of its staging area is that of all.
    let create = factory.create(PolicyKind::DoubleWrite, work.pages);
    let predicted = predict_policies(&create, &factory.open_options(), &page_times(&figures), &expected);
    let times = predicted.into_iter().filter(|predicted| predicted.page_ns.is_finite());
    times.map(|predicted| PolicyTime { policy: predicted.policy, page_ns: predicted.page_ns }).collect()
}
