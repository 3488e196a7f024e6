//! Statements. What stands in them from outside are codes of airports and months, whose types hold nothing that could mean more.

use std::collections::BTreeSet;
use std::fmt;

use arrow_schema::Schema;
use nandle_flights::Column;

use crate::{AirportCode, Direction, Month, Months, Relation};

/// A statement of the dashboard's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    text: String,
    made_by: Option<String>,
}

/// How long the periods of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// Years.
    Year,
    /// Months.
    Month,
    /// Days.
    Day,
}

/// The columns that statements name.
const COLUMNS: [Column; 9] = [
    Column::Year,
    Column::Month,
    Column::FlightDate,
    Column::Airline,
    Column::Origin,
    Column::Dest,
    Column::ArrDelay,
    Column::Cancelled,
    Column::Diverted,
];

/// The columns of flights that a table lacks.
pub fn missing_columns(schema: &Schema) -> Vec<&'static str> {
    let names = COLUMNS.iter().map(|column| column.name());
    names.filter(|name| schema.index_of(name).is_err()).collect()
}

impl Statement {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The statement that made the table which this one asks; `None` where it asks the flights themselves.
    pub fn made_by(&self) -> Option<&str> {
        self.made_by.as_deref()
    }

    /// How many flights each month has.
    pub(crate) fn months(of: &Relation) -> Self {
        let [flights, ..] = of.counts();
        let (month, table) = (text_of(Column::Month), of.table().quoted());
        let by = quoted(Column::Month);
        Self::of(of, format!("SELECT {month} AS month, {flights}\nFROM {table}\nGROUP BY {by}\nORDER BY 1"))
    }

    /// The counts of each airport.
    pub(crate) fn airports(of: &Relation, months: Months, direction: Direction) -> Self {
        let here = direction.here();
        Self::counts(of, &[(text_of(here), "airport")], &in_months(months), &[quoted(here)])
    }

    /// The counts of some airports in each period. Sums have no days.
    pub(crate) fn series(
        of: &Relation,
        months: Months,
        direction: Direction,
        airports: &BTreeSet<AirportCode>,
        period: Period,
    ) -> Self {
        let (here, period) = (direction.here(), period.column());
        let codes: Vec<String> = airports.iter().map(|airport| format!("'{airport}'")).collect();
        let rows = format!("{} AND {} IN ({})", in_months(months), quoted(here), codes.join(", "));
        let keys = [(text_of(period), "period"), (text_of(here), "airport")];
        Self::counts(of, &keys, &rows, &[quoted(period), quoted(here)])
    }

    /// The counts of each airline, here and elsewhere.
    pub(crate) fn airlines(
        of: &Relation,
        months: Months,
        direction: Direction,
        airport: AirportCode,
    ) -> Self {
        let here = format!("{} = '{airport}'", quoted(direction.here()));
        let keys = [(text_of(Column::Airline), "airline"), (format!("CAST({here} AS BIGINT)"), "here")];
        Self::counts(of, &keys, &in_months(months), &[quoted(Column::Airline), here])
    }

    /// The counts of each airport at the other end.
    pub(crate) fn pairs(of: &Relation, months: Months, direction: Direction, airport: AirportCode) -> Self {
        let (here, there) = (direction.here(), direction.there());
        let rows = format!("{} AND {} = '{airport}'", in_months(months), quoted(here));
        Self::counts(of, &[(text_of(there), "airport")], &rows, &[quoted(there)])
    }

    /// The counts of each airline between two airports.
    pub(crate) fn pair(
        of: &Relation,
        months: Months,
        direction: Direction,
        airport: AirportCode,
        other: AirportCode,
    ) -> Self {
        let (here, there) = (quoted(direction.here()), quoted(direction.there()));
        let rows = format!("{} AND {here} = '{airport}' AND {there} = '{other}'", in_months(months));
        Self::counts(of, &[(text_of(Column::Airline), "airline")], &rows, &[quoted(Column::Airline)])
    }

    fn counts(of: &Relation, keys: &[(String, &str)], rows: &str, groups: &[String]) -> Self {
        let keys: Vec<String> = keys.iter().map(|(key, name)| format!("{key} AS {name}")).collect();
        let text = format!(
            "SELECT {keys},\n  {counts}\nFROM {table}\nWHERE {rows}\nGROUP BY {groups}",
            keys = keys.join(", "),
            counts = of.counts().join(",\n  "),
            table = of.table().quoted(),
            groups = groups.join(", "),
        );
        Self::of(of, text)
    }

    fn of(relation: &Relation, text: String) -> Self {
        Self { text, made_by: relation.made_by().map(str::to_owned) }
    }
}

impl Period {
    /// As an address says it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
        }
    }

    const fn column(self) -> Column {
        match self {
            Self::Year => Column::Year,
            Self::Month => Column::Month,
            Self::Day => Column::FlightDate,
        }
    }

    /// The periods that months of so many are shown by: neither a handful nor hundreds.
    pub(crate) fn usual(months: Months) -> Self {
        match months.count() {
            1 => Self::Day,
            2..=36 => Self::Month,
            _ => Self::Year,
        }
    }

    /// All periods of some months, as statements name them.
    pub(crate) fn all(self, months: Months) -> Vec<String> {
        let years = months.first().year()..=months.last().year();
        let days = |month: Month| (1..=month.days()).map(move |day| format!("{month}-{day:02}"));
        match self {
            Self::Year => years.map(|year| year.to_string()).collect(),
            Self::Month => months.all().map(|month| month.to_string()).collect(),
            Self::Day => months.all().flat_map(days).collect(),
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(crate) fn quoted(column: Column) -> String {
    format!("\"{}\"", column.name())
}

fn text_of(column: Column) -> String {
    format!("CAST({} AS VARCHAR)", quoted(column))
}

fn in_months(months: Months) -> String {
    let (month, first, last) = (quoted(Column::Month), months.first(), months.last());
    if first == last {
        format!("{month} = '{first}'")
    } else {
        format!("{month} BETWEEN '{first}' AND '{last}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sums, TableName};

    fn months(first: &str, last: &str) -> Months {
        Months::new(first.parse().unwrap(), last.parse().unwrap()).unwrap()
    }

    #[test]
    fn statements_name_what_is_asked_for() {
        let airports = ["IAH", "ATL"].map(|code| code.parse().unwrap()).into();
        let series = |of: &Relation| {
            Statement::series(of, months("2008-01", "2008-12"), Direction::Arrivals, &airports, Period::Month)
        };
        let sums = Sums::of("flights");
        let made = sums.statement().to_owned();
        for (relation, table, made_by) in [
            (Relation::Flights(TableName::new("flights")), "\"flights\"", None),
            (Relation::Sums(sums), "\"flights_sums\"", Some(&*made)),
        ] {
            let statement = series(&relation);
            let text = statement.text();
            let rows = format!(
                "FROM {table}\nWHERE \"Month\" BETWEEN '2008-01' AND '2008-12' AND \"Dest\" IN ('ATL', 'IAH')\n"
            );
            assert!(text.contains(&rows), "{text}");
            assert!(text.ends_with("GROUP BY \"Month\", \"Dest\""), "{text}");
            assert_eq!(statement.made_by(), made_by);
        }
    }

    #[test]
    fn periods_of_months() {
        assert_eq!(Period::usual(months("2008-01", "2008-01")), Period::Day);
        assert_eq!(Period::usual(months("2008-01", "2008-12")), Period::Month);
        assert_eq!(Period::usual(months("2000-01", "2008-12")), Period::Year);
        assert_eq!(Period::Day.all(months("2008-02", "2008-02")).len(), 29);
        assert_eq!(Period::Year.all(months("2007-12", "2008-01")), ["2007", "2008"]);
        assert_eq!(Period::Month.all(months("2007-12", "2008-01")), ["2007-12", "2008-01"]);
    }

    #[test]
    fn columns_that_lack_are_named() {
        assert_eq!(missing_columns(&nandle_flights::flight_schema()), [""; 0]);
        assert_eq!(missing_columns(&Schema::empty()).len(), COLUMNS.len());
    }
}
