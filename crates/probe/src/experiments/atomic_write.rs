//! *Which writes are never torn?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::AtomicWriteFindings;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct AtomicWriteUnits;

impl Experiment for AtomicWriteUnits {
    type Findings = AtomicWriteFindings;

    fn name(&self) -> &'static str {
        "atomic-write"
    }

    fn question(&self) -> &'static str {
        "Which writes are never torn?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<AtomicWriteFindings>> {
        &mut experiments.atomic_write
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut AtomicWriteFindings) -> Result<(), LoadError> {
        Ok(())
    }
}
