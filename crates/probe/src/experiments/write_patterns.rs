//! *What does a write cost in each pattern, relative to sequential writing?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::WritePatterns;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct WritePatternCosts;

impl Experiment for WritePatternCosts {
    type Findings = WritePatterns;

    fn name(&self) -> &'static str {
        "write-patterns"
    }

    fn question(&self) -> &'static str {
        "What does a write cost in each pattern, relative to sequential writing?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<WritePatterns>> {
        &mut experiments.write_patterns
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut WritePatterns) -> Result<(), LoadError> {
        Ok(())
    }
}
