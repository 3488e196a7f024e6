//! Rows of the dashboard's statements, and the interface of their runner.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch};

use crate::figures::Tally;
use crate::{QueryCost, Relation, Statement};

/// Rows of a statement with their cost.
#[derive(Debug, Clone)]
pub struct StatementResult {
    /// Rows.
    pub batches: Vec<RecordBatch>,
    /// Cost of the statement.
    pub cost: QueryCost,
}

/// Runs statements over one version of a table.
pub trait Runner: Sync {
    /// Error of a statement.
    type Error;

    /// Version of the table's rows.
    fn version(&self) -> String;

    /// Table of flights.
    fn flights(&self) -> &Relation;

    /// Table of sums; `None` until it is ready.
    fn sums(&self) -> Option<&Relation>;

    /// Runs a statement to its last row.
    fn run(
        &self,
        statement: &Statement,
    ) -> impl Future<Output = Result<Arc<StatementResult>, Self::Error>> + Send;
}

/// Rows don't match the statement: a defect, or a table with other column types than flights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column} of a statement's rows: expected {expected}, got {got}")]
pub struct RowsError {
    /// Column.
    pub column: &'static str,
    /// Expected type.
    pub expected: &'static str,
    /// Actual type.
    pub got: String,
}

/// Batch with access to columns by name.
pub(crate) struct Rows<'a>(&'a RecordBatch);

impl StatementResult {
    /// All batches.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Rows<'_>> {
        self.batches.iter().map(Rows)
    }

    /// Keys with their tallies. Flights with an unknown key are left out.
    pub(crate) fn tallies(&self, key: &'static str) -> Result<Vec<(String, Tally)>, RowsError> {
        let mut all = Vec::new();
        for rows in self.rows() {
            let keyed = rows.texts(key)?.into_iter().zip(rows.tallies()?);
            all.extend(keyed.filter_map(|(key, tally)| Some((key?, tally))));
        }
        Ok(all)
    }
}

impl Rows<'_> {
    fn column(&self, column: &'static str) -> Result<&ArrayRef, RowsError> {
        let got = || {
            let schema = self.0.schema();
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            format!("only {}", names.join(", "))
        };
        self.0.column_by_name(column).ok_or_else(|| RowsError { column, expected: "a column", got: got() })
    }

    /// Texts; `None` for null.
    pub(crate) fn texts(&self, column: &'static str) -> Result<Vec<Option<String>>, RowsError> {
        let array = self.column(column)?;
        if let Some(texts) = array.as_string_view_opt() {
            Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
        } else if let Some(texts) = array.as_string_opt::<i32>() {
            Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
        } else {
            Err(RowsError { column, expected: "texts", got: array.data_type().to_string() })
        }
    }

    /// Numbers; null, the sum of no rows, counts as 0.
    pub(crate) fn numbers(&self, column: &'static str) -> Result<Vec<i64>, RowsError> {
        let array = self.column(column)?;
        let got = || RowsError { column, expected: "whole numbers", got: array.data_type().to_string() };
        let numbers = array.as_primitive_opt::<Int64Type>().ok_or_else(got)?;
        Ok(numbers.iter().map(Option::unwrap_or_default).collect())
    }

    /// Counts, which are never negative.
    pub(crate) fn counts(&self, column: &'static str) -> Result<Vec<u64>, RowsError> {
        let count = |number: i64| {
            u64::try_from(number).map_err(|_| RowsError {
                column,
                expected: "counts",
                got: number.to_string(),
            })
        };
        self.numbers(column)?.into_iter().map(count).collect()
    }

    /// Tally of each row.
    pub(crate) fn tallies(&self) -> Result<Vec<Tally>, RowsError> {
        let (flights, cancelled) = (self.counts("flights")?, self.counts("cancelled")?);
        let (diverted, arrived) = (self.counts("diverted")?, self.counts("arrived")?);
        let (late, delays) = (self.counts("late")?, self.numbers("delay_minutes")?);
        let counts = flights.into_iter().zip(cancelled).zip(diverted.into_iter().zip(arrived));
        let all = counts.zip(late.into_iter().zip(delays));
        Ok(all
            .map(|(((flights, cancelled), (diverted, arrived)), (late, delay_minutes))| Tally {
                flights,
                cancelled,
                diverted,
                arrived,
                delay_minutes,
                late,
            })
            .collect())
    }
}
