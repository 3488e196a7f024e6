//! The questions, each from a view's parameters to its answer.

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
pub use ranking::{Among, Ranked, Ranking, RankingView, ranking};
pub use series::{Moment, Series, SeriesView, series};
pub use similar::{Similar, SimilarRow, similar};

use crate::figures::Tally;
use crate::statement::{Period, Statement};
use crate::{
    AirportCode, Answer, Direction, Facts, Likeness, Months, QueryCost, Ran, Relation, RowsError, Runner,
    Selection, SimilarBy,
};

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError<E> {
    /// A statement failed.
    #[error("a query failed")]
    Query(E),
    /// Rows aren't as they should be.
    #[error("{0}; the table's columns are of other types than those of flights")]
    Rows(#[from] RowsError),
    /// There is no such airport in the table's months.
    #[error("{airport} has no flights in these months")]
    NoFlights {
        /// The airport.
        airport: AirportCode,
    },
    /// What airports are to be similar by isn't known of this one.
    #[error(
        "how many {of} {airport} has isn't known: the file of --airports doesn't say it; choose similar airports by flights, or list some"
    )]
    NoFact {
        /// The airport.
        airport: AirportCode,
        /// What isn't known.
        of: &'static str,
    },
}

/// What questions are asked of.
#[derive(Debug)]
pub struct Desk<'a, R> {
    /// Runs the statements.
    pub runner: &'a R,
    /// What is known beside the flights.
    pub facts: &'a Facts,
}

type Result<T, R> = std::result::Result<T, QuestionError<<R as Runner>::Error>>;

/// The counts of all airports.
struct Counted {
    tallies: BTreeMap<AirportCode, Tally>,
    cost: QueryCost,
}

impl<R: Runner> Desk<'_, R> {
    /// What is asked where periods are whole months or longer: sums, if there are any.
    fn months(&self) -> &Relation {
        self.runner.sums().unwrap_or_else(|| self.runner.flights())
    }

    /// What is asked for periods of a length.
    fn periods(&self, period: Period) -> &Relation {
        match period {
            Period::Year | Period::Month => self.months(),
            Period::Day => self.runner.flights(),
        }
    }

    async fn run(&self, statement: &Statement) -> Result<Arc<Ran>, R> {
        self.runner.run(statement).await.map_err(QuestionError::Query)
    }

    fn answer<T>(&self, figures: T, queries: Vec<QueryCost>) -> Answer<T> {
        Answer { version: self.runner.version(), figures, queries }
    }

    async fn counted(&self, months: Months, direction: Direction) -> Result<Counted, R> {
        let ran = self.run(&Statement::airports(self.months(), months, direction)).await?;
        let rows = ran.tallies("airport")?;
        // A table of other people's may have longer codes: they are no airports of ours.
        let tallies = rows.into_iter().filter_map(|(code, tally)| Some((code.parse().ok()?, tally)));
        Ok(Counted { tallies: tallies.collect(), cost: ran.cost.clone() })
    }

    /// The airports that are similar, nearest first; an own list in its order.
    fn similar(&self, selection: &Selection, counted: &Counted) -> Result<Vec<AirportCode>, R> {
        let (by, count) = match &selection.likeness {
            Likeness::Listed(listed) => return Ok(listed.clone()),
            Likeness::Nearest { by, count } => (*by, *count),
        };
        let airport = selection.airport;
        let counts: BTreeMap<AirportCode, u64> = counted
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

    /// By what an airport is compared in size; `None` where it isn't known.
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

impl Counted {
    fn of<E>(&self, airport: AirportCode) -> std::result::Result<Tally, QuestionError<E>> {
        self.tallies.get(&airport).copied().ok_or(QuestionError::NoFlights { airport })
    }
}
