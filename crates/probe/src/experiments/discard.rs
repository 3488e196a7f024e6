//! *What does giving blocks back cost?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::DiscardCosts;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct DiscardTimes;

impl Experiment for DiscardTimes {
    type Findings = DiscardCosts;

    fn name(&self) -> &'static str {
        "discard"
    }

    fn question(&self) -> &'static str {
        "What does giving blocks back cost?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<DiscardCosts>> {
        &mut experiments.discard
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut DiscardCosts) -> Result<(), LoadError> {
        Ok(())
    }
}
