//! *Below which size do smaller requests gain nothing?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::SmallestBlock;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct SmallestBlockSearch;

impl Experiment for SmallestBlockSearch {
    type Findings = SmallestBlock;

    fn name(&self) -> &'static str {
        "smallest-block"
    }

    fn question(&self) -> &'static str {
        "Below which size do smaller requests gain nothing?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<SmallestBlock>> {
        &mut experiments.smallest_block
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut SmallestBlock) -> Result<(), LoadError> {
        Ok(())
    }
}
