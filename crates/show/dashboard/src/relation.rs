//! What statements ask: flights, or sums of them.

use nandle_flights::Column;

use crate::figures::LATE_MINUTES;
use crate::statement::quoted;

/// How SQL calls a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName(String);

/// A table that statements ask.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Flights: a row for each.
    Flights(TableName),
    /// Their sums.
    Sums(Sums),
}

/// Sums of a table's flights as a table of their own: a row for each month, airline, origin and destination, with what is counted of its flights.
/// The columns that they are grouped by have the names, types and values that flights have, so the same predicates hold for both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sums {
    name: String,
    table: TableName,
    statement: String,
}

/// The columns that sums are grouped by. A month has one year; it is named so that years are what flights say they are.
const KEYS: [Column; 5] = [Column::Year, Column::Month, Column::Airline, Column::Origin, Column::Dest];
/// The columns that sums ascend by: months first, because every question is of some months, then airports.
const ORDER: [Column; 2] = [Column::Month, Column::Origin];

impl TableName {
    /// A name as the engine has it, whatever letters it is of.
    pub fn new(name: &str) -> Self {
        Self(format!("\"{}\"", name.replace('"', "\"\"")))
    }

    /// In quotes, as it stands in a statement.
    pub(crate) fn quoted(&self) -> &str {
        &self.0
    }
}

impl Sums {
    /// Those of a table, by its name in the engine.
    pub fn of(flights: &str) -> Self {
        let (name, flights) = (format!("{flights}_sums"), TableName::new(flights));
        let keys = names(&KEYS);
        let counts = counts_of_flights().map(|(name, count)| format!("{count} AS {name}")).join(",\n  ");
        let (from, order) = (flights.quoted(), names(&ORDER));
        let statement = format!("SELECT {keys},\n  {counts}\nFROM {from}\nGROUP BY {keys}\nORDER BY {order}");
        Self { table: TableName::new(&name), name, statement }
    }

    /// The name that they have in the engine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The statement whose rows they are.
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

    /// The statement that made it; `None` of flights, which are what there is.
    pub(crate) fn made_by(&self) -> Option<&str> {
        match self {
            Self::Flights(_) => None,
            Self::Sums(sums) => Some(&sums.statement),
        }
    }

    /// What is counted of some of its rows, each with its name: whole numbers of 64 bits, whatever types the columns of other people's flights have.
    pub(crate) fn counts(&self) -> [String; 6] {
        counts_of_flights().map(|(name, count)| match self {
            Self::Flights(_) => whole(&count, name),
            Self::Sums(_) => whole(&format!("sum({name})"), name),
        })
    }
}

/// What is counted of flights. Sums keep it in the types that the engine gives, so that sums of them lose nothing.
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
    fn both_count_the_same_under_the_same_names() {
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
