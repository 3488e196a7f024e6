//! Learns the generator's parameters from real flights: `cargo run --release -p nandle-flights
//! --example learn -- FILE… > crates/query/flights/src/generate/learned.json`
//!
//! The files are January and February 2008 with all flights, for carriers, routes and delays; and
//! Houston 2011, for the months of the year. A file counts as a whole year if it has rows of twelve
//! months.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, reason = "it is a program")]

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int16Type, UInt8Type, UInt16Type};
use arrow_array::{Array, RecordBatch};
use nandle_flights::{Column, CsvFlights, CsvOptions, Source};
use serde_json::{Value, json};

/// Quantiles are stored at even steps of the logit of probability, to cover both tails.
const LOGIT_FROM: f64 = -12.0;
const LOGIT_STEP: f64 = 0.25;
const LOGIT_STEPS: usize = 97;

/// Flights and miles between two airports.
type Pairs = BTreeMap<(usize, usize), (u64, u16)>;

/// Learned properties of a flight.
struct Flight {
    airline: String,
    origin: String,
    dest: String,
    month_of_year: usize,
    hour: usize,
    distance: u16,
    elapsed: Option<i16>,
    departure: Option<i16>,
    arrival: Option<i16>,
    is_cancelled: bool,
    is_diverted: bool,
    reason: Option<String>,
}

fn main() {
    let (mut snapshot, mut year) = (Vec::new(), Vec::new());
    for file in std::env::args().skip(1) {
        let flights = read(&file);
        let months =
            flights.iter().map(|flight| flight.month_of_year).collect::<std::collections::BTreeSet<_>>();
        if months.len() == 12 { year.extend(flights) } else { snapshot.extend(flights) }
    }
    let mut airports: Vec<&str> =
        snapshot.iter().flat_map(|flight| [&*flight.origin, &*flight.dest]).collect();
    airports.sort_unstable();
    airports.dedup();
    let number = |airport: &str| airports.binary_search(&airport).unwrap();
    let learned = json!({
        "airports": airports,
        "airport_delay_logits": airports.iter().map(|airport| late_logit(&snapshot, |flight| flight.origin == *airport)).collect::<Vec<_>>(),
        "carriers": carriers(&snapshot, number),
        "hours": (0..24).map(|hour| round(share(&snapshot, |flight| flight.hour == hour), 5)).collect::<Vec<_>>(),
        "hour_delay_logits": (0..24).map(|hour| late_logit(&snapshot, |flight| flight.hour == hour)).collect::<Vec<_>>(),
        "month_delay_logits": (0..12).map(|month| late_logit(&year, |flight| flight.month_of_year == month)).collect::<Vec<_>>(),
        "month_cancelled": (0..12).map(|month| relative(&year, |flight| flight.month_of_year == month, |flight| flight.is_cancelled)).collect::<Vec<_>>(),
        "month_diverted": (0..12).map(|month| relative(&year, |flight| flight.month_of_year == month, |flight| flight.is_diverted)).collect::<Vec<_>>(),
        "cancelled": round(share(&year, |flight| flight.is_cancelled).midpoint(share(&snapshot, |flight| flight.is_cancelled)), 5),
        "diverted": round(share(&year, |flight| flight.is_diverted).midpoint(share(&snapshot, |flight| flight.is_diverted)), 5),
        "reasons": reasons(&snapshot),
        "logit_from": LOGIT_FROM,
        "logit_step": LOGIT_STEP,
        "departure_minutes": quantiles(snapshot.iter().filter_map(|flight| flight.departure).collect()),
        "gain_minutes": quantiles(snapshot.iter().filter_map(|flight| Some(flight.arrival? - flight.departure?)).collect()),
        "elapsed_minutes": elapsed(&snapshot),
    });
    println!("{{");
    let fields = learned.as_object().unwrap();
    for (at, (name, value)) in fields.iter().enumerate() {
        println!("\"{name}\": {}{}", text(value), if at + 1 < fields.len() { "," } else { "" });
    }
    println!("}}");
}

/// Formats a line per carrier, and one for everything else.
fn text(value: &Value) -> String {
    match value {
        Value::Array(values) if values.first().is_some_and(Value::is_object) => {
            format!("[\n{}\n]", values.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n"))
        }
        value => value.to_string(),
    }
}

fn read(file: &str) -> Vec<Flight> {
    let mut flights = CsvFlights::new(vec![Source::file(Path::new(file))], CsvOptions::default());
    let (mut all, mut rejects) = (Vec::new(), Vec::new());
    while let Some(batch) = flights.next_batch(&mut rejects).unwrap() {
        all.extend((0..batch.num_rows()).map(|row| flight(&batch, row)));
    }
    all
}

fn flight(batch: &RecordBatch, row: usize) -> Flight {
    let text = |column: Column| {
        let cells = batch.column(column.index()).as_dictionary::<UInt16Type>();
        cells.key(row).map(|key| cells.values().as_string::<i32>().value(key).to_owned())
    };
    let minutes = |column: Column| {
        let cells = batch.column(column.index()).as_primitive::<Int16Type>();
        cells.is_valid(row).then(|| cells.value(row))
    };
    let number = |column: Column| {
        let cells = batch.column(column.index()).as_primitive::<UInt16Type>();
        cells.is_valid(row).then(|| cells.value(row))
    };
    let flag = |column: Column| batch.column(column.index()).as_primitive::<UInt8Type>().value(row) == 1;
    assert!(batch.column(Column::FlightDate.index()).as_primitive::<Date32Type>().is_valid(row));
    let month = text(Column::Month).unwrap();
    let time = number(Column::CrsDepTime).or(number(Column::DepTime)).unwrap_or(1200);
    Flight {
        airline: text(Column::Airline).unwrap(),
        origin: text(Column::Origin).unwrap(),
        dest: text(Column::Dest).unwrap(),
        month_of_year: month[5..].parse::<usize>().unwrap() - 1,
        hour: usize::from(time / 100 % 24),
        distance: number(Column::Distance).unwrap_or(0),
        elapsed: minutes(Column::CrsElapsedTime),
        departure: minutes(Column::DepDelay),
        arrival: minutes(Column::ArrDelay),
        is_cancelled: flag(Column::Cancelled),
        is_diverted: flag(Column::Diverted),
        reason: text(Column::CancellationCode),
    }
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

fn share(flights: &[Flight], is_one: impl Fn(&Flight) -> bool) -> f64 {
    flights.iter().filter(|flight| is_one(flight)).count() as f64 / flights.len() as f64
}

/// Factor by which something is more frequent in a group than overall. Small groups are shrunk
/// towards 1.
fn relative(flights: &[Flight], is_in: impl Fn(&Flight) -> bool, is_one: impl Fn(&Flight) -> bool) -> f64 {
    const PRIOR_FLIGHTS: f64 = 500.0;
    let overall = share(flights, &is_one);
    let group = flights.iter().filter(|flight| is_in(flight));
    let (all, those) = group
        .fold((0.0, 0.0), |(all, those), flight| (all + 1.0, those + f64::from(u8::from(is_one(flight)))));
    round((those + overall * PRIOR_FLIGHTS) / (all + PRIOR_FLIGHTS) / overall, 3)
}

/// Difference between a group and all flights in the logit of departures more than 15 minutes late.
fn late_logit(flights: &[Flight], is_in: impl Fn(&Flight) -> bool) -> f64 {
    let is_late = |flight: &Flight| flight.departure.is_some_and(|minutes| minutes > 15);
    let overall = share(flights, is_late);
    let group = (overall * relative(flights, is_in, is_late)).clamp(0.001, 0.999);
    let logit = |share: f64| (share / (1.0 - share)).ln();
    round(logit(group) - logit(overall), 3)
}

fn carriers(flights: &[Flight], number: impl Fn(&str) -> usize) -> Vec<Value> {
    let mut pairs: BTreeMap<&str, Pairs> = BTreeMap::new();
    for flight in flights {
        let (from, to) = (number(&flight.origin), number(&flight.dest));
        let pair = pairs.entry(&flight.airline).or_default().entry((from.min(to), from.max(to))).or_default();
        *pair = (pair.0 + 1, flight.distance);
    }
    let describe = |(code, pairs): (&&str, &Pairs)| {
        let is_its = |flight: &Flight| flight.airline == **code;
        json!({
            "code": code,
            "delay_logit": late_logit(flights, is_its),
            "cancelled": relative(flights, is_its, |flight| flight.is_cancelled),
            "diverted": relative(flights, is_its, |flight| flight.is_diverted),
            "pairs": pairs.iter().map(|((one, other), (flights, miles))| json!([one, other, flights, miles])).collect::<Vec<_>>(),
        })
    };
    pairs.iter().map(describe).collect()
}

fn reasons(flights: &[Flight]) -> Vec<f64> {
    let of = |code: &str| share(flights, |flight| flight.reason.as_deref() == Some(code));
    let shares = ["A", "B", "C", "D"].map(of);
    shares.iter().map(|share| round(share / shares.iter().sum::<f64>(), 4)).collect()
}

fn quantiles(mut minutes: Vec<i16>) -> Vec<i16> {
    minutes.sort_unstable();
    let at = |step: usize| {
        let logit = LOGIT_FROM + LOGIT_STEP * step as f64;
        let probability = 1.0 / (1.0 + (-logit).exp());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the length")]
        let index = ((minutes.len() - 1) as f64 * probability).round() as usize;
        minutes[index]
    };
    (0..LOGIT_STEPS).map(at).collect()
}

/// Fits scheduled minutes to a constant and a rate per mile, by least squares.
fn elapsed(flights: &[Flight]) -> [f64; 2] {
    let points =
        flights.iter().filter_map(|flight| Some((f64::from(flight.distance), f64::from(flight.elapsed?))));
    let (n, x, y, xx, xy) = points.fold((0.0, 0.0, 0.0, 0.0, 0.0), |(n, x, y, xx, xy), (a, b)| {
        (n + 1.0, x + a, y + b, xx + a * a, xy + a * b)
    });
    let slope = (n * xy - x * y) / (n * xx - x * x);
    [round((y - slope * x) / n, 2), round(slope, 4)]
}
