//! Parameters learned from real flights by `examples/learn.rs`: airports and routes of January and
//! February 2008, and the effects of carrier, origin, hour and month on delays, cancellations and
//! diversions.

use serde::Deserialize;

const LEARNED: &str = include_str!("learned.json");

/// Error for invalid learned parameters.
#[derive(Debug, thiserror::Error)]
#[error("what the generator learned of flights can't be read, which is a defect of this crate: {0}")]
pub struct LearnedError(#[from] serde_json::Error);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learned {
    pub(super) airports: Vec<String>,
    /// Logit of a late departure relative to all flights, by origin.
    pub(super) airport_delay_logits: Vec<f64>,
    pub(super) carriers: Vec<Carrier>,
    /// Share of flights by hour of scheduled departure.
    pub(super) hours: Vec<f64>,
    pub(super) hour_delay_logits: Vec<f64>,
    /// By month of the year, from January.
    pub(super) month_delay_logits: Vec<f64>,
    /// Frequency of cancellations relative to the whole year.
    pub(super) month_cancelled: Vec<f64>,
    pub(super) month_diverted: Vec<f64>,
    /// Share of all flights.
    pub(super) cancelled: f64,
    pub(super) diverted: f64,
    /// Shares of the reasons A to D among cancellations.
    pub(super) reasons: Vec<f64>,
    pub(super) logit_from: f64,
    pub(super) logit_step: f64,
    /// Quantiles of the departure delay.
    pub(super) departure_minutes: Vec<i16>,
    /// Quantiles of the arrival delay minus the departure delay.
    pub(super) gain_minutes: Vec<i16>,
    /// Scheduled minutes: a constant, and a rate per mile.
    pub(super) elapsed_minutes: [f64; 2],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Carrier {
    pub(super) code: String,
    pub(super) delay_logit: f64,
    pub(super) cancelled: f64,
    pub(super) diverted: f64,
    /// Two airports, flights between them in two months, miles.
    pub(super) pairs: Vec<(u16, u16, u32, u16)>,
}

impl Learned {
    pub(super) fn load() -> Result<Self, LearnedError> {
        Ok(serde_json::from_str(LEARNED)?)
    }
}
