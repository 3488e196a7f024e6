//! The verdict on a device: what kind it is as measured, what it is good at, what is risky, what to change, and the figures
//! that a database administrator looks for. Everything follows from the profile's own numbers; what the device calls itself
//! and what the kernel calls it count for nothing here. Each threshold is a constant that says where it comes from.

mod changes;
mod figures;
mod finding;
mod kind;
mod limits;
mod risks;
mod strengths;
mod unmeasured;
mod write_cache;

use nandle_profile::DeviceProfile;
use serde::Serialize;

pub use changes::Change;
pub use figures::{
    CACHE_MARK, DIGITS_MAX, DepthOneLatency, FigureRow, Load, PeakRate, TimeUnit, digits_of,
    significant_digits,
};
pub use finding::{Finding, Threshold};
pub use kind::{DeviceClass, Kind};

use crate::figures::{Figures, device_name};
use crate::settings::completed;

/// So many strengths, and so many risks, at most.
const FINDINGS_MAX: usize = 3;

/// What a profile comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The device in words: what it calls itself, and where it was probed.
    pub device: String,
    /// What it is, as measured.
    pub kind: Kind,
    /// At most three, the clearest first.
    pub strengths: Vec<Finding>,
    /// At most three, the greatest first. What wasn't measured is one where a database depends on it.
    pub risks: Vec<Finding>,
    /// What to set otherwise than it is, or than the default; the surest first.
    pub changes: Vec<Change>,
    /// The figures that a database administrator looks for, in the order of the table.
    pub figures: Vec<FigureRow>,
    /// What holds of the figures that a write cache gave, in sentences; `null` where there are none.
    pub cached_figures: Option<String>,
}

/// The verdict on the device of a profile. It never fails: what the profile doesn't tell is named as not measured.
pub fn verdict(profile: &DeviceProfile) -> Verdict {
    let figures = Figures::of(profile);
    let kind = kind::kind(&figures);
    let measured = risks::measured(&figures, &kind);
    let named = |sentence: &str| completed(sentence, profile);
    let mut risks = finding::clearest([measured, unmeasured::risks(&figures)].concat(), FINDINGS_MAX);
    for risk in &mut risks {
        risk.means = named(&risk.means);
    }
    let rows = figures::rows(&figures);
    let cached = rows.iter().any(|row| row.by_cache).then(|| named(&figures.reach_of_cache()));
    Verdict {
        device: device_name(profile),
        strengths: finding::clearest(strengths::measured(&figures), FINDINGS_MAX),
        risks,
        changes: changes::changes(profile),
        figures: rows,
        cached_figures: cached.map(|reach| {
            format!(
                "A write cache answers these before the medium has them, so they hold for bursts. {reach}"
            )
        }),
        kind,
    }
}
