//! An airport and those at the other end of its flights.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, QuestionError, Result};
use crate::figures::Tally;
use crate::parameters::{ParameterError, Parameters};
use crate::statement::Statement;
use crate::{AirportCode, Answer, Figures, Runner, Selection};

/// A selection, and the airport at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairView {
    selection: Selection,
    other: AirportCode,
}

impl PairView {
    /// The parameters that it has.
    pub const PARAMETERS: [&str; 8] =
        ["airport", "from", "to", "direction", "by", "count", "similar", "other"];

    /// What an address asks for.
    ///
    /// # Errors
    /// A parameter is missing, or isn't what it should be.
    pub fn parse(mut parameters: Parameters) -> std::result::Result<Self, ParameterError> {
        let (selection, other) = (parameters.selection()?, parameters.airport("other")?);
        parameters.finish(&Self::PARAMETERS)?;
        Ok(Self { selection, other })
    }
}

impl fmt::Display for PairView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}&other={}", self.selection, self.other)
    }
}

/// The pairs of an airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Pairs {
    /// The airport.
    pub airport: AirportCode,
    /// All of its flights together.
    pub all: Figures,
    /// The one with the greatest mean delay first. Those of which it isn't known come last.
    pub pairs: Vec<PairRow>,
}

/// A pair.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PairRow {
    /// The airport at the other end.
    pub airport: AirportCode,
    /// Its name, where known.
    pub name: Option<String>,
    /// The flights between both, in the chosen direction.
    pub figures: Figures,
}

/// One pair, airline by airline.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Pair {
    /// The airport.
    pub airport: AirportCode,
    /// The one at the other end.
    pub other: AirportCode,
    /// Its name, where known.
    pub name: Option<String>,
    /// All flights between both, in the chosen direction.
    pub all: Figures,
    /// Those of each airline, the one with most first.
    pub airlines: Vec<PairAirline>,
}

/// An airline between two airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PairAirline {
    /// Its code.
    pub airline: String,
    /// Its flights.
    pub figures: Figures,
}

/// Asks for the pairs of an airport.
///
/// # Errors
/// The query fails, or the airport has no flights.
pub async fn pairs<R: Runner>(desk: &Desk<'_, R>, selection: &Selection) -> Result<Answer<Pairs>, R> {
    let Selection { airport, months, direction, .. } = *selection;
    let ran = desk.run(&Statement::pairs(desk.months(), months, direction, airport)).await?;
    let tallies = ran.tallies("airport")?;
    let all = together(airport, &tallies)?;
    let rows = tallies.into_iter().filter_map(|(code, tally)| {
        let airport = code.parse().ok()?;
        Some(PairRow { airport, name: desk.name(airport), figures: tally.figures() })
    });
    let mut pairs: Vec<PairRow> = rows.collect();
    let delay = |row: &PairRow| row.figures.mean_delay_minutes.unwrap_or(f64::NEG_INFINITY);
    pairs.sort_by(|one, other| delay(other).total_cmp(&delay(one)).then(one.airport.cmp(&other.airport)));
    Ok(desk.answer(Pairs { airport, all, pairs }, vec![ran.cost.clone()]))
}

/// Asks for one pair.
///
/// # Errors
/// The query fails, or there are no flights between both.
pub async fn pair<R: Runner>(desk: &Desk<'_, R>, view: &PairView) -> Result<Answer<Pair>, R> {
    let Selection { airport, months, direction, .. } = view.selection;
    let other = view.other;
    let statement = Statement::pair(desk.months(), months, direction, airport, other);
    let ran = desk.run(&statement).await?;
    let tallies = ran.tallies("airline")?;
    let all = together(other, &tallies)?;
    let rows = tallies.into_iter().map(|(airline, tally)| PairAirline { airline, figures: tally.figures() });
    let mut airlines: Vec<PairAirline> = rows.collect();
    airlines.sort_by(|one, other| {
        other.figures.flights.cmp(&one.figures.flights).then_with(|| one.airline.cmp(&other.airline))
    });
    let pair = Pair { airport, other, name: desk.name(other), all, airlines };
    Ok(desk.answer(pair, vec![ran.cost.clone()]))
}

fn together<E>(
    airport: AirportCode,
    tallies: &[(String, Tally)],
) -> std::result::Result<Figures, QuestionError<E>> {
    let all = tallies.iter().fold(Tally::default(), |sum, (_, tally)| sum.with(*tally));
    if all.flights == 0 { Err(QuestionError::NoFlights { airport }) } else { Ok(all.figures()) }
}
