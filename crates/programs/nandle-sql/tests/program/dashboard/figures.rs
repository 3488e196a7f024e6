//! Compares the figures with a direct computation.

use std::collections::BTreeMap;
use std::io::Read as _;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, UInt8Type, UInt16Type};
use arrow_array::{Array as _, DictionaryArray, RecordBatch};
use serde_json::Value;

use super::site::{IAH, Site, flights};

/// Relevant fields of a flight.
#[derive(Debug, Clone)]
struct Flight {
    month: String,
    origin: String,
    dest: String,
    airline: String,
    delay_minutes: Option<i16>,
    is_cancelled: bool,
    is_diverted: bool,
}

fn all() -> impl Iterator<Item = Flight> {
    flights().iter().flat_map(rows)
}

fn rows(batch: &RecordBatch) -> impl Iterator<Item = Flight> {
    let text = |name: &str| -> Vec<String> {
        let array: &DictionaryArray<UInt16Type> = batch.column_by_name(name).unwrap().as_dictionary();
        let values = array.values().as_string::<i32>();
        array.keys().iter().map(|key| values.value(usize::from(key.unwrap())).to_owned()).collect()
    };
    let flag = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<UInt8Type>().clone();
    let (months, origins, dests, airlines) = (text("Month"), text("Origin"), text("Dest"), text("Airline"));
    let (cancelled, diverted) = (flag("Cancelled"), flag("Diverted"));
    let delays = batch.column_by_name("ArrDelay").unwrap().as_primitive::<Int16Type>().clone();
    (0..batch.num_rows()).map(move |row| Flight {
        month: months[row].clone(),
        origin: origins[row].clone(),
        dest: dests[row].clone(),
        airline: airlines[row].clone(),
        delay_minutes: delays.is_valid(row).then(|| delays.value(row)),
        is_cancelled: cancelled.value(row) == 1,
        is_diverted: diverted.value(row) == 1,
    })
}

fn of_2008(flight: &Flight) -> bool {
    flight.month.starts_with("2008-")
}

/// Figures of some flights, in the API's order.
fn figures<'a>(some: impl IntoIterator<Item = &'a Flight>) -> [Option<f64>; 6] {
    let some: Vec<&Flight> = some.into_iter().collect();
    let delays: Vec<f64> = some.iter().filter_map(|flight| flight.delay_minutes.map(f64::from)).collect();
    let rate = |part: f64, of: usize| (of >= 30).then(|| part / of as f64);
    let count = |is: fn(&Flight) -> bool| some.iter().filter(|flight| is(flight)).count() as f64;
    let late = delays.iter().filter(|minutes| **minutes > 15.0).count() as f64;
    [
        Some(some.len() as f64),
        Some(delays.len() as f64),
        rate(delays.iter().sum(), delays.len()),
        rate(late, delays.len()),
        rate(count(|flight| flight.is_cancelled), some.len()),
        rate(count(|flight| flight.is_diverted), some.len()),
    ]
}

const KEYS: [&str; 6] =
    ["flights", "arrived_flights", "mean_delay_minutes", "late_share", "cancelled_share", "diverted_share"];

#[track_caller]
fn assert_same(found: &Value, expected: [Option<f64>; 6]) {
    for (key, expected) in KEYS.iter().zip(expected) {
        let found = found[*key].as_f64();
        let is_same = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
            (None, None) => true,
            _ => false,
        };
        assert!(is_same, "{key}: {found:?}, expected {expected:?}");
    }
}

fn by(some: &[Flight], key: fn(&Flight) -> &str) -> BTreeMap<&str, Vec<&Flight>> {
    let mut groups: BTreeMap<&str, Vec<&Flight>> = BTreeMap::new();
    for flight in some {
        groups.entry(key(flight)).or_default().push(flight);
    }
    groups
}

#[test]
fn figures_of_an_airport_and_of_similar_ones_are_those_of_its_flights() {
    let site = Site::start(&[]);
    let year: Vec<Flight> = all().filter(of_2008).collect();
    let airports = by(&year, |flight| &flight.origin);
    let own = airports["IAH"].len() as f64;
    let mut near: Vec<(f64, &str)> = airports
        .iter()
        .filter(|(code, _)| **code != "IAH")
        .map(|(code, flights)| ((flights.len() as f64 / own).ln().abs(), *code))
        .collect();
    near.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(other.1)));
    let near: Vec<&str> = near.iter().take(10).map(|(_, code)| *code).collect();

    let similar = site.ask(&format!("similar?{IAH}"));
    let codes: Vec<&str> =
        similar["similar"].as_array().unwrap().iter().map(|row| row["airport"].as_str().unwrap()).collect();
    assert_eq!(codes, near);
    assert_eq!(similar["count"].as_f64(), Some(own));

    let headline = site.ask(&format!("headline?{IAH}"));
    assert_same(&headline["figures"], figures(airports["IAH"].iter().copied()));
    let mut delays: Vec<f64> =
        near.iter().filter_map(|code| figures(airports[code].iter().copied())[2]).collect();
    delays.sort_by(f64::total_cmp);
    let delay = headline["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["measure"] == "mean_delay")
        .unwrap();
    assert!((delay["similar"]["low"].as_f64().unwrap() - delays[0]).abs() < 1e-9);
    assert!(
        (delay["similar"]["median"].as_f64().unwrap() - f64::midpoint(delays[4], delays[5])).abs() < 1e-9
    );
    assert!((delay["similar"]["high"].as_f64().unwrap() - delays[9]).abs() < 1e-9);

    let airlines = site.ask(&format!("airlines?{IAH}"));
    for row in airlines["airlines"].as_array().unwrap() {
        let of_airline = year.iter().filter(|flight| flight.airline == row["airline"].as_str().unwrap());
        let (here, elsewhere): (Vec<&Flight>, Vec<&Flight>) =
            of_airline.partition(|flight| flight.origin == "IAH");
        assert_same(&row["here"], figures(here));
        assert_same(&row["elsewhere"], figures(elsewhere));
    }

    let arrivals: Vec<Flight> = year.iter().filter(|flight| flight.dest == "IAH").cloned().collect();
    let sources = by(&arrivals, |flight| &flight.origin);
    let pairs = site.ask(&format!("pairs?{IAH}&direction=arrivals"));
    let rows = pairs["pairs"].as_array().unwrap();
    assert_eq!(rows.len(), sources.len());
    for row in rows {
        assert_same(&row["figures"], figures(sources[row["airport"].as_str().unwrap()].iter().copied()));
    }
    let worst = rows[0]["airport"].as_str().unwrap();
    let pair = site.ask(&format!("pair?{IAH}&direction=arrivals&other={worst}"));
    assert_same(&pair["all"], figures(sources[worst].iter().copied()));
}

#[test]
fn a_series_has_all_periods_and_says_which_have_no_data() {
    let site = Site::start(&[]);
    let own: Vec<Flight> = all().filter(|flight| flight.origin == "IAH").collect();
    let months = by(&own, |flight| &flight.month);
    let series = site.ask("series?airport=IAH&from=2011-06&to=2012-02&similar=ATL,ORD");
    let moments = series["moments"].as_array().unwrap();
    assert_eq!(moments.len(), 9);
    for moment in moments {
        let month = moment["period"].as_str().unwrap();
        // Flights end in August 2011.
        assert_eq!(moment["has_data"], month <= "2011-08", "{month}");
        match months.get(month) {
            Some(flights) => assert_same(&moment["figures"], figures(flights.iter().copied())),
            None => assert!(moment["figures"].is_null() && moment["similar"].is_null()),
        }
    }
    let days = site.ask("series?airport=IAH&from=2008-02&to=2008-02&measure=flights");
    assert_eq!(days["moments"].as_array().unwrap().len(), 29);
    let counts =
        days["moments"].as_array().unwrap().iter().filter_map(|day| day["figures"]["flights"].as_u64());
    assert_eq!(counts.sum::<u64>(), months["2008-02"].len() as u64);
    let years = site.ask("series?airport=IAH&from=2000-01&to=2011-08");
    assert_eq!((years["period"].as_str(), years["moments"].as_array().unwrap().len()), (Some("year"), 12));
}

#[test]
fn an_overview_and_a_ranking_have_everything() {
    let site = Site::start(&[]);
    let overview = site.ask("overview");
    assert_eq!(overview["flights"], 150_000);
    assert_eq!(overview["months"].as_array().unwrap().len(), 140);
    let year: Vec<Flight> = all().filter(of_2008).collect();
    let airports = by(&year, |flight| &flight.origin);
    let ranking = site.ask(&format!("ranking?{IAH}&among=all&measure=late"));
    let rows = ranking["airports"].as_array().unwrap();
    assert_eq!(rows.len(), airports.len());
    let shares: Vec<f64> = rows.iter().map_while(|row| row["figures"]["late_share"].as_f64()).collect();
    assert!(shares.is_sorted());
    for row in rows.iter().skip(shares.len()) {
        assert!(row["place"].is_null() && row["figures"]["arrived_flights"].as_u64().unwrap() < 30, "{row}");
    }
    let found = site.ask("airports?from=2008-01&to=2008-12&search=ia");
    let codes: Vec<&str> =
        found["airports"].as_array().unwrap().iter().map(|row| row["airport"].as_str().unwrap()).collect();
    assert!(codes.contains(&"IAH") && codes.iter().all(|code| code.starts_with("IA")), "{codes:?}");
}

#[test]
fn what_is_not_known_is_left_out() {
    let known = Site::start(&[]);
    let select = "SELECT \"Year\", nullif(\"Month\", '2008-02') AS \"Month\", \"FlightDate\", nullif(\"Airline\", 'AA') AS \"Airline\", \
                  nullif(\"Origin\", 'ATL') AS \"Origin\", nullif(\"Dest\", 'ORD') AS \"Dest\", \"ArrDelay\", \"Cancelled\", \"Diverted\" FROM flights";
    let site = Site::over(select, &[]);
    let february = |site: &Site| {
        let overview = site.ask("overview");
        let rows = overview["months"].as_array().unwrap().clone();
        let flights = rows.iter().find(|row| row["month"] == "2008-02").map(|row| row["flights"].clone());
        (overview["flights"].clone(), overview["flights_without_month"].clone(), flights.unwrap())
    };
    let (all, none, in_february) = february(&known);
    assert!(none == 0 && in_february.as_u64() > Some(0));
    assert_eq!(february(&site), (all, in_february, 0.into()));
    let months = "airport=IAH&from=2008-03&to=2008-12";
    let codes = |answer: &Value, rows: &str, key: &str| -> Vec<String> {
        answer[rows].as_array().unwrap().iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
    };
    let without = |mut codes: Vec<String>, code: &str| {
        let before = codes.len();
        codes.retain(|other| other != code);
        assert_eq!(codes.len(), before - 1, "{code} was there");
        codes
    };
    for (question, rows, key, code) in [
        ("airports?from=2008-03&to=2008-12".to_owned(), "airports", "airport", "ATL"),
        (format!("pairs?{months}"), "pairs", "airport", "ORD"),
        (format!("airlines?{months}"), "airlines", "airline", "AA"),
    ] {
        let expected = without(codes(&known.ask(&question), rows, key), code);
        assert_eq!(codes(&site.ask(&question), rows, key), expected, "{question}");
    }
    // Flights from an unknown airport count as elsewhere.
    let elsewhere = |site: &Site| {
        let answer = site.ask(&format!("airlines?{months}"));
        let rows = answer["airlines"].as_array().unwrap().iter().filter(|row| row["airline"] != "AA");
        rows.map(|row| row["elsewhere"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(elsewhere(&site), elsewhere(&known));
    site.ask(&format!("series?{months}&period=day"));
}

#[test]
fn facts_make_airports_similar_and_name_them() {
    let facts = "airport,passengers,name\nIAH,100,\"Houston, <b>Bush</b>\"\nATL,110,Atlanta\nORD,300,\nDEN,90,Denver\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), facts).unwrap();
    let site = Site::start(&["--airports", file.path().to_str().unwrap()]);
    let similar = site.ask(&format!("similar?{IAH}&by=passengers&count=2"));
    assert_eq!(similar["name"], "Houston, <b>Bush</b>");
    let codes: Vec<&Value> =
        similar["similar"].as_array().unwrap().iter().map(|row| &row["airport"]).collect();
    assert_eq!(codes, ["ATL", "DEN"]);
    let unknown = site.get("/api/v1/similar?airport=LAX&from=2008-01&to=2008-12&by=passengers");
    assert_eq!(
        (unknown.status, unknown.json()["type"].as_str()),
        (422, Some("urn:nandle:problem:not-known"))
    );
    assert_eq!(site.ask("overview")["similar_by"], serde_json::json!(["flights", "passengers"]));
}

#[test]
fn an_answer_says_what_it_cost() {
    let site = Site::start(&[]);
    site.measured();
    let answer = site.get(&format!("/api/v1/series?{IAH}")).json();
    for query in answer["queries"].as_array().unwrap() {
        assert!(query["sql"].as_str().unwrap().starts_with("SELECT "));
        assert!(query["wall_ns"].as_u64().unwrap() > 0 && query["computing_ns"].as_u64().unwrap() > 0);
        assert!(query["read_bytes"].as_u64().unwrap() > 0 && query["requests"].as_u64().unwrap() > 0);
        assert_eq!(query["predicted"]["read_bytes"], query["read_bytes"], "{query}");
        assert!(query["predicted"]["scans_ns"].as_u64().unwrap() > 0);
        let [device] = &**query["elsewhere"].as_array().unwrap() else { panic!("{query}") };
        assert_eq!(device["device"], "model:wd2003fyys");
        assert!(device["time_ns"].as_u64().unwrap() > 0, "{device}");
    }
}

#[test]
fn figures_of_other_devices_come_when_these_are_measured() {
    // The second model takes longer than the first answer.
    let site = Site::start(&["--on", "model:nvme-tlc"]);
    let path = format!("/api/v1/headline?{IAH}");
    let before = site.get(&path);
    let devices = |answer: &Value| answer["queries"][0]["elsewhere"].as_array().unwrap().clone();
    let [_, unknown] = &*devices(&before.json()) else { panic!("two devices") };
    assert!(unknown["is_measured"] == false && unknown["time_ns"].is_null(), "{unknown}");
    assert!(unknown["refusal"].as_str().unwrap().contains("still being measured"), "{unknown}");
    site.measured();
    let etag = format!("If-None-Match: {}\r\n", before.header("etag").unwrap());
    let after = site.get_with(&path, &etag);
    assert_eq!(after.status, 200, "it is another answer");
    for device in devices(&after.json()) {
        assert!(device["is_measured"] == true && device["time_ns"].as_u64() > Some(0), "{device}");
    }
}

#[test]
fn a_table_without_flights_is_refused_before_anything_is_measured() {
    let place = crate::place::Place::new();
    let begun = std::time::Instant::now();
    let refused =
        place.command_of("serve", &["Numbers.parquet", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("numbers has no "), "{refused:?}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn answers_are_compressed_and_known_ones_are_not_sent_again() {
    let site = Site::start(&[]);
    site.measured();
    let path = format!("/api/v1/ranking?{IAH}&among=all");
    let plain = site.get(&path);
    let packed = site.get_with(&path, "Accept-Encoding: gzip\r\n");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body, "kept, so what it cost is the same");
    assert!(packed.body.len() * 3 < plain.body.len());
    let etag = plain.header("etag").unwrap();
    let again = site.get_with(&path, &format!("If-None-Match: \"other\", {etag}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
    // Defaults may be given or omitted.
    let same = site.get_with(&format!("{path}&count=10&by=flights"), &format!("If-None-Match: {etag}\r\n"));
    assert_eq!(same.status, 304);
    let other = site.get_with(&format!("{path}&count=9"), &format!("If-None-Match: {etag}\r\n"));
    assert_eq!(other.status, 200);
}
