//! Typed parameters.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::{ParameterError, Parameters};
use crate::selection::{SIMILAR_COUNT, SIMILAR_COUNT_MAX};
use crate::{AirportCode, Direction, Month, Months, PeerChoice, Selection, SimilarBy};

/// One of several names; the first is the default.
pub(crate) fn choice<T: Copy>(
    parameters: &mut Parameters,
    name: &'static str,
    all: &[(&str, T)],
) -> Result<Option<T>, ParameterError> {
    let Some(text) = parameters.take(name) else { return Ok(None) };
    let found = all.iter().find(|(known, _)| *known == text).map(|(_, value)| *value);
    let names = || all.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
    found.map(Some).ok_or_else(|| ParameterError::Invalid { name, expected: format!("one of {}", names()) })
}

/// Comma-separated airports.
fn list(text: &str) -> Option<Vec<AirportCode>> {
    let all: Vec<AirportCode> = text.split(',').map(|code| code.parse().ok()).collect::<Option<_>>()?;
    let distinct: BTreeSet<&AirportCode> = all.iter().collect();
    let is_right = (1..=SIMILAR_COUNT_MAX).contains(&all.len()) && distinct.len() == all.len();
    is_right.then_some(all)
}

impl Parameters {
    fn required<T: FromStr<Err: ToString>>(
        &mut self,
        name: &'static str,
        expected: &str,
    ) -> Result<T, ParameterError> {
        let missing = || ParameterError::Missing { name, expected: expected.to_owned() };
        let text = self.take(name).ok_or_else(missing)?;
        text.parse().map_err(|error: T::Err| ParameterError::Invalid { name, expected: error.to_string() })
    }

    /// Takes an airport.
    ///
    /// # Errors
    /// It is missing or isn't an airport code.
    pub fn airport(&mut self, name: &'static str) -> Result<AirportCode, ParameterError> {
        self.required(name, "an airport code, such as IAH")
    }

    /// Takes `from` and `to`.
    ///
    /// # Errors
    /// One is missing or isn't a month, or the last is before the first.
    pub fn months(&mut self) -> Result<Months, ParameterError> {
        let expected = "a month, written as 2008-01";
        let first: Month = self.required("from", expected)?;
        let last: Month = self.required("to", expected)?;
        let before =
            || ParameterError::Invalid { name: "to", expected: format!("a month not before {first}") };
        Months::new(first, last).ok_or_else(before)
    }

    /// Takes `direction`; departures by default.
    ///
    /// # Errors
    /// It is invalid.
    pub fn direction(&mut self) -> Result<Direction, ParameterError> {
        let all = [Direction::Departures, Direction::Arrivals].map(|direction| (direction.name(), direction));
        Ok(choice(self, "direction", &all)?.unwrap_or(Direction::Departures))
    }

    /// Takes all parameters of a selection.
    ///
    /// # Errors
    /// One is missing or invalid, or two exclude each other.
    pub fn selection(&mut self) -> Result<Selection, ParameterError> {
        let airport = self.airport("airport")?;
        let (months, direction) = (self.months()?, self.direction()?);
        let peers = self.peers(airport)?;
        Ok(Selection { airport, months, direction, peers })
    }

    /// Takes `similar`, or `by` and `count`.
    fn peers(&mut self, airport: AirportCode) -> Result<PeerChoice, ParameterError> {
        let all =
            [SimilarBy::Flights, SimilarBy::Passengers, SimilarBy::Population].map(|by| (by.name(), by));
        let by = choice(self, "by", &all)?;
        let count = self.count()?;
        let Some(text) = self.take("similar") else {
            let (by, count) = (by.unwrap_or(SimilarBy::Flights), count.unwrap_or(SIMILAR_COUNT));
            return Ok(PeerChoice::Nearest { by, count });
        };
        for (other, is_said) in [("by", by.is_some()), ("count", count.is_some())] {
            if is_said {
                return Err(ParameterError::Exclusive { name: "similar", other });
            }
        }
        let expected = || {
            format!("1 to {SIMILAR_COUNT_MAX} different airport codes separated by commas, without {airport}")
        };
        let listed = list(&text).filter(|all| !all.contains(&airport));
        listed
            .map(PeerChoice::Listed)
            .ok_or_else(|| ParameterError::Invalid { name: "similar", expected: expected() })
    }

    fn count(&mut self) -> Result<Option<usize>, ParameterError> {
        let Some(text) = self.take("count") else { return Ok(None) };
        let are_digits = text.bytes().all(|digit| digit.is_ascii_digit());
        let count = text.parse().ok().filter(|count| are_digits && (1..=SIMILAR_COUNT_MAX).contains(count));
        let expected = || format!("a number from 1 to {SIMILAR_COUNT_MAX}");
        count.map(Some).ok_or_else(|| ParameterError::Invalid { name: "count", expected: expected() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn selection(query: &str) -> Result<Selection, ParameterError> {
        Parameters::parse(query)?.selection()
    }

    #[test]
    fn selection_prints_as_an_equal_query() {
        let short = "airport=IAH&from=2008-01&to=2008-12";
        let whole = format!("{short}&direction=departures&by=flights&count=10");
        assert_eq!(selection(short).unwrap().to_string(), whole);
        for query in
            [whole.as_str(), "airport=IAH&from=2008-01&to=2008-01&direction=arrivals&similar=ATL,ORD"]
        {
            assert_eq!(selection(query).unwrap().to_string(), query);
        }
    }

    proptest! {
        #[test]
        fn any_query_is_refused_or_prints_as_an_equal_query(query in query()) {
            if let Ok(selection) = selection(&query) {
                let said = selection.to_string();
                prop_assert!(said.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"=&-,".contains(&letter)), "{}", said);
                prop_assert_eq!(super::tests::selection(&said), Ok(selection));
            }
        }
    }

    /// Nearly valid queries, and others.
    fn query() -> impl Strategy<Value = String> {
        const NAMES: &[&str] = &["airport", "from", "to", "direction", "by", "count", "similar", "x"];
        const VALUES: &[&str] =
            &["IAH", "2008-01", "2008-12", "arrivals", "passengers", "7", "ATL,ORD", "%41TL", "'"];
        let value = prop_oneof![4 => select(VALUES).prop_map(str::to_owned), 1 => ".{0,8}"];
        let part = (select(NAMES), value).prop_map(|(name, value)| format!("{name}={value}"));
        prop_oneof![3 => vec(part, 0..8).prop_map(|parts| parts.join("&")), 1 => ".{0,60}"]
    }

    #[test]
    fn each_parameter_is_checked() {
        let months = "from=2008-01&to=2008-12";
        for (query, name) in [
            (months.to_owned(), "airport"),
            (format!("airport=iah&{months}"), "airport"),
            (format!("airport=I'H&{months}"), "airport"),
            ("airport=IAH&to=2008-12".to_owned(), "from"),
            ("airport=IAH&from=2008-01".to_owned(), "to"),
            ("airport=IAH&from=2008-02&to=2008-01".to_owned(), "to"),
            ("airport=IAH&from=2008-1&to=2008-01".to_owned(), "from"),
            (format!("airport=IAH&{months}&direction=up"), "direction"),
            (format!("airport=IAH&{months}&by=size"), "by"),
            (format!("airport=IAH&{months}&count=0"), "count"),
            (format!("airport=IAH&{months}&count=51"), "count"),
            (format!("airport=IAH&{months}&count=%2B5"), "count"),
            (format!("airport=IAH&{months}&similar="), "similar"),
            (format!("airport=IAH&{months}&similar=ATL,ATL"), "similar"),
            (format!("airport=IAH&{months}&similar=ATL,IAH"), "similar"),
            (format!("airport=IAH&{months}&similar=ATL') OR 1=1"), "similar"),
            (format!("airport=IAH&{months}&similar=ATL&by=passengers"), "similar"),
        ] {
            let refusal = selection(&query).unwrap_err();
            assert_eq!(refusal.parameter(), Some(name), "{query}: {refusal}");
        }
    }
}
