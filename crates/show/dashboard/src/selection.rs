//! Selected airport, months and similar airports.

use std::fmt::{self, Write as _};

use nandle_flights::Column;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{AirportCode, Months};

/// Default number of similar airports.
pub(crate) const SIMILAR_COUNT: usize = 10;
/// Greatest number of similar airports.
pub(crate) const SIMILAR_COUNT_MAX: usize = 50;

/// Direction of an airport's flights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Flights that depart at the airport.
    Departures,
    /// Flights that arrive at the airport.
    Arrivals,
}

/// Count that determines similar airports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimilarBy {
    /// Flights in the chosen months and direction.
    Flights,
    /// Passengers, from the airports' facts.
    Passengers,
    /// Population, from the airports' facts.
    Population,
}

/// Choice of the similar airports.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PeerChoice {
    /// The airports with the nearest counts, by ratio.
    Nearest {
        /// Compared count.
        by: SimilarBy,
        /// Number of airports.
        count: usize,
    },
    /// List of the user's.
    Listed(Vec<AirportCode>),
}

/// Airport in some months, with the airports it is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    /// Airport.
    pub airport: AirportCode,
    /// Months.
    pub months: Months,
    /// Direction of its flights.
    pub direction: Direction,
    /// Choice of the similar airports.
    pub peers: PeerChoice,
}

impl Direction {
    /// Name in an address.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Departures => "departures",
            Self::Arrivals => "arrivals",
        }
    }

    /// Column of the selected airport.
    pub(crate) const fn own_column(self) -> Column {
        match self {
            Self::Departures => Column::Origin,
            Self::Arrivals => Column::Dest,
        }
    }

    /// Column of the airport at the other end.
    pub(crate) const fn other_column(self) -> Column {
        match self {
            Self::Departures => Column::Dest,
            Self::Arrivals => Column::Origin,
        }
    }
}

impl SimilarBy {
    /// Name in an address.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flights => "flights",
            Self::Passengers => "passengers",
            Self::Population => "population",
        }
    }
}

impl Selection {
    /// Parameters of a selection.
    pub const PARAMETERS: [&str; 7] = ["airport", "from", "to", "direction", "by", "count", "similar"];
}

/// Query string of an address, always in the same order.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { airport, months, direction, peers } = self;
        write!(f, "airport={airport}&from={}&to={}", months.first(), months.last())?;
        write!(f, "&direction={}", direction.name())?;
        match peers {
            PeerChoice::Nearest { by, count } => write!(f, "&by={}&count={count}", by.name()),
            PeerChoice::Listed(airports) => {
                f.write_str("&similar=")?;
                airports.iter().enumerate().try_for_each(|(place, airport)| {
                    if place > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{airport}")
                })
            }
        }
    }
}
