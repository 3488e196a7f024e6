//! Tables that statements read: flights, or sums of flights.

use nandle_flights::Column;

use crate::figures::LATE_MINUTES;
use crate::statement::quoted;

/// Name of a table in SQL.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName(String);

/// Table that statements read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Flights, one per row.
    Flights(TableName),
    /// Sums of flights.
    Sums(Sums),
}

/// Sums of a table's flights as a table of their own: a row of counts for each month, airline,
/// origin and destination. The grouping columns have the names, types and values of flights, so the
/// same predicates apply to both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sums {
    name: String,
    table: TableName,
    statement: String,
}

/// Grouping columns of the sums. A month belongs to one year; the column keeps the year as the
/// flights state it.
const KEYS: [Column; 5] = [Column::Year, Column::Month, Column::Airline, Column::Origin, Column::Dest];
/// Sort order of the sums: months first, because every question selects months, then airports.
const ORDER: [Column; 2] = [Column::Month, Column::Origin];

impl TableName {
    /// Quotes a name, whatever characters it has.
    pub fn new(name: &str) -> Self {
        Self(format!("\"{}\"", name.replace('"', "\"\"")))
    }

    /// Name in quotes, for a statement.
    pub(crate) fn quoted(&self) -> &str {
        &self.0
    }
}

impl Sums {
    /// Creates the sums of a table, by its name in the engine.
    pub fn of(flights: &str) -> Self {
        let (name, flights) = (format!("{flights}_sums"), TableName::new(flights));
        let keys = names(&KEYS);
        let counts = counts_of_flights().map(|(name, count)| format!("{count} AS {name}")).join(",\n  ");
        let (from, order) = (flights.quoted(), names(&ORDER));
        let statement = format!("SELECT {keys},\n  {counts}\nFROM {from}\nGROUP BY {keys}\nORDER BY {order}");
        Self { table: TableName::new(&name), name, statement }
    }

    /// Name of the sums in the engine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Statement that computes the sums.
    pub fn statement(&self) -> &str {
        &self.statement
    }
}

impl Relation {
    pub(crate) fn table(&self) -> &TableName {
        match self {
            Self::Flights(table) => table,
            Self::Sums(sums) => &sums.table,
        }
    }

    /// Statement that created the table; `None` for flights.
    pub(crate) fn made_by(&self) -> Option<&str> {
        match self {
            Self::Flights(_) => None,
            Self::Sums(sums) => Some(&sums.statement),
        }
    }

    /// Counts with their names, as 64-bit integers whatever the column types of the flights.
    pub(crate) fn counts(&self) -> [String; 6] {
        counts_of_flights().map(|(name, count)| match self {
            Self::Flights(_) => whole(&count, name),
            Self::Sums(_) => whole(&format!("sum({name})"), name),
        })
    }
}

/// Counts over flights. Sums keep them in the engine's types, so sums of sums are exact.
fn counts_of_flights() -> [(&'static str, String); 6] {
    let delay = quoted(Column::ArrDelay);
    [
        ("flights", "count(*)".to_owned()),
        ("cancelled", format!("sum({})", quoted(Column::Cancelled))),
        ("diverted", format!("sum({})", quoted(Column::Diverted))),
        ("arrived", format!("count({delay})")),
        ("delay_minutes", format!("sum({delay})")),
        ("late", format!("count(*) FILTER (WHERE {delay} > {LATE_MINUTES})")),
    ]
}

fn whole(count: &str, name: &str) -> String {
    format!("CAST({count} AS BIGINT) AS {name}")
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| quoted(*column)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tables_are_quoted() {
        assert_eq!(TableName::new("a\"b; DROP").quoted(), "\"a\"\"b; DROP\"");
        let sums = Sums::of("a\"b");
        assert_eq!((sums.name(), sums.table.quoted()), ("a\"b_sums", "\"a\"\"b_sums\""));
        assert!(sums.statement().contains("FROM \"a\"\"b\"\n"), "{}", sums.statement());
    }

    #[test]
    fn flights_and_sums_have_equal_counts_and_names() {
        let names = |relation: &Relation| {
            relation.counts().map(|count| count.rsplit_once(" AS ").unwrap().1.to_owned())
        };
        let (flights, sums) = (Relation::Flights(TableName::new("t")), Relation::Sums(Sums::of("t")));
        assert_eq!(names(&flights), names(&sums));
        let made = sums.made_by().unwrap();
        assert!(names(&sums).iter().all(|name| made.contains(&format!(" AS {name}"))), "{made}");
        assert!(flights.made_by().is_none());
    }
}
