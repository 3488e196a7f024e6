//! Sums give the same answers as the flights.

use serde_json::Value;

use super::site::{IAH, Response, Site, flights, load};

/// Temporary space too small for sums.
const NO_ROOM: [&str; 4] = ["--spill-limit", "1", "--memory", "512MiB"];
/// The build gets a quarter of it.
const ROOM: [&str; 2] = ["--memory", "512MiB"];

/// All questions, in both directions, over several months, with several peers.
fn questions() -> Vec<String> {
    let mut all = vec!["overview".to_owned(), format!("series?{IAH}&period=year")];
    let similar = ["", "&count=3", "&similar=ATL,ORD,ABE"];
    for (months, similar) in [
        ("2008-01&to=2008-12", &similar[..]),
        ("2007-11&to=2009-02", &similar[1..2]),
        ("2000-01&to=2011-08", &similar[..1]),
        ("2008-02&to=2008-02", &similar[2..]),
    ] {
        for direction in ["departures", "arrivals"] {
            let months = format!("from={months}&direction={direction}");
            all.push(format!("airports?{months}"));
            for similar in similar {
                let view = format!("airport=IAH&{months}{similar}");
                all.extend(["similar", "headline", "airlines", "pairs"].map(|name| format!("{name}?{view}")));
                all.push(format!("series?{view}&measure=late"));
                all.push(format!("ranking?{view}&among=all&measure=diverted"));
                all.push(format!("pair?{view}&other=ATL"));
            }
        }
    }
    all
}

/// Returns true for questions by day, which sums can't answer.
fn is_daily(question: &str) -> bool {
    question.starts_with("series") && question.contains("from=2008-02&to=2008-02")
}

/// Response without its cost and table version.
fn said(response: &Response) -> (u16, Value) {
    let mut answer = response.json();
    let fields = answer.as_object_mut().unwrap();
    fields.retain(|name, _| name != "queries" && name != "version");
    (response.status, answer)
}

/// For each query of a response, true if it used sums.
fn asked_sums(response: &Response) -> Vec<bool> {
    let answer = response.json();
    let queries = answer["queries"].as_array().unwrap();
    queries.iter().map(|query| query["sums_sql"].is_string()).collect()
}

/// Compares a server with sums to one without. Returns the number of questions with an answer.
#[track_caller]
fn assert_same(with: &Site, without: &Site) -> usize {
    assert_eq!(with.sums()["state"], "ready", "{}", with.sums());
    assert_eq!(without.sums()["state"], "failed", "{}", without.sums());
    let mut answered = 0;
    for question in questions() {
        let path = format!("/api/v1/{question}");
        let (one, other) = (with.get(&path), without.get(&path));
        assert!(said(&one) == said(&other), "{question}");
        if one.status == 200 {
            answered += 1;
            let from_sums = asked_sums(&one);
            let from_flights = from_sums.iter().filter(|is_so| !**is_so).count();
            assert_eq!(from_flights, usize::from(is_daily(&question)), "{question}: {from_sums:?}");
            assert!(!asked_sums(&other).contains(&true), "{question}");
        }
    }
    answered
}

#[test]
fn sums_and_flights_give_the_same_answers() {
    let (with, without) = (Site::start(&ROOM), Site::start(&NO_ROOM));
    // Two airports may have no flights in a month.
    assert!(assert_same(&with, &without) + 6 >= questions().len());
    let sums = with.sums();
    assert!(sums["rows"].as_u64().unwrap() > 10_000 && sums["file_bytes"].as_u64().unwrap() > 0, "{sums}");
    assert!(sums["making_ns"].as_u64().unwrap() > 0 && sums["refusal"].is_null(), "{sums}");
    let made = &with.get("/api/v1/overview").json()["queries"][0];
    assert_eq!(made["sums_sql"], sums["sql"]);
    assert!(made["sql"].as_str().unwrap().contains("FROM \"flights_sums\"\n"), "{made}");
    let refused = without.sums();
    assert!(refused["refusal"].as_str().unwrap().contains("disk space"), "{refused}");
    assert!(refused["rows"].is_null() && refused["making_ns"].is_null(), "{refused}");
}

#[test]
fn files_of_other_types_and_with_nulls_are_summed_as_they_are() {
    let other_types = "SELECT CAST(\"Year\" AS INT) AS \"Year\", arrow_cast(\"Month\", 'LargeUtf8') AS \"Month\", \"FlightDate\", \
        CAST(\"Airline\" AS VARCHAR) AS \"Airline\", \"Origin\", CAST(\"Dest\" AS VARCHAR) AS \"Dest\", \
        CAST(\"ArrDelay\" AS DOUBLE) AS \"ArrDelay\", CAST(\"Cancelled\" AS DECIMAL(3, 2)) AS \"Cancelled\", CAST(\"Diverted\" AS BIGINT) AS \"Diverted\" FROM flights";
    let null = |column: &str, of: u32| {
        let columns =
            ["Year", "Month", "FlightDate", "Airline", "Origin", "Dest", "ArrDelay", "Cancelled", "Diverted"];
        let columns = columns.map(|name| match name {
            name if name == column => format!(
                "CASE WHEN row_number() OVER () % {of} = 0 THEN NULL ELSE \"{name}\" END AS \"{name}\""
            ),
            name => format!("\"{name}\""),
        });
        format!("SELECT {} FROM flights", columns.join(", "))
    };
    let all = questions().len();
    for (select, least, most) in [
        (other_types.to_owned(), all - 6, all),
        (null("Cancelled", 3), all - 6, all),
        (null("Origin", 50), all / 2, all - 1),
        // Rows without a month appear only in the overview; other questions select months.
        (null("Month", 50), all - 7, all - 1),
        (null("Airline", 50), all / 2, all - 1),
    ] {
        let answered = assert_same(&Site::over(&select, &ROOM), &Site::over(&select, &NO_ROOM));
        assert!((least..=most).contains(&answered), "{answered} of {all} answered of {select}");
    }
}

#[test]
fn a_new_version_has_sums_of_its_own() {
    let site = Site::start(&ROOM);
    let before = site.sums();
    load(&site.table, &flights()[..1]);
    site.until("a new version is shown", || site.sums()["version"] != before["version"]);
    let (after, overview) = (site.sums(), site.get("/api/v1/overview"));
    assert!(after["version"].as_str().unwrap().starts_with("snapshot-3-"), "{after}");
    assert_eq!(after["state"], "ready");
    assert_eq!(overview.json()["figures"]["flights"], 150_000 + (1 << 16));
    assert_eq!(asked_sums(&overview), [true]);
    // Equal groups of flights add no rows.
    assert_eq!(after["rows"], before["rows"]);
}

#[test]
fn what_is_asked_before_there_are_sums_is_answered_too() {
    let site = Site::start(&ROOM);
    // The first question may come before or after the build, and is answered either way.
    let first = site.get(&format!("/api/v1/pairs?{IAH}"));
    assert_eq!(site.sums()["state"], "ready");
    let second = site.get(&format!("/api/v1/pairs?{IAH}"));
    assert_eq!(said(&first), said(&second));
    assert_eq!(asked_sums(&second), [true]);
}
