//! Flight records: loading, generating, and the 69 cubes of the Dashboard paper. It must never take more memory than it was told, or let a
//! bad row pass without a word.
//!
//! Flights have [one schema](flight_schema), whichever file they come from: [`CsvFlights`] reads what the publisher has issued in two
//! generations.

mod columns;
mod csv;
mod error;
mod rejects;
mod schema;

pub use csv::{CsvFlights, CsvOptions, LoadReport, Source};
pub use error::LoadError;
pub use rejects::{BadRow, Reject, Rejects};
pub use schema::{Column, flight_schema};
