//! SQL statements. The only external parts are airport codes and months, and their types exclude
//! any other SQL.

use std::collections::BTreeSet;
use std::fmt;

use arrow_schema::Schema;
use nandle_flights::Column;

use crate::{AirportCode, Direction, Month, Months, Relation};

/// SQL statement of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    text: String,
    made_by: Option<String>,
}

/// Length of a series' periods.
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

/// Columns that statements use.
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

/// Columns of flights that a table lacks.
pub fn missing_columns(schema: &Schema) -> Vec<&'static str> {
    let names = COLUMNS.iter().map(|column| column.name());
    names.filter(|name| schema.index_of(name).is_err()).collect()
}

impl Statement {
    /// SQL text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Statement that created the table which this one reads; `None` if it reads the flights.
    pub fn made_by(&self) -> Option<&str> {
        self.made_by.as_deref()
    }

    /// Flights of each month.
    pub(crate) fn months(of: &Relation) -> Self {
        let [flights, ..] = of.counts();
        let (month, table) = (text_of(Column::Month), of.table().quoted());
        let by = quoted(Column::Month);
        Self::of(of, format!("SELECT {month} AS month, {flights}\nFROM {table}\nGROUP BY {by}\nORDER BY 1"))
    }

    /// Counts of each airport.
    pub(crate) fn airports(of: &Relation, months: Months, direction: Direction) -> Self {
        let own_column = direction.own_column();
        Self::counts(of, &[(text_of(own_column), "airport")], &in_months(months), &[quoted(own_column)])
    }

    /// Counts of some airports in each period. Sums have no days.
    pub(crate) fn series(
        of: &Relation,
        months: Months,
        direction: Direction,
        airports: &BTreeSet<AirportCode>,
        period: Period,
    ) -> Self {
        let (own_column, period) = (direction.own_column(), period.column());
        let codes: Vec<String> = airports.iter().map(|airport| format!("'{airport}'")).collect();
        let rows = format!("{} AND {} IN ({})", in_months(months), quoted(own_column), codes.join(", "));
        let keys = [(text_of(period), "period"), (text_of(own_column), "airport")];
        Self::counts(of, &keys, &rows, &[quoted(period), quoted(own_column)])
    }

    /// Counts of each airline, here and elsewhere.
    pub(crate) fn airlines(
        of: &Relation,
        months: Months,
        direction: Direction,
        airport: AirportCode,
    ) -> Self {
        let own_column = format!("{} = '{airport}'", quoted(direction.own_column()));
        let keys = [(text_of(Column::Airline), "airline"), (format!("CAST({own_column} AS BIGINT)"), "here")];
        Self::counts(of, &keys, &in_months(months), &[quoted(Column::Airline), own_column])
    }

    /// Counts of each airport at the other end.
    pub(crate) fn pairs(of: &Relation, months: Months, direction: Direction, airport: AirportCode) -> Self {
        let (own_column, other_column) = (direction.own_column(), direction.other_column());
        let rows = format!("{} AND {} = '{airport}'", in_months(months), quoted(own_column));
        Self::counts(of, &[(text_of(other_column), "airport")], &rows, &[quoted(other_column)])
    }

    /// Counts of each airline between two airports.
    pub(crate) fn pair(
        of: &Relation,
        months: Months,
        direction: Direction,
        airport: AirportCode,
        other: AirportCode,
    ) -> Self {
        let (own_column, other_column) = (quoted(direction.own_column()), quoted(direction.other_column()));
        let rows =
            format!("{} AND {own_column} = '{airport}' AND {other_column} = '{other}'", in_months(months));
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
    /// Name in an address.
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

    /// Default period for a range of months, which gives a readable number of points.
    pub(crate) fn default_for(months: Months) -> Self {
        match months.count() {
            1 => Self::Day,
            2..=36 => Self::Month,
            _ => Self::Year,
        }
    }

    /// All periods of some months, as in statements.
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
    fn statements_name_table_months_and_airports() {
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
    fn default_period_follows_from_the_months() {
        assert_eq!(Period::default_for(months("2008-01", "2008-01")), Period::Day);
        assert_eq!(Period::default_for(months("2008-01", "2008-12")), Period::Month);
        assert_eq!(Period::default_for(months("2000-01", "2008-12")), Period::Year);
        assert_eq!(Period::Day.all(months("2008-02", "2008-02")).len(), 29);
        assert_eq!(Period::Year.all(months("2007-12", "2008-01")), ["2007", "2008"]);
        assert_eq!(Period::Month.all(months("2007-12", "2008-01")), ["2007-12", "2008-01"]);
    }

    #[test]
    fn missing_columns_are_named() {
        assert_eq!(missing_columns(&nandle_flights::flight_schema()), [""; 0]);
        assert_eq!(missing_columns(&Schema::empty()).len(), COLUMNS.len());
    }
}
