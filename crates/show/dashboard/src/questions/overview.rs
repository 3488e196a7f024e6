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
    /// Those of them whose month isn't known, which are in no month's figures.
    pub flights_without_month: u64,
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
    let (mut flights, mut flights_without_month) = (0, 0);
    for rows in ran.rows() {
        for (month, count) in rows.texts("month")?.into_iter().zip(rows.counts("flights")?) {
            flights += count;
            match month.and_then(|month| month.parse().ok()) {
                Some(month) => _ = known.insert(month, count),
                None => flights_without_month += count,
            }
        }
    }
    let ends = known.keys().next().copied().zip(known.keys().next_back().copied());
    let all = ends.and_then(|(first, last)| Months::new(first, last));
    let row = |month| MonthRow { month, flights: known.get(&month).copied().unwrap_or_default() };
    let months = all.into_iter().flat_map(|months| months.all()).map(row).collect();
    let has = |known: fn(&crate::Fact) -> bool| desk.facts.iter().any(|(_, fact)| known(fact));
    let mut similar_by = vec![SimilarBy::Flights];
    similar_by.extend(has(|fact| fact.passengers.is_some()).then_some(SimilarBy::Passengers));
    similar_by.extend(has(|fact| fact.population.is_some()).then_some(SimilarBy::Population));
    let overview = Overview { flights, flights_without_month, months, similar_by };
    Ok(desk.answer(overview, vec![ran.cost.clone()]))
}
