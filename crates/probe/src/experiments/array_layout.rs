//! *Is there an array behind the device, and what are its chunk and its number of members?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::ArrayLayout;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct ArrayDetection;

impl Experiment for ArrayDetection {
    type Findings = ArrayLayout;

    fn name(&self) -> &'static str {
        "array-layout"
    }

    fn question(&self) -> &'static str {
        "Is there an array behind the device, and what are its chunk and its number of members?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<ArrayLayout>> {
        &mut experiments.array_layout
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut ArrayLayout) -> Result<(), LoadError> {
        Ok(())
    }
}
