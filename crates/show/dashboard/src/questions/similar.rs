use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, Result};
use crate::{AirportCode, Answer, PeerChoice, Runner, Selection, SimilarBy};

/// Airports that an airport is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Similar {
    /// Airport.
    pub airport: AirportCode,
    /// Name, if it is known.
    pub name: Option<String>,
    /// Count that determines similarity; `null` for a list of the user's.
    pub by: Option<SimilarBy>,
    /// Count of the airport; its flights for a list of the user's.
    pub count: Option<u64>,
    /// Similar airports, the most similar first.
    pub similar: Vec<SimilarRow>,
}

/// Similar airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SimilarRow {
    /// Airport.
    pub airport: AirportCode,
    /// Name, if it is known.
    pub name: Option<String>,
    /// Count; `null` if it is unknown.
    pub count: Option<u64>,
}

/// Queries the similar airports.
///
/// # Errors
/// The query fails, the airport has no flights, or its size is unknown.
pub async fn similar<R: Runner>(
    context: &QueryContext<'_, R>,
    selection: &Selection,
) -> Result<Answer<Similar>, R> {
    let airport_tallies = context.airport_tallies(selection.months, selection.direction).await?;
    airport_tallies.of(selection.airport)?;
    let by = match selection.peers {
        PeerChoice::Nearest { by, .. } => Some(by),
        PeerChoice::Listed(_) => None,
    };
    let size = |airport: AirportCode| {
        let tally = airport_tallies.tallies.get(&airport).copied().unwrap_or_default();
        context.size(airport, &tally, by.unwrap_or(SimilarBy::Flights))
    };
    let row =
        |airport: AirportCode| SimilarRow { airport, name: context.name(airport), count: size(airport) };
    let similar = context.similar(selection, &airport_tallies)?.into_iter().map(row).collect();
    let airport = selection.airport;
    let similar = Similar { airport, name: context.name(airport), by, count: size(airport), similar };
    Ok(context.answer(similar, vec![airport_tallies.cost.clone()]))
}
