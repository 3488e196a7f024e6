//! Experiments of a probe, which run after its reads.

use nandle_probe::experiments::{self, ExperimentEnv, HostFiles};
use nandle_probe::load::LoadError;
use nandle_profile::{DeviceProfile, Experiments};
use nandle_target::facts;

use super::{Probe, ProbeError, assemble};
use crate::{KeepError, Progress};

/// Early end of the experiments, and the last failure to store the profile.
type ExperimentsEnd = (Option<LoadError>, Option<KeepError>);

impl Probe {
    /// Runs the experiments that still fit the budget, and calls `keep` after each.
    pub(super) fn conduct(
        &self,
        profile: &mut DeviceProfile,
        progress: &mut dyn Progress,
        keep: &mut dyn FnMut(&DeviceProfile) -> Result<(), KeepError>,
    ) -> Result<ExperimentsEnd, ProbeError> {
        let session = &self.session;
        let (plan, circumstances) = self.plan.again(self.options.budget, profile)?;
        let open = |slots: u32| session.open_io(slots).map_err(|error| error.to_string());
        let without_cache = |slots: u32| session.open_io_without_cache(slots);
        let env = ExperimentEnv {
            open: &open,
            open_without_cache: session.target.has_switchable_cache().then_some(&without_cache),
            drive_log: &|| facts::drive_counters(&session.target),
            host_files: (!session.target.is_modelled()).then_some(session as &dyn HostFiles),
            circumstances,
            read_pool_bytes: session.read_pool.bytes,
            patience: session.patience,
            seed: self.options.seed,
            cancel: &session.cancel,
        };
        let mut found = std::mem::take(&mut profile.experiments);
        let mut not_kept = None;
        let mut keep = |experiments: &Experiments| {
            assemble::add_experiments(profile, experiments);
            not_kept = keep(profile).err();
        };
        let ended_by = experiments::conduct(&plan, &env, &mut found, progress, &mut keep).err();
        assemble::add_experiments(profile, &found);
        Ok((ended_by, not_kept))
    }
}
