//! Dashboard for the manager of an airport: its flights compared with similar airports, by month,
//! airline and destination. The crate turns questions into SQL and rows into answers, and contains
//! the page that shows them. It depends on no server and no engine: a [`Runner`] runs the
//! statements. It must never put external text into a statement, and must never give a rate of
//! fewer flights than [`RATE_FLIGHTS_MIN`].
//!
//! [`Parameters`] come from an address. A [`Selection`] is an airport, months, and the choice of
//! similar airports.

mod airport;
mod answer;
mod assets;
mod facts;
mod figures;
mod month;
mod parameters;
pub mod questions;
mod relation;
mod rows;
mod selection;
mod similar;
mod spread;
mod statement;

pub use airport::{AirportCode, NotAnAirport};
pub use answer::{
    Answer, Device, DeviceStatus, DevicesStatus, MeasurementState, PredictedQuery, QueryCost, SumsState,
    SumsStatus,
};
pub use assets::{Asset, asset};
pub use facts::{Fact, Facts, FactsError};
pub use figures::{Figures, Measure, RATE_FLIGHTS_MIN};
pub use month::{Month, Months, NotAMonth};
pub use parameters::{ParameterError, Parameters};
pub use questions::{QuestionError, RankScope};
pub use relation::{Relation, Sums, TableName};
pub use rows::{RowsError, Runner, StatementResult};
pub use selection::{Direction, PeerChoice, Selection, SimilarBy};
pub use spread::Spread;
pub use statement::{Period, Statement, missing_columns};
