//! *How much does the write cache absorb, how fast, and how long does it take to drain?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::WriteCacheFindings;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct WriteCacheSearch;

impl Experiment for WriteCacheSearch {
    type Findings = WriteCacheFindings;

    fn name(&self) -> &'static str {
        "write-cache"
    }

    fn question(&self) -> &'static str {
        "How much does the write cache absorb, how fast, and how long does it take to drain?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<WriteCacheFindings>> {
        &mut experiments.write_cache
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut WriteCacheFindings) -> Result<(), LoadError> {
        Ok(())
    }
}
