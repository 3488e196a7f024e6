use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, Result};
use crate::figures::Tally;
use crate::parameters::{ParameterError, Parameters, choice};
use crate::statement::{Period, Statement};
use crate::{AirportCode, Answer, Figures, Measure, Runner, Selection, Spread};

/// Selection over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesView {
    selection: Selection,
    measure: Measure,
    period: Period,
}

/// Figure over time, compared with the similar airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Series {
    /// Airport.
    pub airport: AirportCode,
    /// Figure of the range.
    pub measure: Measure,
    /// Length of a period.
    pub period: Period,
    /// All periods of the months in order.
    pub moments: Vec<Moment>,
}

/// Period of a series.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Moment {
    /// Year, month or day: `2008`, `2008-01`, `2008-01-31`.
    pub period: String,
    /// True if the table has flights of this airport or a similar one in the period.
    pub has_data: bool,
    /// Figures of the airport; `null` if it has no flights.
    pub figures: Option<Figures>,
    /// Range of the similar airports; `null` if all are unknown.
    pub similar: Option<Spread>,
}

impl SeriesView {
    /// Parameters of the view.
    pub const PARAMETERS: [&str; 9] =
        ["airport", "from", "to", "direction", "by", "count", "similar", "measure", "period"];

    /// Parses the parameters of an address.
    ///
    /// # Errors
    /// A parameter is missing or invalid.
    pub fn parse(mut parameters: Parameters) -> std::result::Result<Self, ParameterError> {
        let selection = parameters.selection()?;
        let measure = parameters.measure()?;
        let all = [Period::Year, Period::Month, Period::Day].map(|period| (period.name(), period));
        let period = choice(&mut parameters, "period", &all)?;
        parameters.finish(&Self::PARAMETERS)?;
        let default = Period::default_for(selection.months);
        let view = Self { selection, measure, period: period.unwrap_or(default) };
        // Days of many years would be more points than a screen shows.
        if view.period == Period::Day && view.selection.months.count() > DAILY_MONTHS_MAX {
            let expected = format!("year or month; day only for up to {DAILY_MONTHS_MAX} months");
            return Err(ParameterError::Invalid { name: "period", expected });
        }
        Ok(view)
    }
}

/// Greatest number of months shown by days.
const DAILY_MONTHS_MAX: u16 = 24;

impl fmt::Display for SeriesView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { selection, measure, period } = self;
        write!(f, "{selection}&measure={}&period={}", measure.name(), period.name())
    }
}

/// Queries a series.
///
/// # Errors
/// A query fails, the airport has no flights, or its size is unknown.
pub async fn series<R: Runner>(
    context: &QueryContext<'_, R>,
    view: &SeriesView,
) -> Result<Answer<Series>, R> {
    let SeriesView { selection, measure, period } = view;
    let (airport, months, direction) = (selection.airport, selection.months, selection.direction);
    let airport_tallies = context.airport_tallies(months, direction).await?;
    airport_tallies.of(airport)?;
    let mut airports: BTreeSet<AirportCode> =
        context.similar(selection, &airport_tallies)?.into_iter().collect();
    airports.insert(airport);
    let statement = Statement::series(context.periods(*period), months, direction, &airports, *period);
    let ran = context.run(&statement).await?;
    let mut tallies: BTreeMap<String, BTreeMap<String, Tally>> = BTreeMap::new();
    for rows in ran.rows() {
        let keys = rows.texts("period")?.into_iter().zip(rows.texts("airport")?);
        for ((moment, code), tally) in keys.zip(rows.tallies()?) {
            let (Some(moment), Some(code)) = (moment, code) else { continue };
            tallies.entry(moment).or_default().insert(code, tally);
        }
    }
    let moments = period.all(months).into_iter().map(|name| {
        let of_moment = tallies.remove(&name).unwrap_or_default();
        let others = of_moment.iter().filter(|(code, _)| *code != airport.as_str());
        let known = others.filter_map(|(_, tally)| tally.figures().of(*measure));
        Moment {
            has_data: !of_moment.is_empty(),
            figures: of_moment.get(airport.as_str()).map(Tally::figures),
            similar: Spread::of(known),
            period: name,
        }
    });
    let series = Series { airport, measure: *measure, period: *period, moments: moments.collect() };
    Ok(context.answer(series, vec![airport_tallies.cost, ran.cost.clone()]))
}
