use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, Result};
use crate::parameters::{ParameterError, Parameters, encode};
use crate::{AirportCode, Answer, Direction, Figures, Months, Runner};

/// Greatest length of a search text.
const SEARCH_LETTERS_MAX: usize = 60;

/// Search for airports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    months: Months,
    direction: Direction,
    /// Text in capital letters; empty for all airports.
    text: String,
}

/// Airports found.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Airports {
    /// Airports found, the one with most flights first.
    pub airports: Vec<AirportRow>,
}

/// Airport with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AirportRow {
    /// Airport.
    pub airport: AirportCode,
    /// Name, if the airports' facts have it.
    pub name: Option<String>,
    /// Figures of its flights.
    pub figures: Figures,
}

impl Search {
    /// Parameters of the search.
    pub const PARAMETERS: [&str; 4] = ["from", "to", "direction", "search"];

    /// Parses the parameters of an address.
    ///
    /// # Errors
    /// A parameter is missing or invalid.
    pub fn parse(mut parameters: Parameters) -> std::result::Result<Self, ParameterError> {
        let (months, direction) = (parameters.months()?, parameters.direction()?);
        let text = parameters.take("search").unwrap_or_default().trim().to_uppercase();
        if text.chars().count() > SEARCH_LETTERS_MAX {
            let expected = format!("up to {SEARCH_LETTERS_MAX} letters of an airport's code or name");
            return Err(ParameterError::Invalid { name: "search", expected });
        }
        parameters.finish(&Self::PARAMETERS)?;
        Ok(Self { months, direction, text })
    }

    fn matches(&self, airport: AirportCode, name: Option<&str>) -> bool {
        let is_in_name = || name.is_some_and(|name| name.to_uppercase().contains(&self.text));
        airport.as_str().starts_with(&self.text) || is_in_name()
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { months, direction, text } = self;
        write!(f, "from={}&to={}&direction={}", months.first(), months.last(), direction.name())?;
        write!(f, "&search={}", encode(text))
    }
}

/// Queries the airports of a search.
///
/// # Errors
/// The query fails.
pub async fn airports<R: Runner>(
    context: &QueryContext<'_, R>,
    search: &Search,
) -> Result<Answer<Airports>, R> {
    let airport_tallies = context.airport_tallies(search.months, search.direction).await?;
    let found = airport_tallies.tallies.iter().filter_map(|(airport, tally)| {
        let name = context.name(*airport);
        let is_found = search.matches(*airport, name.as_deref());
        is_found.then(|| AirportRow { airport: *airport, name, figures: tally.figures() })
    });
    let mut airports: Vec<AirportRow> = found.collect();
    airports.sort_by_key(|row| (std::cmp::Reverse(row.figures.flights), row.airport));
    Ok(context.answer(Airports { airports }, vec![airport_tallies.cost]))
}
