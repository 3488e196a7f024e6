use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_probe::experiments::{READS, Selection};
use nandle_probe::load::Cancel;
use nandle_probe::search::OmittedStatistics;
use nandle_profile::DeviceProfile;
use nandle_units::format_duration;

use super::ProbeError;
use crate::Access;

/// Smallest budget.
pub const BUDGET_MIN: Nanos = Nanos::from_secs(1);
/// Smallest budget in which all experiments may write.
const BUDGET_FOR_WRITES: Nanos = Nanos::from_secs(300);

/// Permissions, selection and budget of a probe.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Parameters for opening the target.
    pub access: Access,
    /// Total time, virtual for a modelled drive. Below five minutes only essential experiments may
    /// write, and only to Nandle's own test file or to a modelled drive.
    pub budget: Nanos,
    /// Creation time for the profile.
    pub made_at: SystemTime,
    /// Seed of all random choices.
    pub seed: u64,
    /// Reason why only the initial contents of a test file may be written; `None` if experiments
    /// may write.
    pub read_only: Option<String>,
    /// Write limit of all experiments together, in bytes. `None` means an eighth of the free space
    /// or of a raw device, and no limit for modelled drives.
    pub write_limit_bytes: Option<u64>,
    /// Names of experiments to choose from; empty for all. The reads are called `reads`.
    pub only: Vec<String>,
    /// Names of experiments to skip.
    pub skip: Vec<String>,
    /// Earlier profile of the same target. Its complete parts aren't measured again.
    pub resume: Option<DeviceProfile>,
    /// Interrupts the probe.
    pub cancel: Cancel,
    /// Statistics of reads that an ablation leaves out.
    #[doc(hidden)]
    pub without: OmittedStatistics,
}

impl ProbeOptions {
    /// One minute of reads. Only the test file's contents are written; [`Self::read_only`] controls
    /// other writes.
    pub fn new(made_at: SystemTime) -> Self {
        Self {
            access: Access::default(),
            budget: Nanos::from_secs(60),
            made_at,
            seed: 1,
            read_only: Some("the probe was asked to read only".into()),
            write_limit_bytes: None,
            only: Vec::new(),
            skip: Vec::new(),
            resume: None,
            cancel: Cancel::default(),
            without: OmittedStatistics::default(),
        }
    }

    /// Reason why the budget is too short for experiments with many writes, unless they were
    /// selected by name.
    pub(super) fn short_budget(&self) -> Option<String> {
        let names_some = self.only.iter().any(|name| name != READS);
        let least = format_duration(BUDGET_FOR_WRITES);
        let is_short = self.budget < BUDGET_FOR_WRITES && !names_some;
        is_short
            .then(|| format!("a budget below {least} is for reading: --budget {least} or more, or --only"))
    }

    /// Selection of experiments, before the target is known.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            budget: self.budget,
            only: self.only.clone(),
            skip: self.skip.clone(),
            ..Selection::default()
        }
    }

    /// Rejects options that can't have a result.
    pub(super) fn check(&self) -> Result<(), ProbeError> {
        if self.budget < BUDGET_MIN {
            return Err(ProbeError::BudgetTooShort { budget: self.budget });
        }
        if self.selection().is_empty() {
            return Err(ProbeError::AllSkipped { only: self.only.clone(), skip: self.skip.clone() });
        }
        Ok(())
    }
}
