use nandle_io::{Device, Io, Nanos};
use nandle_profile::{Derived, Experiments};

use super::{ALL, Beside, Circumstances, DriveCounters, Lab, Plan};
use crate::Observer;
use crate::load::{Cancel, LoadError, Opener};

/// Where all experiments of a probe are conducted.
pub struct Ground<'a> {
    /// Opens the device in a world of its own.
    pub open: &'a Opener<'a>,
    /// Opens the same device with its write cache off; `None` where that can't be had without changing its settings.
    pub open_without_cache: Option<&'a Opener<'a>>,
    /// What the drive counts of itself, where that can be read.
    pub counters: Option<&'a CounterReader<'a>>,
    /// What there is beside the device; nothing in a modelled world.
    pub beside: Option<&'a dyn Beside>,
    /// What is possible.
    pub circumstances: Circumstances,
    /// How long the device may be silent.
    pub patience: Nanos,
    /// Seed of all that is random.
    pub seed: u64,
    /// Ends the experiments.
    pub cancel: &'a Cancel,
}

/// Reads a drive's counters.
pub type CounterReader<'a> = dyn Fn(&mut dyn Io, &Device) -> Option<DriveCounters> + 'a;

/// Runs what was planned, one experiment after the other, each in a lab of its own. `keep` is called after each.
///
/// # Errors
/// The user ended it, or the device fails for good; what was found until then is in `experiments`. An experiment that
/// the device can't take is recorded as ended, and the next one begins.
pub fn conduct(
    plan: &Plan,
    ground: &Ground<'_>,
    experiments: &mut Experiments,
    observer: &mut dyn Observer,
    keep: &mut dyn FnMut(&Experiments),
) -> Result<(), LoadError> {
    experiments.skipped.clone_from(&plan.skipped);
    for chosen in &plan.chosen {
        let lab = Lab::open(ground, chosen, observer)?;
        let result = chosen.experiment.conduct(lab, experiments);
        keep(experiments);
        match result {
            Ok(()) | Err(LoadError::Block { .. } | LoadError::TooDeep { .. } | LoadError::Memory { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What follows for a database from all that was found.
pub fn derive(experiments: &mut Experiments, derived: &mut Derived) {
    for experiment in ALL {
        experiment.derive(experiments, derived);
    }
}
