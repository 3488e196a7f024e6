//! Random query strings: nothing panics, accepted queries print as equal ones, and refusals name
//! the parameter.
//!
//! A normal run takes 20 000 queries of each view.
//! `NANDLE_CASES=5000000 cargo test --workspace --features nandle-replay/schema --test parameters`
//! takes more, with seeds from `NANDLE_FIRST_SEED` on.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of tests are part of them"
)]

use std::fmt::{Debug, Display};

use nandle_dashboard::questions::{PairView, RankingView, Search, SeriesView};
use nandle_dashboard::{ParameterError, Parameters, Selection};

const MOST_BYTES: usize = 700;

/// Parameters of a view, with its parser.
struct View<V> {
    name: &'static str,
    known: &'static [&'static str],
    parse: fn(Parameters) -> Result<V, ParameterError>,
}

/// `SplitMix64`.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((value ^ (value >> 31)) % bound as u64).unwrap()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Valid values of a parameter.
const fn values(name: &str) -> &'static [&'static str] {
    match name.as_bytes() {
        b"airport" => &["IAH", "0S9", "ZZZ"],
        b"from" => &["2008-01", "1900-01", "2007-12"],
        b"to" => &["2008-12", "2008-02", "2200-12"],
        b"direction" => &["departures", "arrivals"],
        b"by" => &["flights", "passengers", "population"],
        b"count" => &["1", "50", "010"],
        b"similar" => &["ATL", "ATL,ORD", "A12,B34,C56,D78"],
        b"measure" => &["flights", "mean_delay", "late", "cancelled", "diverted"],
        b"period" => &["year", "month", "day"],
        b"among" => &["similar", "all"],
        b"other" => &["ATL", "999"],
        b"search" => {
            &["", "hou", " x ", "Straße", "&from=1", "a%b+c", "\u{fb03}", "\u{149}\u{1f0}\u{390}", "ı̇"]
        }
        _ => &["x"],
    }
}

/// Values that are invalid for all parameters except the search text.
const WRONG: [&str; 14] = [
    "",
    "-1",
    "'",
    "iah",
    "2008-00",
    "\0",
    "51",
    "ATL,ATL",
    "ATL,",
    "99999999999999999999",
    "IAH\n",
    "\u{202e}",
    "NaN",
    "\u{1f4a9}",
];

/// Query with the parameters of a view: valid, or with a few faults.
fn query(draw: &mut Draw, known: &[&'static str]) -> String {
    let needed = |name: &str| matches!(name, "airport" | "from" | "to" | "other");
    let mut parts: Vec<(&str, &str)> =
        known.iter().filter(|name| needed(name) || draw.below(3) == 0).map(|name| (*name, "")).collect();
    for (name, value) in &mut parts {
        *value = draw.one_of(values(name));
    }
    for _ in 0..draw.below(6).saturating_sub(3) {
        fault(draw, &mut parts, known);
    }
    // Parameters come in any order.
    (1..parts.len()).for_each(|last| parts.swap(last, draw.below(last + 1)));
    let parts = parts.iter().map(|(name, value)| format!("{}={}", encoded(draw, name), encoded(draw, value)));
    let mut query = parts.collect::<Vec<_>>().join(draw.one_of(&["&", "&", "&", "&&"]));
    if draw.below(16) == 0 {
        damage(draw, &mut query);
    }
    query
}

fn fault(draw: &mut Draw, parts: &mut Vec<(&'static str, &'static str)>, known: &[&'static str]) {
    let at = draw.below(parts.len() + 1);
    match draw.below(4) {
        0 if at < parts.len() => _ = parts.remove(at),
        1 if at < parts.len() => parts[at].1 = draw.one_of(&WRONG),
        2 if at < parts.len() => parts.insert(at, parts[at]),
        _ => parts.insert(
            at,
            (draw.one_of(&["x", "", "token", known.first().copied().unwrap_or("y")]), draw.one_of(&WRONG)),
        ),
    }
}

/// Percent-encodes some bytes, including ones that don't need it.
fn encoded(draw: &mut Draw, text: &str) -> String {
    let is_seldom = draw.below(4) > 0;
    let encode = |byte: u8| {
        let is_plain = byte.is_ascii_alphanumeric() || b"-_.,~".contains(&byte);
        match byte {
            b' ' if draw.below(2) == 0 => "+".to_owned(),
            byte if is_plain && (is_seldom || draw.below(2) == 0) => char::from(byte).to_string(),
            byte if draw.below(2) == 0 => format!("%{byte:02x}"),
            byte => format!("%{byte:02X}"),
        }
    };
    text.bytes().map(encode).collect()
}

/// Inserts or cuts at a random place.
fn damage(draw: &mut Draw, query: &mut String) {
    let at = (0..=draw.below(query.len() + 1)).rev().find(|at| query.is_char_boundary(*at)).unwrap_or(0);
    match draw.below(5) {
        0 => query.truncate(at),
        1 => query.insert_str(at, draw.one_of(&["%", "%4", "%zz", "%ff", "%c3%28", "%ed%a0%80"])),
        2 => query.insert_str(at, &"A".repeat(draw.one_of(&[200, 256, 257, 2048]))),
        3 => query.insert_str(at, draw.one_of(&["&", "=", "+", ";", "\0", "\u{e4}", "#"])),
        _ => query.insert_str(at, &"&&x".repeat(draw.below(900))),
    }
}

impl<V: Display + Debug + PartialEq> View<V> {
    fn read(&self, query: &str) -> Result<V, ParameterError> {
        Parameters::parse(query).and_then(self.parse)
    }

    /// Returns true if a query is accepted.
    fn check(&self, query: &str) -> bool {
        match self.read(query) {
            Ok(view) => {
                let said = view.to_string();
                let again = self.read(&said);
                assert_eq!(again.as_ref(), Ok(&view), "{}: {query:?} says {said:?}", self.name);
                assert_eq!(again.map(|view| view.to_string()), Ok(said), "{}: {query:?}", self.name);
                true
            }
            Err(error) => {
                self.check_refusal(query, &error);
                false
            }
        }
    }

    fn check_refusal(&self, query: &str, error: &ParameterError) {
        let text = error.to_string();
        assert!(
            text.len() < MOST_BYTES && !text.contains(char::is_control),
            "{}: {query:?}: {text:?}",
            self.name
        );
        let is_known =
            error.parameter().is_some_and(|name| self.known.contains(&name) && text.contains(name));
        let is_named = match error {
            ParameterError::QueryTooLong { .. } | ParameterError::Encoding { .. } => {
                error.parameter().is_none()
            }
            ParameterError::TooLong { .. } | ParameterError::Duplicate { .. } => error.parameter().is_some(),
            ParameterError::Unknown { .. } => !is_known && error.parameter().is_some(),
            _ => is_known,
        };
        assert!(is_named, "{}: {query:?}: {error:?}", self.name);
    }

    fn run(&self) {
        let number = |name, default| std::env::var(name).ok().map_or(default, |text| text.parse().unwrap());
        let first: u64 = number("NANDLE_FIRST_SEED", 0);
        let seeds = first..first + number("NANDLE_CASES", 20_000);
        let understood =
            seeds.clone().filter(|seed| self.check(&query(&mut Draw(*seed), self.known))).count();
        println!("{}: seeds {seeds:?}: {understood} understood", self.name);
        let count = usize::try_from(seeds.end - seeds.start).unwrap();
        assert!((count / 10..count - count / 10).contains(&understood), "both ends are tried: {understood}");
    }
}

fn selection(mut parameters: Parameters) -> Result<Selection, ParameterError> {
    let selection = parameters.selection()?;
    parameters.finish(&Selection::PARAMETERS)?;
    Ok(selection)
}

#[test]
fn selections() {
    View { name: "selection", known: &Selection::PARAMETERS, parse: selection }.run();
}

#[test]
fn searches() {
    View { name: "airports", known: &Search::PARAMETERS, parse: Search::parse }.run();
}

#[test]
fn series() {
    View { name: "series", known: &SeriesView::PARAMETERS, parse: SeriesView::parse }.run();
}

#[test]
fn rankings() {
    View { name: "ranking", known: &RankingView::PARAMETERS, parse: RankingView::parse }.run();
}

#[test]
fn pairs() {
    View { name: "pair", known: &PairView::PARAMETERS, parse: PairView::parse }.run();
}

#[test]
fn invalid_value_is_refused_with_its_parameter() {
    let check = |known: &'static [&'static str], refusal: &dyn Fn(&str) -> Option<ParameterError>| {
        for name in known.iter().filter(|name| **name != "search") {
            let rest = known
                .iter()
                .filter(|other| *other != name && !matches!(**other, "by" | "count" | "similar" | "period"));
            let rest: Vec<String> = rest.map(|name| format!("{name}={}", values(name)[0])).collect();
            for wrong in WRONG {
                let wrong: String = wrong.bytes().map(|byte| format!("%{byte:02X}")).collect();
                let query = format!("{}&{name}={wrong}", rest.join("&"));
                let error = refusal(&query).unwrap_or_else(|| panic!("{query} is understood"));
                assert_eq!(error.parameter(), Some(*name), "{query}: {error}");
            }
        }
    };
    let read = Parameters::parse;
    check(&Selection::PARAMETERS, &|query| read(query).and_then(selection).err());
    check(&Search::PARAMETERS, &|query| read(query).and_then(Search::parse).err());
    check(&SeriesView::PARAMETERS, &|query| read(query).and_then(SeriesView::parse).err());
    check(&RankingView::PARAMETERS, &|query| read(query).and_then(RankingView::parse).err());
    check(&PairView::PARAMETERS, &|query| read(query).and_then(PairView::parse).err());
}
