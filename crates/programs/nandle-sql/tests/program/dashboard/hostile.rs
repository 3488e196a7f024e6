//! Malicious requests: every parameter of every path missing, doubled and malformed, and random
//! bytes. Each is answered as documented without a server failure, and afterwards the server
//! answers as before.

use serde_json::Value;

use super::document::{Document, Parameter};
use super::site::{Response, Site};
use crate::draw::{Draw, seeds};

/// A valid value of each parameter.
const USUAL: [(&str, &str); 11] = [
    ("airport", "IAH"),
    ("from", "2008-01"),
    ("to", "2008-12"),
    ("direction", "arrivals"),
    ("by", "flights"),
    ("count", "5"),
    ("similar", "ATL,ORD"),
    ("measure", "cancelled"),
    ("period", "month"),
    ("among", "all"),
    ("other", "ATL"),
];

/// Invalid values for every parameter except the search text.
const SPOILT: [&str; 36] = [
    "",
    "%00",
    "IAH%00",
    "%00IAH",
    "%FF%FE",
    "%C3%28",
    "%ED%A0%80",
    "%",
    "%4",
    "%zz",
    "%25%32%37",
    "'",
    "%27%20OR%20%271%27%3D%271",
    "%22%3BDROP%20TABLE%20flights",
    "1)%20UNION%20SELECT%201--",
    "/*",
    "../../../etc/passwd",
    "%2e%2e%2f%2e%2e%2f",
    "file:///etc/passwd",
    "-1",
    "0",
    "1e309",
    "NaN",
    "18446744073709551616",
    "-9223372036854775809",
    "99999999999999999999999999999999999999999999",
    "%E2%80%AEIAH",
    "%F0%9F%92%A9",
    "%24%7B7*7%7D",
    "%3Cscript%3E",
    "x%0d%0aX-Injected:%201",
    "null",
    "[]",
    "2008-13",
    "9999-12",
    "%2B",
];

fn usual(name: &str) -> &'static str {
    USUAL.iter().find(|(known, _)| *known == name).map_or("A", |(_, value)| value)
}

/// Query string of some parameters.
fn query<'a, 'b>(parameters: impl IntoIterator<Item = (&'a str, &'b str)>) -> String {
    let parts = parameters.into_iter().map(|(name, value)| format!("{name}={value}"));
    parts.collect::<Vec<_>>().join("&")
}

/// Required parameters of a path, and `with` if it is optional.
fn needed<'a>(all: &'a [Parameter], with: &'a str) -> impl Iterator<Item = (&'a str, &'static str)> {
    let needed = all.iter().filter(move |parameter| parameter.is_required || parameter.name == with);
    needed.map(|parameter| (&*parameter.name, usual(&parameter.name)))
}

/// Checks a response against the document.
#[track_caller]
fn check(document: &Document, path: &str, query: &str, response: &Response) -> Value {
    assert_ne!(response.status, 500, "{path}?{query}: {}", response.text());
    let answer = response.json();
    let complaints = document.complaints(path, response.status, &answer);
    assert!(complaints.is_empty(), "{path}?{query}: {complaints:#?}");
    let kind = if response.status == 200 { "application/json" } else { "application/problem+json" };
    assert_eq!(response.header("content-type"), Some(kind), "{path}?{query}");
    answer
}

struct Asked<'a> {
    site: &'a Site,
    document: Document,
    requests: usize,
}

impl Asked<'_> {
    #[track_caller]
    fn answer(&mut self, path: &str, query: &str) -> (u16, Value) {
        self.requests += 1;
        let response = self.site.get(&format!("{path}?{query}"));
        (response.status, check(&self.document, path, query, &response))
    }

    /// Asserts that the request is refused and the parameter named.
    #[track_caller]
    fn refused(&mut self, path: &str, query: &str, parameter: &str) {
        let (status, problem) = self.answer(path, query);
        assert_eq!(
            (status, &problem["parameter"]),
            (400, &Value::from(parameter)),
            "{path}?{query}: {problem}"
        );
    }

    /// Tests a parameter with the required ones, missing, and doubled.
    fn vary(&mut self, path: &str, all: &[Parameter], parameter: &Parameter) {
        let name = &*parameter.name;
        let right = query(needed(all, name));
        assert_eq!(self.answer(path, &right).0, 200, "{path}?{right}");
        if parameter.is_required {
            let without = query(needed(all, name).filter(|(other, _)| *other != name));
            self.refused(path, &without, name);
        }
        let value = usual(name);
        for twice in [
            format!("{right}&{name}={value}"),
            format!("{name}&{right}"),
            format!("{right}&&%{:02x}{}={value}", name.as_bytes()[0], &name[1..]),
        ] {
            self.refused(path, &twice, name);
        }
        let long = format!("{name}={}", "A".repeat(257));
        let rest = query(needed(all, name).filter(|(other, _)| *other != name));
        self.refused(path, &format!("{rest}&{long}"), name);
        let longest = format!("{rest}&{name}={}", "A".repeat(3000));
        assert_eq!(self.answer(path, &longest).0, 414);
    }

    /// Tests a parameter with invalid values.
    fn spoil(&mut self, path: &str, all: &[Parameter], name: &str) {
        let rest = query(needed(all, name).filter(|(other, _)| *other != name));
        for value in SPOILT {
            let spoilt = format!("{rest}&{name}={value}");
            let (status, problem) = self.answer(path, &spoilt);
            if name == "search" {
                assert!([200, 400].contains(&status), "{path}?{spoilt}: {status}");
                continue;
            }
            let named = problem["parameter"].as_str();
            assert_eq!(status, 400, "{path}?{spoilt}: {problem}");
            assert!(
                named == Some(name) || problem["detail"].as_str().unwrap().contains("UTF-8"),
                "{path}?{spoilt}: {problem}"
            );
        }
    }
}

#[test]
fn every_parameter_missing_doubled_long_and_spoilt() {
    let site = Site::start(&[]);
    site.measured();
    let before = site.ask("overview");
    let document = Document::of(&site);
    let paths: Vec<String> =
        document.paths().filter(|path| !path.ends_with("events")).map(ToOwned::to_owned).collect();
    let mut asked = Asked { site: &site, document, requests: 0 };
    for path in &paths {
        let all = asked.document.parameters(path);
        for parameter in &all {
            asked.vary(path, &all, parameter);
            asked.spoil(path, &all, &parameter.name);
        }
        let right = query(needed(&all, ""));
        asked.refused(path, &format!("{right}&no-such=1"), "no-such");
        let response = site.get(&format!("{path}?{right}"));
        // The progress of sums and devices changes within a version, and has no ETag.
        let is_state = path.ends_with("sums") || path.ends_with("devices");
        assert_eq!(response.header("etag").is_none(), is_state, "{path}");
        if let Some(etag) = response.header("etag") {
            let known = site.get_with(&format!("{path}?{right}"), &format!("If-None-Match: {etag}\r\n"));
            assert_eq!((known.status, known.body.len()), (304, 0), "{path}");
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let request =
                format!("{method} {path}?{right} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
            let response = site.send(request.as_bytes());
            assert_eq!(response.status, 405, "{method} {path}");
            check(&asked.document, path, &right, &response);
        }
    }
    assert!(asked.requests > 2000, "{}", asked.requests);
    assert_eq!(site.ask("overview"), before, "it lives");
}

/// A request with random line, headers and bytes.
fn request(draw: &mut Draw) -> Vec<u8> {
    const METHODS: [&str; 6] = ["GET", "GET", "GET", "HEAD", "POST", "G\u{e4}T"];
    const PATHS: [&str; 10] = [
        "headline",
        "series",
        "ranking",
        "airports",
        "pair",
        "similar",
        "overview",
        "",
        "%2e%2e/x",
        "openapi.json/",
    ];
    const PARTS: [&str; 12] = [
        "&",
        "=",
        "%",
        ",",
        "airport=IAH",
        "&from=2008-01",
        "&to=2008-02",
        "&similar=ATL",
        "&search=",
        "%00",
        "%ff",
        "\u{fffd}",
    ];
    const HEADERS: [&str; 9] = [
        "If-None-Match: *",
        "If-None-Match: W/\"\", \",",
        "Accept-Encoding: gzip;q=9,*;q=x",
        "Accept: x",
        "Range: bytes=0-0",
        "Content-Length: 0",
        "Cookie: nandle_token",
        "Authorization: Bearer",
        "Accept-Encoding: gzip",
    ];
    let mut target = format!("/api/v1/{}?", draw.one_of(&PATHS)).into_bytes();
    for _ in 0..draw.below(14) {
        match draw.below(4) {
            // Avoids bytes that end the line or the target.
            0 => target.push(u8::try_from(33 + draw.below(223)).unwrap()),
            _ => target.extend(draw.one_of(&PARTS).bytes()),
        }
    }
    let mut request = format!("{} ", draw.one_of(&METHODS)).into_bytes();
    request.extend(target);
    let more = if draw.below(3) == 0 { format!("{}\r\n", draw.one_of(&HEADERS)) } else { String::new() };
    request.extend(format!(" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{more}\r\n").bytes());
    request
}

#[test]
fn requests_at_random_are_answered() {
    let site = Site::start(&["--time-limit", "10m"]);
    let before = site.ask("overview");
    let seeds = seeds(600);
    let (mut understood, mut refused) = (0, 0);
    for seed in seeds.clone() {
        let request = request(&mut Draw::of(seed));
        let response = site.send(&request);
        let what = || format!("seed {seed}: {:?}: {}", String::from_utf8_lossy(&request), response.text());
        let is_expected = [200, 304, 400, 404, 405, 414, 422].contains(&response.status);
        assert!(is_expected, "{}: {}", response.status, what());
        if response.status == 200 {
            understood += 1;
        } else {
            refused += 1;
        }
        // Malformed requests and HEAD get no body.
        let is_plain = response.header("content-encoding").is_none();
        if response.status >= 400 && is_plain && !response.body.is_empty() {
            assert_eq!(response.json()["status"], response.status, "{}", what());
        }
    }
    eprintln!("requests of seeds {seeds:?}: {understood} understood, {refused} refused");
    assert_eq!(site.ask("overview"), before, "it lives");
}
