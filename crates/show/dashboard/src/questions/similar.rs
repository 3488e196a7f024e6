use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Result};
use crate::{AirportCode, Answer, Likeness, Runner, Selection, SimilarBy};

/// The airports that an airport is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Similar {
    /// The airport.
    pub airport: AirportCode,
    /// Its name, where known.
    pub name: Option<String>,
    /// By what they are similar; `null` for a list of one's own.
    pub by: Option<SimilarBy>,
    /// The airport's own count; of a list of one's own its flights.
    pub count: Option<u64>,
    /// The similar airports, the most similar one first.
    pub similar: Vec<SimilarRow>,
}

/// A similar airport.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SimilarRow {
    /// The airport.
    pub airport: AirportCode,
    /// Its name, where known.
    pub name: Option<String>,
    /// Its count; `null` where it isn't known.
    pub count: Option<u64>,
}

/// Asks which airports are similar.
///
/// # Errors
/// The query fails, the airport has no flights, or its size isn't known.
pub async fn similar<R: Runner>(desk: &Desk<'_, R>, selection: &Selection) -> Result<Answer<Similar>, R> {
    let counted = desk.counted(selection.months, selection.direction).await?;
    counted.of(selection.airport)?;
    let by = match selection.likeness {
        Likeness::Nearest { by, .. } => Some(by),
        Likeness::Listed(_) => None,
    };
    let size = |airport: AirportCode| {
        let tally = counted.tallies.get(&airport).copied().unwrap_or_default();
        desk.size(airport, &tally, by.unwrap_or(SimilarBy::Flights))
    };
    let row = |airport: AirportCode| SimilarRow { airport, name: desk.name(airport), count: size(airport) };
    let similar = desk.similar(selection, &counted)?.into_iter().map(row).collect();
    let airport = selection.airport;
    let similar = Similar { airport, name: desk.name(airport), by, count: size(airport), similar };
    Ok(desk.answer(similar, vec![counted.cost.clone()]))
}
