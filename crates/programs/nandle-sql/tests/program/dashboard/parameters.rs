//! Malformed parameters: missing, doubled, too long, not UTF-8, SQL and path injection.

use super::site::{IAH, Site};

#[test]
fn what_is_not_understood_is_a_problem_that_names_the_parameter() {
    let site = Site::start(&[]);
    for (path, status, parameter) in [
        ("headline".to_owned(), 400, "airport"),
        ("headline?airport=IAH&to=2008-01".to_owned(), 400, "from"),
        ("headline?airport=IAH&from=2008-01".to_owned(), 400, "to"),
        ("airports".to_owned(), 400, "from"),
        (format!("pair?{IAH}"), 400, "other"),
        (format!("headline?{IAH}&airport=ATL"), 400, "airport"),
        (format!("headline?{IAH}&count=5&count=5"), 400, "count"),
        (format!("headline?{IAH}&count=-1"), 400, "count"),
        (format!("headline?{IAH}&count=99999999999999999999"), 400, "count"),
        (format!("headline?{IAH}&measure=late"), 400, "measure"),
        (format!("series?{IAH}&measure=worst"), 400, "measure"),
        (format!("series?{IAH}&period=week"), 400, "period"),
        ("series?airport=IAH&from=1999-01&to=2008-12&period=day".to_owned(), 400, "period"),
        (format!("ranking?{IAH}&among=few"), 400, "among"),
        (format!("headline?{IAH}&similar={}", "ATL,".repeat(64)), 400, "similar"),
        (format!("headline?{IAH}&similar={}", "A".repeat(300)), 400, "similar"),
        ("overview?x=1".to_owned(), 400, "x"),
        (format!("airports?from=2008-01&to=2008-12&search={}", "a".repeat(61)), 400, "search"),
    ] {
        let response = site.get(&format!("/api/v1/{path}"));
        let problem = response.json();
        assert_eq!(
            (response.status, problem["parameter"].as_str()),
            (status, Some(parameter)),
            "{path}: {problem}"
        );
        assert_eq!(response.header("content-type"), Some("application/problem+json"));
    }
    let long = site.get(&format!("/api/v1/overview?{}", "&".repeat(3000)));
    assert_eq!(long.status, 414, "{}", long.text());
    for query in ["airport=%FF", "airport=%C3%28", "airport=%", "airport=%4"] {
        assert_eq!(site.get(&format!("/api/v1/headline?{query}")).status, 400, "{query}");
    }
    assert_eq!(
        site.send(
            b"GET /api/v1/headline?airport=\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        .status,
        400
    );
}

#[test]
fn no_text_becomes_sql_or_a_path() {
    let site = Site::start(&[]);
    for text in [
        "IAH'",
        "'--",
        "I%27H",
        "IAH%27%20OR%20%271%27=%271",
        "%22%3B",
        "IAH;",
        "IAH%00",
        "%2e%2e%2f",
        "../../etc/passwd",
        "$1",
        "%24%7b7*7%7d",
        "NULL",
        "IAH%0d%0aX:1",
    ] {
        for path in [
            format!("headline?airport={text}&from=2008-01&to=2008-12"),
            format!("headline?airport=IAH&from={text}&to=2008-12"),
            format!("headline?{IAH}&similar={text}"),
            format!("pair?{IAH}&other={text}"),
            format!("airlines?{IAH}&direction={text}"),
            format!("{text}?{IAH}"),
        ] {
            let response = site.get(&format!("/api/v1/{path}"));
            assert!((400..500).contains(&response.status), "{path}: {}", response.status);
        }
        // Any text may be searched for, and none becomes SQL.
        let found = site.get(&format!("/api/v1/airports?from=2008-01&to=2008-12&search={text}"));
        assert!(found.status == 200 || found.status == 400, "{text}: {}", found.status);
    }
    for path in [
        "/../Cargo.toml",
        "/assets/../disk.json",
        "/assets/%2e%2e/disk.json",
        "/disk.json",
        "/assets//etc/passwd",
    ] {
        assert_eq!(site.get(path).status, 404, "{path}");
    }
    assert_eq!(site.ask("overview")["flights"], 150_000, "it lives");
}

#[test]
fn what_there_is_not_is_said() {
    let site = Site::start(&[]);
    let none = site.get("/api/v1/headline?airport=QQQ&from=2008-01&to=2008-12");
    assert_eq!((none.status, none.json()["type"].as_str()), (404, Some("urn:nandle:problem:no-flights")));
    let before = site.get("/api/v1/headline?airport=IAH&from=1990-01&to=1990-12");
    assert_eq!(before.status, 404);
    assert_eq!(site.get("/api/v2/overview").status, 404);
    let posted = site.send(b"POST /api/v1/overview HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    assert_eq!((posted.status, posted.header("content-type")), (405, Some("application/problem+json")));
}
