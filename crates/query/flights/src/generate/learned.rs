//! What was learned of real flights, by `examples/learn.rs`: the airports and routes of January and February 2008, how delays,
//! cancellations and diversions depend on carrier, origin, hour and month.

use serde::Deserialize;

const LEARNED: &str = include_str!("learned.json");

/// What was learned can't be read.
#[derive(Debug, thiserror::Error)]
#[error("what the generator learned of flights can't be read, which is a defect of this crate: {0}")]
pub struct LearnedError(#[from] serde_json::Error);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Learned {
    pub(super) airports: Vec<String>,
    /// How much the logit of a late departure is above that of all, by origin.
    pub(super) airport_delay_logits: Vec<f64>,
    pub(super) carriers: Vec<Carrier>,
    /// The share of flights that are to depart in each hour.
    pub(super) hours: Vec<f64>,
    pub(super) hour_delay_logits: Vec<f64>,
    /// By month of the year, from January on.
    pub(super) month_delay_logits: Vec<f64>,
    /// How much likelier a cancellation is than in the year as a whole.
    pub(super) month_cancelled: Vec<f64>,
    pub(super) month_diverted: Vec<f64>,
    /// The share of flights.
    pub(super) cancelled: f64,
    pub(super) diverted: f64,
    /// The shares of reasons A to D among cancellations.
    pub(super) reasons: Vec<f64>,
    pub(super) logit_from: f64,
    pub(super) logit_step: f64,
    /// Quantiles of the departures' delay.
    pub(super) departure_minutes: Vec<i16>,
    /// Quantiles of how much later than at the departure a flight is at its arrival.
    pub(super) gain_minutes: Vec<i16>,
    /// Scheduled minutes: a constant, and for each mile.
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
