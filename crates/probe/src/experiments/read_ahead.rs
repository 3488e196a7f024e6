//! *How does the device follow sequential reading, and how many streams of it?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::ReadAhead;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct ReadAheadSearch;

impl Experiment for ReadAheadSearch {
    type Findings = ReadAhead;

    fn name(&self) -> &'static str {
        "read-ahead"
    }

    fn question(&self) -> &'static str {
        "How does the device follow sequential reading, and how many streams of it?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<ReadAhead>> {
        &mut experiments.read_ahead
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut ReadAhead) -> Result<(), LoadError> {
        Ok(())
    }
}
