//! *What do more threads and queues give?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::Scaling;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct ScalingOverThreads;

impl Experiment for ScalingOverThreads {
    type Findings = Scaling;

    fn name(&self) -> &'static str {
        "scaling"
    }

    fn question(&self) -> &'static str {
        "What do more threads and queues give?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<Scaling>> {
        &mut experiments.scaling
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut Scaling) -> Result<(), LoadError> {
        Ok(())
    }
}
