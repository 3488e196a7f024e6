//! The dashboard of an airport's manager: how the flights of an airport do, compared with similar airports, month by month, airline by airline,
//! and where it comes from. Its questions become SQL, and rows become answers; the page that shows them lies here, too. It knows no server and no
//! engine: a [`Runner`] runs statements. It must never put text from outside into a statement, nor give a rate of fewer flights than
//! [`RATE_FLIGHTS_MIN`].
//!
//! [`Parameters`] are what an address says; a [`Selection`] is what is looked at: an airport, months, and which airports are similar.

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
    Answer, Device, DeviceStatus, DevicesStatus, Measuring, PredictedQuery, QueryCost, SumsState, SumsStatus,
};
pub use assets::{Asset, asset};
pub use facts::{Fact, Facts, FactsError};
pub use figures::{Figures, Measure, RATE_FLIGHTS_MIN};
pub use month::{Month, Months, NotAMonth};
pub use parameters::{ParameterError, Parameters};
pub use questions::{Among, QuestionError};
pub use relation::{Relation, Sums, TableName};
pub use rows::{Ran, RowsError, Runner};
pub use selection::{Direction, Likeness, Selection, SimilarBy};
pub use spread::Spread;
pub use statement::{Period, Statement, missing_columns};
