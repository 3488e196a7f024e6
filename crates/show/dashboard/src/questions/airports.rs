use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Result};
use crate::parameters::{ParameterError, Parameters, encode};
use crate::{AirportCode, Answer, Direction, Figures, Months, Runner};

/// Longer texts are in no airport's name.
const SEARCH_LETTERS_MAX: usize = 60;

/// Which airports are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    months: Months,
    direction: Direction,
    /// In capital letters; empty for all.
    text: String,
}

/// Airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Airports {
    /// Those that were found, the one with most flights first.
    pub airports: Vec<AirportRow>,
}

/// An airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AirportRow {
    /// The airport.
    pub airport: AirportCode,
    /// Its name, where the airports' facts say it.
    pub name: Option<String>,
    /// How its flights did.
    pub figures: Figures,
}

impl Search {
    /// The parameters that it has.
    pub const PARAMETERS: [&str; 4] = ["from", "to", "direction", "search"];

    /// What an address asks for.
    ///
    /// # Errors
    /// A parameter is missing, or isn't what it should be.
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

    fn finds(&self, airport: AirportCode, name: Option<&str>) -> bool {
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

/// Looks for airports.
///
/// # Errors
/// The query fails.
pub async fn airports<R: Runner>(desk: &Desk<'_, R>, search: &Search) -> Result<Answer<Airports>, R> {
    let counted = desk.counted(search.months, search.direction).await?;
    let found = counted.tallies.iter().filter_map(|(airport, tally)| {
        let name = desk.name(*airport);
        let is_found = search.finds(*airport, name.as_deref());
        is_found.then(|| AirportRow { airport: *airport, name, figures: tally.figures() })
    });
    let mut airports: Vec<AirportRow> = found.collect();
    airports.sort_by_key(|row| (std::cmp::Reverse(row.figures.flights), row.airport));
    Ok(desk.answer(Airports { airports }, vec![counted.cost]))
}
