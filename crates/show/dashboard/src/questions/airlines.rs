use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, QuestionError, Result};
use crate::figures::Tally;
use crate::statement::Statement;
use crate::{AirportCode, Answer, Figures, Runner, Selection};

/// Airlines of an airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Airlines {
    /// Airport.
    pub airport: AirportCode,
    /// Airlines, the one with most flights here first.
    pub airlines: Vec<Airline>,
}

/// Airline at this airport and at all others.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Airline {
    /// Code of the airline.
    pub airline: String,
    /// Flights at this airport.
    pub here: Figures,
    /// Flights at other airports; `null` if there are none.
    pub elsewhere: Option<Figures>,
    /// Mean delay here minus mean delay elsewhere, in minutes; `null` if one is unknown.
    pub more_delay_minutes: Option<f64>,
}

/// Queries the airlines of an airport.
///
/// # Errors
/// The query fails, or the airport has no flights.
pub async fn airlines<R: Runner>(
    context: &QueryContext<'_, R>,
    selection: &Selection,
) -> Result<Answer<Airlines>, R> {
    let Selection { airport, months, direction, .. } = *selection;
    let ran = context.run(&Statement::airlines(context.months(), months, direction, airport)).await?;
    // Tallies elsewhere, including flights without an airport, and here.
    let mut found: BTreeMap<String, [Option<Tally>; 2]> = BTreeMap::new();
    for rows in ran.rows() {
        let keys = rows.texts("airline")?.into_iter().zip(rows.counts("here")?);
        for ((airline, here), tally) in keys.zip(rows.tallies()?) {
            let Some(airline) = airline else { continue };
            if let Some(slot) = found.entry(airline).or_default().get_mut(usize::from(here > 0)) {
                *slot = Some(slot.unwrap_or_default().with(tally));
            }
        }
    }
    let rows = found.into_iter().filter_map(|(airline, [elsewhere, here])| {
        let (here, elsewhere) = (here?.figures(), elsewhere.map(|tally| tally.figures()));
        let mean_elsewhere = elsewhere.and_then(|elsewhere| elsewhere.mean_delay_minutes);
        let more_delay_minutes =
            here.mean_delay_minutes.zip(mean_elsewhere).map(|(here, elsewhere)| here - elsewhere);
        Some(Airline { airline, here, elsewhere, more_delay_minutes })
    });
    let mut airlines: Vec<Airline> = rows.collect();
    if airlines.is_empty() {
        return Err(QuestionError::NoFlights { airport });
    }
    airlines.sort_by_key(|row| std::cmp::Reverse(row.here.flights));
    Ok(context.answer(Airlines { airport, airlines }, vec![ran.cost.clone()]))
}
