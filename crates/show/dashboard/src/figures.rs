//! Figures of a set of flights, and the counts behind them.

use serde::Serialize;
use utoipa::ToSchema;

/// Least number of flights for a rate or a mean. With fewer flights they would be left to chance.
pub const RATE_FLIGHTS_MIN: u64 = 30;

/// Delay in minutes above which a flight is late.
pub(crate) const LATE_MINUTES: u64 = 15;

/// Counts over a set of flights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Scheduled flights.
    pub(crate) flights: u64,
    /// Flights that didn't depart.
    pub(crate) cancelled: u64,
    /// Flights that landed elsewhere.
    pub(crate) diverted: u64,
    /// Flights with a known delay at arrival.
    pub(crate) arrived: u64,
    /// Sum of the delays in minutes; early arrivals count as negative.
    pub(crate) delay_minutes: i64,
    /// Flights more than [`LATE_MINUTES`] late.
    pub(crate) late: u64,
}

/// Figures of a set of flights. A rate of fewer than 30 flights is `null`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Figures {
    /// Scheduled flights.
    pub flights: u64,
    /// Flights with a known delay at arrival, neither cancelled nor diverted.
    pub arrived_flights: u64,
    /// Mean delay at arrival in minutes over flights with a known delay; early arrivals count as
    /// negative.
    pub mean_delay_minutes: Option<f64>,
    /// Share of flights with a known delay that were more than 15 minutes late.
    pub late_share: Option<f64>,
    /// Share of scheduled flights that were cancelled.
    pub cancelled_share: Option<f64>,
    /// Share of scheduled flights that were diverted.
    pub diverted_share: Option<f64>,
}

/// Figure that airports are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Mean delay at arrival.
    MeanDelay,
    /// Share of flights more than 15 minutes late.
    Late,
    /// Share of cancelled flights.
    Cancelled,
    /// Share of diverted flights.
    Diverted,
    /// Number of flights.
    Flights,
}

impl Tally {
    /// Sum of both tallies.
    #[must_use]
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            flights: self.flights + other.flights,
            cancelled: self.cancelled + other.cancelled,
            diverted: self.diverted + other.diverted,
            arrived: self.arrived + other.arrived,
            delay_minutes: self.delay_minutes + other.delay_minutes,
            late: self.late + other.late,
        }
    }

    /// Figures computed from the counts.
    pub(crate) fn figures(&self) -> Figures {
        let rate = |part: f64, of: u64| (of >= RATE_FLIGHTS_MIN).then(|| part / of as f64);
        Figures {
            flights: self.flights,
            arrived_flights: self.arrived,
            mean_delay_minutes: rate(self.delay_minutes as f64, self.arrived),
            late_share: rate(self.late as f64, self.arrived),
            cancelled_share: rate(self.cancelled as f64, self.flights),
            diverted_share: rate(self.diverted as f64, self.flights),
        }
    }
}

impl Figures {
    /// Value of one figure.
    pub fn of(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::MeanDelay => self.mean_delay_minutes,
            Measure::Late => self.late_share,
            Measure::Cancelled => self.cancelled_share,
            Measure::Diverted => self.diverted_share,
            Measure::Flights => Some(self.flights as f64),
        }
    }
}

impl Measure {
    /// All measures in display order.
    pub const ALL: [Self; 5] = [Self::Flights, Self::MeanDelay, Self::Late, Self::Cancelled, Self::Diverted];

    /// Name in an address.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MeanDelay => "mean_delay",
            Self::Late => "late",
            Self::Cancelled => "cancelled",
            Self::Diverted => "diverted",
            Self::Flights => "flights",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_follow_from_counts() {
        let tally =
            Tally { flights: 40, cancelled: 4, diverted: 1, arrived: 35, delay_minutes: -70, late: 7 };
        let figures = tally.figures();
        assert_eq!(figures.mean_delay_minutes, Some(-2.0));
        assert_eq!((figures.late_share, figures.cancelled_share), (Some(0.2), Some(0.1)));
        assert_eq!(figures.of(Measure::Flights), Some(40.0));
    }

    #[test]
    fn fewer_than_thirty_flights_have_no_rate() {
        let tally = Tally { flights: 30, arrived: 29, ..Tally::default() };
        let figures = tally.figures();
        assert_eq!((figures.mean_delay_minutes, figures.late_share), (None, None));
        assert_eq!(figures.cancelled_share, Some(0.0));
        assert_eq!(Tally::default().figures().of(Measure::Diverted), None);
    }

    #[test]
    fn tallies_add_up() {
        let one = Tally { flights: 1, cancelled: 1, diverted: 2, arrived: 3, delay_minutes: -4, late: 5 };
        assert_eq!(
            one.with(one),
            Tally { flights: 2, cancelled: 2, diverted: 4, arrived: 6, delay_minutes: -8, late: 10 }
        );
    }
}
