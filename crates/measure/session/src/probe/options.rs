use std::time::SystemTime;

use nandle_io::Nanos;
use nandle_probe::experiments::{READS, Selection};
use nandle_probe::load::Cancel;
use nandle_probe::search::OmittedStatistics;
use nandle_profile::DeviceProfile;
use nandle_units::format_duration;

use super::ProbeError;
use crate::Access;

/// Less time than this tells nothing of any device.
pub const BUDGET_MIN: Nanos = Nanos::from_secs(1);
/// From so much on all experiments write.
const BUDGET_FOR_WRITES: Nanos = Nanos::from_secs(300);

/// What a probe may do, and for how long.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// How the target is opened.
    pub access: Access,
    /// Time for everything; virtual for a modelled drive. Below five minutes only essential experiments may write, and only to a test file
    /// of Nandle's own, or a modelled drive.
    pub budget: Nanos,
    /// When it is made, for the profile.
    pub made_at: SystemTime,
    /// Seed of all that is random.
    pub seed: u64,
    /// Why nothing but a test file's first contents may be written; `None` when experiments may wear the device.
    pub read_only: Option<String>,
    /// Bytes that all experiments together may write; `None` for an eighth of the free space, or of a raw device, and for no limit
    /// on modelled drives.
    pub write_limit_bytes: Option<u64>,
    /// Names of the experiments to choose from; empty for all. The read side is `reads`.
    pub only: Vec<String>,
    /// Names of the experiments to leave out.
    pub skip: Vec<String>,
    /// A profile of the same target: what is complete in it isn't measured again.
    pub resume: Option<DeviceProfile>,
    /// Ends the probe from outside.
    pub cancel: Cancel,
    /// What an ablation leaves out of the statistics of reading.
    #[doc(hidden)]
    pub without: OmittedStatistics,
}

impl ProbeOptions {
    /// A minute of reading. Nothing is written beside the test file's contents: that must be allowed by [`Self::read_only`].
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

    /// Why the budget is too short for experiments that write much; `None` when it isn't, or they were named.
    pub(super) fn short_budget(&self) -> Option<String> {
        let names_some = self.only.iter().any(|name| name != READS);
        let least = format_duration(BUDGET_FOR_WRITES);
        let is_short = self.budget < BUDGET_FOR_WRITES && !names_some;
        is_short
            .then(|| format!("a budget below {least} is for reading: --budget {least} or more, or --only"))
    }

    /// What of all experiments is wanted, before the target is known.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            budget: self.budget,
            only: self.only.clone(),
            skip: self.skip.clone(),
            ..Selection::default()
        }
    }

    /// Refuses what tells nothing.
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
