use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Result};
use crate::statement::Statement;
use crate::{Answer, Month, Months, Runner, SimilarBy};

/// What there is to look at.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Overview {
    /// All flights.
    pub flights: u64,
    /// Every month from the first with flights to the last; those without data have none.
    pub months: Vec<MonthRow>,
    /// By what airports can be similar.
    pub similar_by: Vec<SimilarBy>,
}

/// A month.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MonthRow {
    /// The month.
    pub month: Month,
    /// Its flights; 0 where the table has no data of it.
    pub flights: u64,
}

/// Asks what there is.
///
/// # Errors
/// The query fails.
pub async fn overview<R: Runner>(desk: &Desk<'_, R>) -> Result<Answer<Overview>, R> {
    let ran = desk.run(&Statement::months(desk.months())).await?;
    let mut known = std::collections::BTreeMap::<Month, u64>::new();
    let mut flights = 0;
    for rows in ran.rows() {
        for (month, count) in rows.texts("month")?.into_iter().zip(rows.counts("flights")?) {
            flights += count;
            if let Ok(month) = month.parse() {
                known.insert(month, count);
            }
        }
    }
    let ends = known.keys().next().copied().zip(known.keys().next_back().copied());
    let all = ends.and_then(|(first, last)| Months::new(first, last));
    let row = |month| MonthRow { month, flights: known.get(&month).copied().unwrap_or_default() };
    let months = all.into_iter().flat_map(|months| months.all()).map(row).collect();
    let has = |known: fn(&crate::Fact) -> bool| desk.facts.iter().any(|(_, fact)| known(fact));
    let mut similar_by = vec![SimilarBy::Departures];
    similar_by.extend(has(|fact| fact.passengers.is_some()).then_some(SimilarBy::Passengers));
    similar_by.extend(has(|fact| fact.population.is_some()).then_some(SimilarBy::Population));
    let overview = Overview { flights, months, similar_by };
    Ok(desk.answer(overview, vec![ran.cost.clone()]))
}
