//! *What do asynchronous reads gain over blocking ones?*
//!
//! It does not answer it yet: in the skeleton.

use nandle_profile::experiments::SyncReads;
use nandle_profile::{Conducted, Experiments};

use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct SyncReadsComparison;

impl Experiment for SyncReadsComparison {
    type Findings = SyncReads;

    fn name(&self) -> &'static str {
        "sync-reads"
    }

    fn question(&self) -> &'static str {
        "What do asynchronous reads gain over blocking ones?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        Err("this version of the program can't conduct it".into())
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<SyncReads>> {
        &mut experiments.sync_reads
    }

    fn run(&self, _lab: &mut Lab<'_>, _findings: &mut SyncReads) -> Result<(), LoadError> {
        Ok(())
    }
}
