use serde::Serialize;
use utoipa::ToSchema;

use super::{Desk, Result};
use crate::{AirportCode, Answer, Figures, Measure, Runner, Selection, Spread};

/// How an airport does beside similar ones.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Headline {
    /// The airport.
    pub airport: AirportCode,
    /// Its figures.
    pub figures: Figures,
    /// Each figure beside those of the similar airports.
    pub comparisons: Vec<Comparison>,
}

/// A figure beside those of the similar airports.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// Which figure.
    pub measure: Measure,
    /// The airport's own; `null` where it isn't known.
    pub value: Option<f64>,
    /// The similar airports'; `null` where none of theirs is known.
    pub similar: Option<Spread>,
    /// The airport's place among all of them whose figure is known, from 1, the least figure, on; `null` where its own isn't known.
    pub place: Option<u64>,
}

/// Asks for the headline figures.
///
/// # Errors
/// The query fails, the airport has no flights, or its size isn't known.
pub async fn headline<R: Runner>(desk: &Desk<'_, R>, selection: &Selection) -> Result<Answer<Headline>, R> {
    let counted = desk.counted(selection.months, selection.direction).await?;
    let figures = counted.of(selection.airport)?.figures();
    let similar = desk.similar(selection, &counted)?;
    let others = similar.iter().filter_map(|airport| counted.tallies.get(airport)).map(super::Tally::figures);
    let others: Vec<Figures> = others.collect();
    let comparison = |measure| {
        let known: Vec<f64> = others.iter().filter_map(|figures| figures.of(measure)).collect();
        let value = figures.of(measure);
        let place = value.map(|own| known.iter().filter(|other| **other < own).count() as u64 + 1);
        Comparison { measure, value, place, similar: Spread::of(known) }
    };
    let comparisons = Measure::ALL.map(comparison).to_vec();
    Ok(desk.answer(Headline { airport: selection.airport, figures, comparisons }, vec![counted.cost]))
}
