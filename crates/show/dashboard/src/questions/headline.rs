use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, Result};
use crate::{AirportCode, Answer, Figures, Measure, Runner, Selection, Spread};

/// Figures of an airport compared with similar ones.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Headline {
    /// Airport.
    pub airport: AirportCode,
    /// Figures of the airport.
    pub figures: Figures,
    /// Comparison of each figure.
    pub comparisons: Vec<Comparison>,
}

/// Figure compared with the similar airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// Compared figure.
    pub measure: Measure,
    /// Value of the airport; `null` if it is unknown.
    pub value: Option<f64>,
    /// Values of the similar airports; `null` if all are unknown.
    pub similar: Option<Spread>,
    /// Place among the airports with a known figure, from 1 for the least; `null` if the airport's
    /// is unknown.
    pub place: Option<u64>,
}

/// Queries the headline figures.
///
/// # Errors
/// The query fails, the airport has no flights, or its size is unknown.
pub async fn headline<R: Runner>(
    context: &QueryContext<'_, R>,
    selection: &Selection,
) -> Result<Answer<Headline>, R> {
    let airport_tallies = context.airport_tallies(selection.months, selection.direction).await?;
    let figures = airport_tallies.of(selection.airport)?.figures();
    let similar = context.similar(selection, &airport_tallies)?;
    let others =
        similar.iter().filter_map(|airport| airport_tallies.tallies.get(airport)).map(super::Tally::figures);
    let others: Vec<Figures> = others.collect();
    let comparison = |measure| {
        let known: Vec<f64> = others.iter().filter_map(|figures| figures.of(measure)).collect();
        let value = figures.of(measure);
        let place = value.map(|own| known.iter().filter(|other| **other < own).count() as u64 + 1);
        Comparison { measure, value, place, similar: Spread::of(known) }
    };
    let comparisons = Measure::ALL.map(comparison).to_vec();
    Ok(context
        .answer(Headline { airport: selection.airport, figures, comparisons }, vec![airport_tallies.cost]))
}
