//! Pages of the dashboard with varying airports and ranges of months.

use std::collections::BTreeSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

use super::client::Client;
use crate::Outcome;

/// Number of largest airports viewed.
const AIRPORTS: usize = 40;
/// Number of months of a page.
const MONTHS: std::ops::RangeInclusive<usize> = 3..=24;

/// Requests of a page.
pub(super) struct View {
    /// Paths of the requests.
    pub(super) questions: Vec<String>,
}

/// Generator of pages.
pub(super) struct Views {
    months: Vec<String>,
    airports: Vec<String>,
    shown: BTreeSet<(usize, usize)>,
    random: Xoshiro256PlusPlus,
}

impl Views {
    pub(super) fn ask(client: &Client) -> Outcome<Self> {
        let overview: Value = serde_json::from_str(&client.get("/api/v1/overview")?)?;
        let months = texts(&overview, "months", "month")?;
        let [first, .., last] = months.as_slice() else {
            return Err("the table has fewer than two months".into());
        };
        let airports = client.get(&format!("/api/v1/airports?from={first}&to={last}"))?;
        let mut airports = texts(&serde_json::from_str(&airports)?, "airports", "airport")?;
        airports.truncate(AIRPORTS);
        Ok(Self { months, airports, shown: BTreeSet::new(), random: Xoshiro256PlusPlus::seed_from_u64(1) })
    }

    /// Draws a page not shown before.
    pub(super) fn next(&mut self) -> View {
        // With few months all ranges are used up eventually.
        if self.shown.len() > self.months.len() {
            self.shown.clear();
        }
        let (first, last) = loop {
            let length = self.random.random_range(MONTHS).min(self.months.len());
            let first = self.random.random_range(0..=self.months.len() - length);
            let range = (first, first + length - 1);
            if self.shown.insert(range) {
                break range;
            }
        };
        let month = |number: usize| self.months.get(number).map_or("", String::as_str);
        let (from, to) = (month(first), month(last));
        let number = self.random.random_range(0..self.airports.len());
        let airport = self.airports.get(number).map_or("", String::as_str);
        let selection =
            format!("airport={airport}&from={from}&to={to}&direction=departures&by=flights&count=10");
        let of = |question: &str, more: &str| format!("/api/v1/{question}?{selection}{more}");
        let questions = vec![
            of("headline", ""),
            of("similar", ""),
            of("series", "&measure=mean_delay"),
            of("airlines", ""),
            of("pairs", ""),
            of("ranking", "&measure=mean_delay&among=similar"),
        ];
        View { questions }
    }
}

/// A text field of each entry in a reply's list.
fn texts(answer: &Value, list: &str, name: &str) -> Outcome<Vec<String>> {
    let rows = answer.pointer(&format!("/figures/{list}")).and_then(Value::as_array);
    let texts = rows.map(|rows| {
        rows.iter().filter_map(|row| Some(row.get(name)?.as_str()?.to_owned())).collect::<Vec<_>>()
    });
    texts.filter(|texts| !texts.is_empty()).ok_or_else(|| format!("an answer has no {list}").into())
}
