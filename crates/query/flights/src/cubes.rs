//! The 69 queries of the Dashboard paper (papers' notes, §4): three facts by every set of one to
//! four dimensions that doesn't combine month and year, because a month includes its year. Each is
//! `select dimensions, fact, count(*) … group by dimensions, fact`.

use std::fmt;
use std::str::FromStr;

use crate::Column;

/// Grouping dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// The carrier.
    Airline,
    /// Destination.
    Dest,
    /// Month of a year.
    Month,
    /// Origin.
    Origin,
    /// The year.
    Year,
}

impl Dimension {
    /// All dimensions, in the paper's order.
    pub const ALL: [Self; 5] = [Self::Airline, Self::Dest, Self::Month, Self::Origin, Self::Year];

    /// Its column.
    pub const fn column(self) -> Column {
        match self {
            Self::Airline => Column::Airline,
            Self::Dest => Column::Dest,
            Self::Month => Column::Month,
            Self::Origin => Column::Origin,
            Self::Year => Column::Year,
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Counted fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fact {
    /// Diverted or not.
    Diverted,
    /// Cancelled or not.
    Cancelled,
    /// Arrival delay in minutes; missing without an arrival.
    Delay,
}

impl Fact {
    /// All facts, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Diverted, Self::Cancelled, Self::Delay];

    /// Its column.
    pub const fn column(self) -> Column {
        match self {
            Self::Diverted => Column::Diverted,
            Self::Cancelled => Column::Cancelled,
            Self::Delay => Column::ArrDelay,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Diverted => "diverted",
            Self::Cancelled => "cancelled",
            Self::Delay => "delay",
        }
    }
}

/// One of the 69 cubes. Names such as `delay-airline-month` are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CubeQuery {
    fact: Fact,
    /// A bit for each dimension.
    dimensions: u8,
}

impl CubeQuery {
    /// All 69 cubes by fact, those with fewer dimensions first.
    pub fn all() -> Vec<Self> {
        let sets = (1..1_u8 << Dimension::ALL.len()).filter(|set| is_asked(*set));
        let mut all: Vec<Self> = Fact::ALL
            .iter()
            .flat_map(|fact| sets.clone().map(|dimensions| Self { fact: *fact, dimensions }))
            .collect();
        all.sort_by_key(|query| {
            (query.fact, query.dimensions.count_ones(), query.dimensions().collect::<Vec<_>>())
        });
        all
    }

    /// Its fact.
    pub fn fact(&self) -> Fact {
        self.fact
    }

    /// Its dimensions, in the paper's order.
    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> + use<> {
        let dimensions = self.dimensions;
        Dimension::ALL.into_iter().filter(move |dimension| dimensions & dimension.bit() != 0)
    }

    /// Number of other dimensions that each dimension is combined with.
    pub fn partners(&self) -> u32 {
        self.dimensions.count_ones() - 1
    }

    /// Columns read and grouped by: the dimensions, then the fact.
    pub fn columns(&self) -> Vec<Column> {
        self.dimensions().map(Dimension::column).chain([self.fact.column()]).collect()
    }
}

/// Returns true for a valid set of dimensions.
fn is_asked(dimensions: u8) -> bool {
    let times = Dimension::Month.bit() | Dimension::Year.bit();
    dimensions != 0 && dimensions & times != times
}

impl fmt::Display for CubeQuery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.fact.name())?;
        self.dimensions()
            .try_for_each(|dimension| write!(formatter, "-{}", format!("{dimension:?}").to_lowercase()))
    }
}

/// Error for an unknown cube.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is not one of the 69 cubes: a fact (diverted, cancelled, delay) and its dimensions, as `delay-airline-month`"
)]
pub struct UnknownCube {
    /// The given name.
    pub name: String,
}

impl FromStr for CubeQuery {
    type Err = UnknownCube;

    fn from_str(name: &str) -> Result<Self, UnknownCube> {
        let found = Self::all().into_iter().find(|query| query.to_string() == name);
        found.ok_or_else(|| UnknownCube { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{CubeQuery, Dimension, Fact};

    #[test]
    fn there_are_69() {
        let all = CubeQuery::all();
        assert_eq!(all.len(), 69);
        let names: BTreeSet<String> = all.iter().map(CubeQuery::to_string).collect();
        assert_eq!(names.len(), 69);
        for (partners, sets) in [(0, 5), (1, 9), (2, 7), (3, 2)] {
            for fact in Fact::ALL {
                let those = all.iter().filter(|query| query.fact() == fact && query.partners() == partners);
                assert_eq!(those.count(), sets, "{partners} partners");
            }
        }
        let has = |query: &CubeQuery, dimension| query.dimensions().any(|other| other == dimension);
        assert!(!all.iter().any(|query| has(query, Dimension::Month) && has(query, Dimension::Year)));
    }

    #[test]
    fn names_are_read_and_stay() {
        for query in CubeQuery::all() {
            assert_eq!(query.to_string().parse(), Ok(query));
        }
        let all = CubeQuery::all();
        assert_eq!(all[0].to_string(), "diverted-airline");
        assert_eq!(all[5].to_string(), "diverted-airline-dest");
        assert_eq!(all[68].to_string(), "delay-airline-dest-origin-year");
        assert!("delay-month-year".parse::<CubeQuery>().is_err());
    }
}
