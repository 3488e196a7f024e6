use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Result};
use crate::figures::Tally;
use crate::parameters::{ParameterError, Parameters, choice};
use crate::statement::{Period, Statement};
use crate::{AirportCode, Answer, Figures, Measure, Runner, Selection, Spread};

/// A selection over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesView {
    selection: Selection,
    measure: Measure,
    period: Period,
}

/// A figure over time, beside the similar airports'.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Series {
    /// The airport.
    pub airport: AirportCode,
    /// Which figure the range is of.
    pub measure: Measure,
    /// How long each period is.
    pub period: Period,
    /// Every period of the months, in order.
    pub moments: Vec<Moment>,
}

/// A period of a series.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Moment {
    /// A year, a month or a day: `2008`, `2008-01`, `2008-01-31`.
    pub period: String,
    /// Whether the table has flights in it, of this airport or of a similar one.
    pub has_data: bool,
    /// The airport's figures; `null` where it has no flights.
    pub figures: Option<Figures>,
    /// The similar airports'; `null` where none of theirs is known.
    pub similar: Option<Spread>,
}

impl SeriesView {
    /// The parameters that it has.
    pub const PARAMETERS: [&str; 9] =
        ["airport", "from", "to", "direction", "by", "count", "similar", "measure", "period"];

    /// What an address asks for.
    ///
    /// # Errors
    /// A parameter is missing, or isn't what it should be.
    pub fn parse(mut parameters: Parameters) -> std::result::Result<Self, ParameterError> {
        let selection = parameters.selection()?;
        let measure = parameters.measure()?;
        let all = [Period::Year, Period::Month, Period::Day].map(|period| (period.name(), period));
        let period = choice(&mut parameters, "period", &all)?;
        parameters.finish(&Self::PARAMETERS)?;
        let usual = Period::usual(selection.months);
        let view = Self { selection, measure, period: period.unwrap_or(usual) };
        // Days of many years are more points than a screen has.
        if view.period == Period::Day && view.selection.months.count() > DAILY_MONTHS_MAX {
            let expected = format!("year or month: days of up to {DAILY_MONTHS_MAX} months");
            return Err(ParameterError::Invalid { name: "period", expected });
        }
        Ok(view)
    }
}

/// Of so many months days are shown at most.
const DAILY_MONTHS_MAX: u16 = 24;

impl fmt::Display for SeriesView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { selection, measure, period } = self;
        write!(f, "{selection}&measure={}&period={}", measure.name(), period.name())
    }
}

/// Asks for a series.
///
/// # Errors
/// A query fails, the airport has no flights, or its size isn't known.
pub async fn series<R: Runner>(desk: &Desk<'_, R>, view: &SeriesView) -> Result<Answer<Series>, R> {
    let SeriesView { selection, measure, period } = view;
    let (airport, months, direction) = (selection.airport, selection.months, selection.direction);
    let counted = desk.counted(months, direction).await?;
    counted.of(airport)?;
    let mut airports: BTreeSet<AirportCode> = desk.similar(selection, &counted)?.into_iter().collect();
    airports.insert(airport);
    let statement = Statement::series(desk.periods(*period), months, direction, &airports, *period);
    let ran = desk.run(&statement).await?;
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
    Ok(desk.answer(series, vec![counted.cost, ran.cost.clone()]))
}
