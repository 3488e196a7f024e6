//! *What is left of the speed when the device is written to for long?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::SteadyState;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct SteadyStateRounds;

impl Experiment for SteadyStateRounds {
    type Findings = SteadyState;

    fn name(&self) -> &'static str {
        "steady-state"
    }

    fn question(&self) -> &'static str {
        "What is left of the speed when the device is written to for long?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<SteadyState>> {
        &mut experiments.steady_state
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut SteadyState) -> Result<(), LoadError> {
        Ok(())
    }
}
