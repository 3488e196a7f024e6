//! Questions of the dashboard: from the parameters of a view to its answer.

mod airlines;
mod airports;
mod headline;
mod overview;
mod pairs;
mod ranking;
mod series;
mod similar;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use airlines::{Airline, Airlines, airlines};
pub use airports::{AirportRow, Airports, Search, airports};
pub use headline::{Comparison, Headline, headline};
pub use overview::{MonthRow, Overview, overview};
pub use pairs::{Pair, PairAirline, PairRow, PairView, Pairs, pair, pairs};
pub use ranking::{RankScope, RankedAirport, Ranking, RankingView, ranking};
pub use series::{Moment, Series, SeriesView, series};
pub use similar::{Similar, SimilarRow, similar};

use crate::figures::Tally;
use crate::statement::{Period, Statement};
use crate::{
    AirportCode, Answer, Direction, Facts, Months, PeerChoice, QueryCost, Relation, RowsError, Runner,
    Selection, SimilarBy, StatementResult,
};

/// Reason for a missing answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError<E> {
    /// A statement failed.
    #[error("a query failed")]
    Query(E),
    /// Rows don't match the statement.
    #[error("{0}; the table's column types differ from those of flights")]
    Rows(#[from] RowsError),
    /// The airport has no flights in these months.
    #[error("{airport} has no flights in these months")]
    NoFlights {
        /// Airport.
        airport: AirportCode,
    },
    /// The count that determines similar airports is unknown for this airport.
    #[error(
        "{airport} has no known {of}: the file of --airports lacks it; choose similar airports by flights, or list some"
    )]
    NoFact {
        /// Airport.
        airport: AirportCode,
        /// Unknown count.
        of: &'static str,
    },
}

/// Context of a question: the runner and the facts.
#[derive(Debug)]
pub struct QueryContext<'a, R> {
    /// Runs the statements.
    pub runner: &'a R,
    /// Facts that flight records lack.
    pub facts: &'a Facts,
}

type Result<T, R> = std::result::Result<T, QuestionError<<R as Runner>::Error>>;

/// Tallies of all airports.
struct AirportTallies {
    tallies: BTreeMap<AirportCode, Tally>,
    cost: QueryCost,
}

impl<R: Runner> QueryContext<'_, R> {
    /// Relation for periods of whole months or longer: sums if they are ready.
    fn months(&self) -> &Relation {
        self.runner.sums().unwrap_or_else(|| self.runner.flights())
    }

    /// Relation for periods of a given length.
    fn periods(&self, period: Period) -> &Relation {
        match period {
            Period::Year | Period::Month => self.months(),
            Period::Day => self.runner.flights(),
        }
    }

    async fn run(&self, statement: &Statement) -> Result<Arc<StatementResult>, R> {
        self.runner.run(statement).await.map_err(QuestionError::Query)
    }

    fn answer<T>(&self, figures: T, queries: Vec<QueryCost>) -> Answer<T> {
        Answer { version: self.runner.version(), figures, queries }
    }

    async fn airport_tallies(&self, months: Months, direction: Direction) -> Result<AirportTallies, R> {
        let ran = self.run(&Statement::airports(self.months(), months, direction)).await?;
        let rows = ran.tallies("airport")?;
        // Tables of other origin may have longer codes, which aren't airport codes.
        let tallies = rows.into_iter().filter_map(|(code, tally)| Some((code.parse().ok()?, tally)));
        Ok(AirportTallies { tallies: tallies.collect(), cost: ran.cost.clone() })
    }

    /// Similar airports, nearest first; a list of the user's in its order.
    fn similar(
        &self,
        selection: &Selection,
        airport_tallies: &AirportTallies,
    ) -> Result<Vec<AirportCode>, R> {
        let (by, count) = match &selection.peers {
            PeerChoice::Listed(listed) => return Ok(listed.clone()),
            PeerChoice::Nearest { by, count } => (*by, *count),
        };
        let airport = selection.airport;
        let counts: BTreeMap<AirportCode, u64> = airport_tallies
            .tallies
            .iter()
            .filter_map(|(code, tally)| Some((*code, self.size(*code, tally, by)?)))
            .collect();
        match counts.get(&airport) {
            Some(own) if *own > 0 => Ok(crate::similar::nearest(airport, *own, &counts, count)),
            _ if by == SimilarBy::Flights => Err(QuestionError::NoFlights { airport }),
            _ => Err(QuestionError::NoFact { airport, of: by.name() }),
        }
    }

    /// Size that an airport is compared by; `None` if it is unknown.
    fn size(&self, airport: AirportCode, tally: &Tally, by: SimilarBy) -> Option<u64> {
        match by {
            SimilarBy::Flights => Some(tally.flights),
            SimilarBy::Passengers => self.facts.of(airport)?.passengers,
            SimilarBy::Population => self.facts.of(airport)?.population,
        }
    }

    fn name(&self, airport: AirportCode) -> Option<String> {
        self.facts.of(airport)?.name.clone()
    }
}

impl AirportTallies {
    fn of<E>(&self, airport: AirportCode) -> std::result::Result<Tally, QuestionError<E>> {
        self.tallies.get(&airport).copied().ok_or(QuestionError::NoFlights { airport })
    }
}
