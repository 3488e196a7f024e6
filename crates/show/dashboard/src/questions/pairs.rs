//! Pairs of an airport and the airports at the other end of its flights.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, QuestionError, Result};
use crate::figures::Tally;
use crate::parameters::{ParameterError, Parameters};
use crate::statement::Statement;
use crate::{AirportCode, Answer, Figures, Runner, Selection};

/// Selection with the airport at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairView {
    selection: Selection,
    other: AirportCode,
}

impl PairView {
    /// Parameters of the view.
    pub const PARAMETERS: [&str; 8] =
        ["airport", "from", "to", "direction", "by", "count", "similar", "other"];

    /// Parses the parameters of an address.
    ///
    /// # Errors
    /// A parameter is missing or invalid.
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

/// Pairs of an airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Pairs {
    /// Airport.
    pub airport: AirportCode,
    /// Figures of all its flights.
    pub all: Figures,
    /// Pairs, the greatest mean delay first; unknown delays come last.
    pub pairs: Vec<PairRow>,
}

/// Pair with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PairRow {
    /// Airport at the other end.
    pub airport: AirportCode,
    /// Name, if it is known.
    pub name: Option<String>,
    /// Figures of the flights between both in the chosen direction.
    pub figures: Figures,
}

/// Pair by airline.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Pair {
    /// Airport.
    pub airport: AirportCode,
    /// Airport at the other end.
    pub other: AirportCode,
    /// Name, if it is known.
    pub name: Option<String>,
    /// Figures of all flights between both in the chosen direction.
    pub all: Figures,
    /// Airlines, the one with most flights first.
    pub airlines: Vec<PairAirline>,
}

/// Airline between two airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PairAirline {
    /// Code of the airline.
    pub airline: String,
    /// Figures of its flights.
    pub figures: Figures,
}

/// Queries the pairs of an airport.
///
/// # Errors
/// The query fails, or the airport has no flights.
pub async fn pairs<R: Runner>(
    context: &QueryContext<'_, R>,
    selection: &Selection,
) -> Result<Answer<Pairs>, R> {
    let Selection { airport, months, direction, .. } = *selection;
    let ran = context.run(&Statement::pairs(context.months(), months, direction, airport)).await?;
    let tallies = ran.tallies("airport")?;
    let all = total_figures(airport, &tallies)?;
    let rows = tallies.into_iter().filter_map(|(code, tally)| {
        let airport = code.parse().ok()?;
        Some(PairRow { airport, name: context.name(airport), figures: tally.figures() })
    });
    let mut pairs: Vec<PairRow> = rows.collect();
    let delay = |row: &PairRow| row.figures.mean_delay_minutes.unwrap_or(f64::NEG_INFINITY);
    pairs.sort_by(|one, other| delay(other).total_cmp(&delay(one)).then(one.airport.cmp(&other.airport)));
    Ok(context.answer(Pairs { airport, all, pairs }, vec![ran.cost.clone()]))
}

/// Queries one pair.
///
/// # Errors
/// The query fails, or there are no flights between both.
pub async fn pair<R: Runner>(context: &QueryContext<'_, R>, view: &PairView) -> Result<Answer<Pair>, R> {
    let Selection { airport, months, direction, .. } = view.selection;
    let other = view.other;
    let statement = Statement::pair(context.months(), months, direction, airport, other);
    let ran = context.run(&statement).await?;
    let tallies = ran.tallies("airline")?;
    let all = total_figures(other, &tallies)?;
    let rows = tallies.into_iter().map(|(airline, tally)| PairAirline { airline, figures: tally.figures() });
    let mut airlines: Vec<PairAirline> = rows.collect();
    airlines.sort_by(|one, other| {
        other.figures.flights.cmp(&one.figures.flights).then_with(|| one.airline.cmp(&other.airline))
    });
    let pair = Pair { airport, other, name: context.name(other), all, airlines };
    Ok(context.answer(pair, vec![ran.cost.clone()]))
}

fn total_figures<E>(
    airport: AirportCode,
    tallies: &[(String, Tally)],
) -> std::result::Result<Figures, QuestionError<E>> {
    let all = tallies.iter().fold(Tally::default(), |sum, (_, tally)| sum.with(*tally));
    if all.flights == 0 { Err(QuestionError::NoFlights { airport }) } else { Ok(all.figures()) }
}
