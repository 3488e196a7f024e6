//! Costs of a target that no profile is named of: it is probed.

use std::time::SystemTime;

use nandle_io::{Nanos, Shape};
use nandle_profile::DeviceProfile;
use nandle_reads::ReadCosts;
use nandle_session::{Access, Cancel, ProbeError, ProbeOptions, Progress};
use nandle_target::TargetSpec;
use thiserror::Error;

use crate::{CostsError, MissingFigure, read_costs};

/// Virtual time of a model's probe.
pub const MODEL_BUDGET: Nanos = Nanos::from_secs(60);
/// Time of a real target's.
pub const REAL_BUDGET: Nanos = Nanos::from_secs(10);

/// What reads cost on a target, and the profile that says so.
#[derive(Debug, Clone)]
pub struct MeasuredCosts {
    /// The costs.
    pub costs: ReadCosts,
    /// What the profile lacks.
    pub missing: Vec<MissingFigure>,
    /// The profile.
    pub profile: DeviceProfile,
}

/// No costs could be measured.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// The probe failed.
    #[error("measuring what reads cost: {0}")]
    Probe(#[from] ProbeError),
    /// What it found is too little.
    #[error(transparent)]
    Costs(#[from] CostsError),
}

/// Probes the reads of a target for [`MODEL_BUDGET`] of virtual time or, of a real one, [`REAL_BUDGET`]. `made_at` is for the profile.
///
/// # Errors
/// It can't be opened or measured.
pub fn measure_costs(
    target: &TargetSpec,
    access: &Access,
    is_modelled: bool,
    shape: Option<&Shape>,
    made_at: SystemTime,
    cancel: &Cancel,
    progress: &mut dyn Progress,
) -> Result<MeasuredCosts, MeasureError> {
    let options = ProbeOptions {
        access: access.clone(),
        budget: if is_modelled { MODEL_BUDGET } else { REAL_BUDGET },
        only: vec!["reads".to_owned()],
        cancel: cancel.clone(),
        ..ProbeOptions::new(made_at)
    };
    let profile = nandle_session::probe(target, &options, progress)?;
    let (costs, missing) = read_costs(&profile, shape)?;
    Ok(MeasuredCosts { costs, missing, profile })
}
