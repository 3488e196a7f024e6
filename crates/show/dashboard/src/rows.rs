//! Rows of the dashboard's statements, and who runs those.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch};

use crate::figures::Tally;
use crate::{QueryCost, Relation, Statement};

/// The rows of a statement, and what it took.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// What they took.
    pub cost: QueryCost,
}

/// Runs statements, all over the same version of a table.
pub trait Runner: Sync {
    /// What can go wrong.
    type Error;

    /// Which version of the table's rows it is over.
    fn version(&self) -> String;

    /// The flights.
    fn flights(&self) -> &Relation;

    /// Their sums; `None` while there are none.
    fn sums(&self) -> Option<&Relation>;

    /// Runs a statement to its last row.
    fn run(&self, statement: &Statement) -> impl Future<Output = Result<Arc<Ran>, Self::Error>> + Send;
}

/// Rows aren't what the statement asked for, which is a defect or a table of other types than flights have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column} of a statement's rows: expected {expected}, got {got}")]
pub struct RowsError {
    /// The column.
    pub column: &'static str,
    /// What it should be.
    pub expected: &'static str,
    /// What it is.
    pub got: String,
}

/// A batch whose columns are found by name.
pub(crate) struct Rows<'a>(&'a RecordBatch);

impl Ran {
    /// Each batch.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Rows<'_>> {
        self.batches.iter().map(Rows)
    }

    /// Keys, and the tally that belongs to each. Flights whose key isn't known are left out.
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

    /// Texts; `None` for what isn't known.
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

    /// Numbers; nulls, which sums of nothing are, count as none.
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

    /// The tally of each row.
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
