//! Assembly of a profile from measurements.

use std::time::UNIX_EPOCH;

use nandle_io::Nanos;
use nandle_probe::experiments;
use nandle_probe::search::{Findings, derive};
use nandle_profile::experiments::EXPERIMENTS_PARTIAL;
use nandle_profile::{
    Backend, Conditions, DeviceProfile, Experiments, OthersLoad, PROFILE_SCHEMA_VERSION, SystemFacts,
};
use nandle_target::facts;
use nandle_target::pressure::PressureShares;
use nandle_units::format_bytes;

use super::{ProbeOptions, processor};
use crate::{PreparedArea, Session};

/// Everything measured before the experiments.
pub(super) struct Measurements {
    pub(super) backend: Backend,
    pub(super) prepared: PreparedArea,
    pub(super) findings: Findings,
    pub(super) elapsed: Nanos,
    pub(super) pressure: PressureShares,
    pub(super) others_before: Option<OthersLoad>,
    pub(super) reads_wanted: bool,
}

/// Creates the profile.
pub(super) fn profile(
    options: &ProbeOptions,
    session: &Session,
    system: SystemFacts,
    measured: Measurements,
) -> DeviceProfile {
    let conditions = conditions(options, session, &measured);
    let findings = measured.findings;
    DeviceProfile {
        schema_version: PROFILE_SCHEMA_VERSION,
        made_by: concat!("nandle ", env!("CARGO_PKG_VERSION")).into(),
        made_at_unix_s: options.made_at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        target: session.name(),
        partial: findings.partial,
        identity: facts::identity(&session.target),
        contradictions: derive::contradictions(&system, &findings.derived),
        system,
        backend: measured.backend,
        conditions,
        derived: findings.derived,
        first_touch: findings.first_touch,
        cells: findings.cells,
        batches: findings.batches,
        fitted_cells: findings.fitted_cells,
        fit: findings.fit,
        skipped: findings.skipped,
        experiments: Experiments::default(),
    }
}

/// Prefix of the entry in a profile's `partial` that lists experiments with failed requests.
const EXPERIMENTS_FAILED: &str = "requests of experiments failed: ";

/// Adds the experiments' findings and derived figures to a profile.
pub(super) fn add_experiments(profile: &mut DeviceProfile, experiments: &Experiments) {
    profile.experiments = experiments.clone();
    experiments::derive(&mut profile.experiments, &mut profile.derived);
    let said = [EXPERIMENTS_PARTIAL, EXPERIMENTS_FAILED];
    profile.partial.retain(|reason| !said.iter().any(|beginning| reason.starts_with(beginning)));
    let ended = experiments::ended_early(&mut profile.experiments);
    let ended = by_reason(&ended);
    let failed = experiments::with_failures(&mut profile.experiments);
    let failed: Vec<String> = failed
        .iter()
        .map(|(name, failed)| format!("{name} ({}, the first with: {})", failed.requests, failed.first_error))
        .collect();
    profile.partial.extend(reason(EXPERIMENTS_PARTIAL, &ended));
    profile.partial.extend(reason(EXPERIMENTS_FAILED, &failed));
}

/// Groups experiments by reason, so that each reason is given once.
fn by_reason(ended: &[(&'static str, String)]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in ended {
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((reason, vec![name])),
        }
    }
    groups.iter().map(|(reason, names)| format!("{} ({reason})", names.join(", "))).collect()
}

fn reason(beginning: &str, each: &[String]) -> Option<String> {
    (!each.is_empty()).then(|| format!("{beginning}{}", each.join(", ")))
}

fn conditions(options: &ProbeOptions, session: &Session, measured: &Measurements) -> Conditions {
    let wanted = session.area_bytes();
    let filled = measured.prepared.filled;
    let mut remarks = session.remarks();
    if let Some(filled) = filled.filter(|filled| filled.bytes < wanted) {
        remarks.push(format!(
            "The test file is {} instead of {}: writing it is limited to a quarter of the budget.",
            format_bytes(filled.bytes),
            format_bytes(wanted)
        ));
    }
    remarks.extend(measured.findings.remarks.iter().cloned());
    remarks.extend(processor::remarks(&measured.findings.cells, &measured.backend, measured.pressure));
    Conditions {
        budget_ns: options.budget.0,
        elapsed_ns: measured.elapsed.0,
        fill_ns: filled.map_or(0, |filled| filled.elapsed.0),
        file_bytes: measured.prepared.area_bytes,
        wanted_file_bytes: wanted,
        contents_checked: measured.prepared.contents.is_some(),
        seed: options.seed,
        threads: 1,
        rounds: measured.findings.rounds,
        reads_complete: measured.reads_wanted
            && measured.findings.ended_by.is_none()
            && measured.findings.failed.is_none(),
        reference: measured.findings.reference.clone(),
        stolen_cpu_share: measured.pressure.stolen_cpu,
        io_pressure_share: measured.pressure.io,
        cpu_pressure_share: measured.pressure.cpu,
        others_before: measured.others_before.clone(),
        others_meanwhile: None,
        errors: measured.findings.errors,
        remarks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_reason_is_given_once() {
        let ended = [
            ("flush", "no room".to_owned()),
            ("discard", "time".to_owned()),
            ("steady-state", "no room".to_owned()),
        ];
        assert_eq!(by_reason(&ended), ["flush, steady-state (no room)", "discard (time)"]);
    }
}
