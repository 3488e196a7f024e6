//! *What does a commit cost?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::FlushCosts;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct FlushAndCommit;

impl Experiment for FlushAndCommit {
    type Findings = FlushCosts;

    fn name(&self) -> &'static str {
        "flush"
    }

    fn question(&self) -> &'static str {
        "What does a commit cost?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<FlushCosts>> {
        &mut experiments.flush
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut FlushCosts) -> Result<(), LoadError> {
        Ok(())
    }
}
