use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Result};
use crate::parameters::{ParameterError, Parameters, choice};
use crate::{AirportCode, Answer, Figures, Measure, Runner, Selection};

/// Which airports are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    /// The similar ones.
    Similar,
    /// All.
    All,
}

/// A selection, ranked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingView {
    selection: Selection,
    measure: Measure,
    among: Among,
}

/// Airports by a figure.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Ranking {
    /// Which figure.
    pub measure: Measure,
    /// Which airports.
    pub among: Among,
    /// The one with the least figure first; of flights the one with most. Those whose figure isn't known come last.
    pub airports: Vec<Ranked>,
}

/// An airport's place.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Ranked {
    /// From 1 on, equal figures share one; `null` where the figure isn't known.
    pub place: Option<u64>,
    /// The airport.
    pub airport: AirportCode,
    /// Its name, where known.
    pub name: Option<String>,
    /// Whether it is the one that is looked at.
    pub is_own: bool,
    /// Whether it is one of the similar ones.
    pub is_similar: bool,
    /// Its figures.
    pub figures: Figures,
}

impl RankingView {
    /// The parameters that it has.
    pub const PARAMETERS: [&str; 9] =
        ["airport", "from", "to", "direction", "by", "count", "similar", "measure", "among"];

    /// What an address asks for.
    ///
    /// # Errors
    /// A parameter is missing, or isn't what it should be.
    pub fn parse(mut parameters: Parameters) -> std::result::Result<Self, ParameterError> {
        let (selection, measure) = (parameters.selection()?, parameters.measure()?);
        let all = [("similar", Among::Similar), ("all", Among::All)];
        let among = choice(&mut parameters, "among", &all)?.unwrap_or(Among::Similar);
        parameters.finish(&Self::PARAMETERS)?;
        Ok(Self { selection, measure, among })
    }
}

impl Parameters {
    /// `measure`; the mean delay where none is said.
    pub(super) fn measure(&mut self) -> std::result::Result<Measure, ParameterError> {
        let all = Measure::ALL.map(|measure| (measure.name(), measure));
        Ok(choice(self, "measure", &all)?.unwrap_or(Measure::MeanDelay))
    }
}

impl fmt::Display for RankingView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { selection, measure, among } = self;
        let among = match among {
            Among::Similar => "similar",
            Among::All => "all",
        };
        write!(f, "{selection}&measure={}&among={among}", measure.name())
    }
}

/// Asks for a ranking.
///
/// # Errors
/// The query fails, the airport has no flights, or its size isn't known.
pub async fn ranking<R: Runner>(desk: &Desk<'_, R>, view: &RankingView) -> Result<Answer<Ranking>, R> {
    let RankingView { selection, measure, among } = view;
    let counted = desk.counted(selection.months, selection.direction).await?;
    counted.of(selection.airport)?;
    let similar = desk.similar(selection, &counted)?;
    let rows = counted.tallies.iter().map(|(airport, tally)| Ranked {
        place: None,
        airport: *airport,
        name: desk.name(*airport),
        is_own: *airport == selection.airport,
        is_similar: similar.contains(airport),
        figures: tally.figures(),
    });
    let rows = rows.filter(|row| *among == Among::All || row.is_own || row.is_similar);
    let airports = ranked(rows.collect(), *measure);
    Ok(desk.answer(Ranking { measure: *measure, among: *among, airports }, vec![counted.cost]))
}

fn ranked(mut rows: Vec<Ranked>, measure: Measure) -> Vec<Ranked> {
    let key = |row: &Ranked| {
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
