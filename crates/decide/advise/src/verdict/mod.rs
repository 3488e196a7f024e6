//! Verdict on a device: its class as measured, strengths, risks, settings to change, and key
//! figures for database administrators. It relies on measurements only; the device's and the
//! kernel's own labels don't count. Each threshold is a constant that names its source.

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

/// Most strengths, and most risks, in a verdict.
const FINDINGS_MAX: usize = 3;

/// Summary of a profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Device in words: its own name and the probed target.
    pub device: String,
    /// Kind of the device as measured.
    pub kind: Kind,
    /// At most three strengths, the clearest first.
    pub strengths: Vec<Finding>,
    /// At most three risks, the greatest first. Unmeasured figures that a database depends on are
    /// risks, too.
    pub risks: Vec<Finding>,
    /// Settings to change, the surest first.
    pub changes: Vec<Change>,
    /// Key figures for database administrators, in the order of the table.
    pub figures: Vec<FigureRow>,
    /// Note on figures from a write cache; `null` if there are none.
    pub cached_figures: Option<String>,
}

/// Computes the verdict on the device of a profile. Never fails; missing figures are reported as
/// not measured.
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
                "A write cache absorbs these writes before they reach the medium, so the figures \
                hold for bursts. {reach}"
            )
        }),
        kind,
    }
}
