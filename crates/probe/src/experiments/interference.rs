//! *What do writes do to the latency of reads?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::InterferenceMap;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct Interference;

impl Experiment for Interference {
    type Findings = InterferenceMap;

    fn name(&self) -> &'static str {
        "interference"
    }

    fn question(&self) -> &'static str {
        "What do writes do to the latency of reads?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<InterferenceMap>> {
        &mut experiments.interference
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut InterferenceMap) -> Result<(), LoadError> {
        Ok(())
    }
}
