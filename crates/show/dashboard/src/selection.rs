//! What is looked at.

use std::fmt::{self, Write as _};

use nandle_flights::Column;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{AirportCode, Months};

/// Similar airports, unless told otherwise.
pub(crate) const SIMILAR_COUNT: usize = 10;
/// More similar airports than this no comparison has.
pub(crate) const SIMILAR_COUNT_MAX: usize = 50;

/// Which flights of an airport: those that depart there, or those that arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Flights that depart there.
    Departures,
    /// Flights that arrive there.
    Arrivals,
}

/// By what airports are similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimilarBy {
    /// Flights in the chosen months, in the chosen direction.
    Flights,
    /// Passengers, of the airports' facts.
    Passengers,
    /// Population, of the airports' facts.
    Population,
}

/// Which airports are similar to one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Likeness {
    /// So many whose counts are nearest by ratio.
    Nearest {
        /// Which counts.
        by: SimilarBy,
        /// How many.
        count: usize,
    },
    /// A list of one's own.
    Listed(Vec<AirportCode>),
}

/// An airport in some months, and what it is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    /// The airport.
    pub airport: AirportCode,
    /// The months.
    pub months: Months,
    /// Which of its flights.
    pub direction: Direction,
    /// Which airports are similar.
    pub likeness: Likeness,
}

impl Direction {
    /// As an address says it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Departures => "departures",
            Self::Arrivals => "arrivals",
        }
    }

    /// The column of the airport whose flights they are.
    pub(crate) const fn here(self) -> Column {
        match self {
            Self::Departures => Column::Origin,
            Self::Arrivals => Column::Dest,
        }
    }

    /// The column of the airport at their other end.
    pub(crate) const fn there(self) -> Column {
        match self {
            Self::Departures => Column::Dest,
            Self::Arrivals => Column::Origin,
        }
    }
}

impl SimilarBy {
    /// As an address says it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flights => "flights",
            Self::Passengers => "passengers",
            Self::Population => "population",
        }
    }
}

impl Selection {
    /// The parameters that it has.
    pub const PARAMETERS: [&str; 7] = ["airport", "from", "to", "direction", "by", "count", "similar"];
}

/// The query string of an address, always in the same order.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { airport, months, direction, likeness } = self;
        write!(f, "airport={airport}&from={}&to={}", months.first(), months.last())?;
        write!(f, "&direction={}", direction.name())?;
        match likeness {
            Likeness::Nearest { by, count } => write!(f, "&by={}&count={count}", by.name()),
            Likeness::Listed(airports) => {
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
