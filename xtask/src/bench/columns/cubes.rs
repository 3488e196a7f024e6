//! The 69 cubes of the Dashboard paper, as `nandle cubes` names them.

/// A cube: its name, and the columns that it groups by, the fact's at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cube {
    pub(super) name: String,
    pub(super) columns: Vec<&'static str>,
}

/// The name that a cube has of it, and the column.
type Part = (&'static str, &'static str);

const FACTS: [Part; 3] = [("diverted", "Diverted"), ("cancelled", "Cancelled"), ("delay", "ArrDelay")];
const DIMENSIONS: [Part; 5] =
    [("airline", "Airline"), ("dest", "Dest"), ("month", "Month"), ("origin", "Origin"), ("year", "Year")];

/// All of them: fact by fact, those of fewer dimensions first.
pub(super) fn all() -> Vec<Cube> {
    let mut sets: Vec<Vec<Part>> = (1_u32..1 << DIMENSIONS.len()).map(chosen).filter(is_asked).collect();
    sets.sort_by_key(Vec::len);
    FACTS.iter().flat_map(|fact| sets.iter().map(|set| Cube::new(*fact, set))).collect()
}

fn chosen(set: u32) -> Vec<Part> {
    DIMENSIONS.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, part)| *part).collect()
}

/// A month is one of a year.
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
    use super::all;

    #[test]
    fn there_are_69_with_the_names_of_nandle() {
        let all = all();
        assert_eq!(all.len(), 69);
        assert_eq!(all[0].name, "diverted-airline");
        assert_eq!(all[68].columns, ["Airline", "Dest", "Origin", "Year", "ArrDelay"]);
        assert_eq!(all.iter().filter(|cube| cube.columns.len() == 4).count(), 21);
    }
}
