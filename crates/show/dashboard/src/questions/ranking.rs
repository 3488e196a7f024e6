use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{QueryContext, Result};
use crate::parameters::{ParameterError, Parameters, choice};
use crate::{AirportCode, Answer, Figures, Measure, Runner, Selection};

/// Airports in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankScope {
    /// Similar airports.
    Similar,
    /// All airports.
    All,
}

/// Selection with the measure of a ranking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingView {
    selection: Selection,
    measure: Measure,
    among: RankScope,
}

/// Airports ranked by a figure.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Ranking {
    /// Figure of the ranking.
    pub measure: Measure,
    /// Scope of the ranking.
    pub among: RankScope,
    /// Airports in ascending order of the figure; for flights in descending order. Unknown figures
    /// come last.
    pub airports: Vec<RankedAirport>,
}

/// Airport with its place.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RankedAirport {
    /// Place from 1; equal figures share one. `null` if the figure is unknown.
    pub place: Option<u64>,
    /// Airport.
    pub airport: AirportCode,
    /// Name, if it is known.
    pub name: Option<String>,
    /// True for the selected airport.
    pub is_own: bool,
    /// True for similar airports.
    pub is_similar: bool,
    /// Figures of the airport.
    pub figures: Figures,
}

impl RankingView {
    /// Parameters of the view.
    pub const PARAMETERS: [&str; 9] =
        ["airport", "from", "to", "direction", "by", "count", "similar", "measure", "among"];

    /// Parses the parameters of an address.
    ///
    /// # Errors
    /// A parameter is missing or invalid.
    pub fn parse(mut parameters: Parameters) -> std::result::Result<Self, ParameterError> {
        let (selection, measure) = (parameters.selection()?, parameters.measure()?);
        let all = [("similar", RankScope::Similar), ("all", RankScope::All)];
        let among = choice(&mut parameters, "among", &all)?.unwrap_or(RankScope::Similar);
        parameters.finish(&Self::PARAMETERS)?;
        Ok(Self { selection, measure, among })
    }
}

impl Parameters {
    /// Takes `measure`; the mean delay by default.
    pub(super) fn measure(&mut self) -> std::result::Result<Measure, ParameterError> {
        let all = Measure::ALL.map(|measure| (measure.name(), measure));
        Ok(choice(self, "measure", &all)?.unwrap_or(Measure::MeanDelay))
    }
}

impl fmt::Display for RankingView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { selection, measure, among } = self;
        let among = match among {
            RankScope::Similar => "similar",
            RankScope::All => "all",
        };
        write!(f, "{selection}&measure={}&among={among}", measure.name())
    }
}

/// Queries a ranking.
///
/// # Errors
/// The query fails, the airport has no flights, or its size is unknown.
pub async fn ranking<R: Runner>(
    context: &QueryContext<'_, R>,
    view: &RankingView,
) -> Result<Answer<Ranking>, R> {
    let RankingView { selection, measure, among } = view;
    let airport_tallies = context.airport_tallies(selection.months, selection.direction).await?;
    airport_tallies.of(selection.airport)?;
    let similar = context.similar(selection, &airport_tallies)?;
    let rows = airport_tallies.tallies.iter().map(|(airport, tally)| RankedAirport {
        place: None,
        airport: *airport,
        name: context.name(*airport),
        is_own: *airport == selection.airport,
        is_similar: similar.contains(airport),
        figures: tally.figures(),
    });
    let rows = rows.filter(|row| *among == RankScope::All || row.is_own || row.is_similar);
    let airports = rank(rows.collect(), *measure);
    Ok(context.answer(Ranking { measure: *measure, among: *among, airports }, vec![airport_tallies.cost]))
}

fn rank(mut rows: Vec<RankedAirport>, measure: Measure) -> Vec<RankedAirport> {
    let key = |row: &RankedAirport| {
        let figure = row.figures.of(measure);
        if measure == Measure::Flights { figure.map(|flights| -flights) } else { figure }
    };
    rows.sort_by(|one, other| {
        let (one_key, other_key) = (key(one), key(other));
        let known = other_key.is_some().cmp(&one_key.is_some());
        let by_figure = one_key.unwrap_or_default().total_cmp(&other_key.unwrap_or_default());
        known.then(by_figure).then(one.airport.cmp(&other.airport))
    });
    let mut last: Option<(f64, u64)> = None;
    for (row, at) in rows.iter_mut().zip(1_u64..) {
        let Some(figure) = key(row) else { break };
        let place = match last {
            Some((before, place)) if before.total_cmp(&figure).is_eq() => place,
            _ => at,
        };
        (row.place, last) = (Some(place), Some((figure, place)));
    }
    rows
}
