use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, Result};
use crate::statement::Statement;
use crate::{Answer, Month, Months, Runner, SimilarBy};

/// Content of the table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Overview {
    /// All flights.
    pub flights: u64,
    /// Flights with an unknown month, which no month includes.
    pub flights_without_month: u64,
    /// Every month from the first to the last with flights, including months without data.
    pub months: Vec<MonthRow>,
    /// Counts that similar airports can be chosen by.
    pub similar_by: Vec<SimilarBy>,
}

/// Month with its number of flights.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct MonthRow {
    /// Month.
    pub month: Month,
    /// Flights; 0 if the table has no data for the month.
    pub flights: u64,
}

/// Queries the overview.
///
/// # Errors
/// The query fails.
pub async fn overview<R: Runner>(context: &QueryContext<'_, R>) -> Result<Answer<Overview>, R> {
    let ran = context.run(&Statement::months(context.months())).await?;
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
    let has = |known: fn(&crate::Fact) -> bool| context.facts.iter().any(|(_, fact)| known(fact));
    let mut similar_by = vec![SimilarBy::Flights];
    similar_by.extend(has(|fact| fact.passengers.is_some()).then_some(SimilarBy::Passengers));
    similar_by.extend(has(|fact| fact.population.is_some()).then_some(SimilarBy::Population));
    let overview = Overview { flights, flights_without_month, months, similar_by };
    Ok(context.answer(overview, vec![ran.cost.clone()]))
}
