//! The 69 cubes of the Dashboard paper, with the names of `nandle cubes`.

use crate::Outcome;

/// A cube: its name and grouping columns, the fact last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::bench) struct Cube {
    pub(in crate::bench) name: String,
    pub(in crate::bench) columns: Vec<&'static str>,
}

/// Name in cubes, and column.
type Part = (&'static str, &'static str);

const FACTS: [Part; 3] = [("diverted", "Diverted"), ("cancelled", "Cancelled"), ("delay", "ArrDelay")];
const DIMENSIONS: [Part; 5] =
    [("airline", "Airline"), ("dest", "Dest"), ("month", "Month"), ("origin", "Origin"), ("year", "Year")];

/// All cubes by fact, those of fewer dimensions first.
pub(in crate::bench) fn all() -> Vec<Cube> {
    let mut sets: Vec<Vec<Part>> = (1_u32..1 << DIMENSIONS.len()).map(chosen).filter(is_asked).collect();
    sets.sort_by_key(Vec::len);
    FACTS.iter().flat_map(|fact| sets.iter().map(|set| Cube::new(*fact, set))).collect()
}

/// Parses a list of cubes such as `delay-airline,delay-month`.
pub(in crate::bench) fn named(list: &str) -> Outcome<Vec<Cube>> {
    let all = all();
    let find = |name: &str| {
        let found = all.iter().find(|cube| cube.name == name);
        found.cloned().ok_or_else(|| format!("there is no cube {name:?}; one is delay-airline-month").into())
    };
    list.split(',').map(find).collect()
}

fn chosen(set: u32) -> Vec<Part> {
    DIMENSIONS.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, part)| *part).collect()
}

/// Excludes sets with both month and year, as a month includes its year.
fn is_asked(set: &Vec<Part>) -> bool {
    let has = |name| set.iter().any(|part| part.0 == name);
    !(has("month") && has("year"))
}

impl Cube {
    fn new(fact: Part, dimensions: &[Part]) -> Self {
        let names: Vec<&str> = [fact].iter().chain(dimensions).map(|part| part.0).collect();
        let columns = dimensions.iter().chain([&fact]).map(|part| part.1).collect();
        Self { name: names.join("-"), columns }
    }
}

#[cfg(test)]
mod tests {
    use super::{all, named};

    #[test]
    fn there_are_69_with_the_names_of_nandle() {
        let all = all();
        assert_eq!(all.len(), 69);
        assert_eq!(all[0].name, "diverted-airline");
        assert_eq!(all[68].columns, ["Airline", "Dest", "Origin", "Year", "ArrDelay"]);
        assert_eq!(all.iter().filter(|cube| cube.columns.len() == 4).count(), 21);
    }

    #[test]
    fn some_are_chosen_by_name() {
        assert_eq!(named("delay-month,diverted-year").unwrap()[0].columns, ["Month", "ArrDelay"]);
        assert!(named("delay-decade").is_err());
    }
}
