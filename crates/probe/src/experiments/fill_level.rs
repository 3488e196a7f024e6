//! *What does filling and fragmenting the device change?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::FillLevels;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct FillAndFragment;

impl Experiment for FillAndFragment {
    type Findings = FillLevels;

    fn name(&self) -> &'static str {
        "fill-level"
    }

    fn question(&self) -> &'static str {
        "What does filling and fragmenting the device change?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<FillLevels>> {
        &mut experiments.fill_level
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut FillLevels) -> Result<(), LoadError> {
        Ok(())
    }
}
