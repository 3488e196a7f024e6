use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, QuestionError, Result};
use crate::figures::Tally;
use crate::statement::Statement;
use crate::{AirportCode, Answer, Figures, Runner, Selection};

/// The airlines of an airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Airlines {
    /// The airport.
    pub airport: AirportCode,
    /// The one with most flights here first.
    pub airlines: Vec<Airline>,
}

/// An airline here, and the same airline at all other airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Airline {
    /// Its code.
    pub airline: String,
    /// Its flights here.
    pub here: Figures,
    /// Its flights elsewhere; `null` where it has none.
    pub elsewhere: Option<Figures>,
    /// How many minutes more the mean delay is here than elsewhere; `null` where one isn't known.
    pub more_delay_minutes: Option<f64>,
}

/// Asks for the airlines of an airport.
///
/// # Errors
/// The query fails, or the airport has no flights.
pub async fn airlines<R: Runner>(desk: &Desk<'_, R>, selection: &Selection) -> Result<Answer<Airlines>, R> {
    let Selection { airport, months, direction, .. } = *selection;
    let ran = desk.run(&Statement::airlines(desk.months(), months, direction, airport)).await?;
    // Elsewhere, which flights without an airport are as well, and here.
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
        let usual = elsewhere.and_then(|elsewhere| elsewhere.mean_delay_minutes);
        let more_delay_minutes = here.mean_delay_minutes.zip(usual).map(|(here, usual)| here - usual);
        Some(Airline { airline, here, elsewhere, more_delay_minutes })
    });
    let mut airlines: Vec<Airline> = rows.collect();
    if airlines.is_empty() {
        return Err(QuestionError::NoFlights { airport });
    }
    airlines.sort_by_key(|row| std::cmp::Reverse(row.here.flights));
    Ok(desk.answer(Airlines { airport, airlines }, vec![ran.cost.clone()]))
}
