//! Responses conform to `openapi.json`.

use std::collections::BTreeSet;

use serde_json::json;

use super::document::Document;
use super::site::{IAH, Site};

#[test]
fn answers_and_problems_are_as_documented() {
    let site = Site::start(&[]);
    let document = Document::of(&site);
    for (path, query) in [
        ("overview", String::new()),
        ("sums", String::new()),
        ("devices", String::new()),
        ("airports", "?from=2008-01&to=2008-12&search=A".to_owned()),
        ("similar", format!("?{IAH}")),
        ("headline", format!("?{IAH}&count=3")),
        ("series", format!("?{IAH}&measure=cancelled")),
        ("series", "?airport=IAH&from=2011-08&to=2011-09&period=day&similar=ATL".to_owned()),
        ("ranking", format!("?{IAH}&among=all")),
        ("airlines", format!("?{IAH}")),
        ("pairs", format!("?{IAH}&direction=arrivals")),
        ("pair", format!("?{IAH}&other=ATL")),
    ] {
        let path = format!("/api/v1/{path}");
        let answer = site.get(&format!("{path}{query}")).json();
        let found = document.complaints(&path, 200, &answer);
        assert!(found.is_empty(), "{path}{query}: {found:#?}");
        let wrong = site.get(&format!("{path}?wrong=1")).json();
        let found = document.complaints(&path, 400, &wrong);
        assert!(found.is_empty(), "{path}: {found:#?}");
    }
    let hostile = document.complaints("/api/v1/headline", 200, &json!({ "version": 1 }));
    assert!(!hostile.is_empty(), "the schema refuses other things");
}

#[test]
fn the_document_names_the_parameters_that_are_understood() {
    let site = Site::start(&[]);
    let document = Document::of(&site);
    for path in document.paths() {
        let named: BTreeSet<String> =
            document.parameters(path).into_iter().map(|parameter| parameter.name).collect();
        if ["devices", "events", "overview", "sums"].iter().any(|name| path.ends_with(name)) {
            assert!(named.is_empty());
            continue;
        }
        // An error about a missing value lists the valid ones.
        let needed = if path.ends_with("airports") {
            "from=2008-01&to=2008-12".to_owned()
        } else {
            format!("{IAH}&other=ATL")
        };
        let needed = if path.ends_with("pair") { needed } else { needed.replace("&other=ATL", "") };
        let problem = site.get(&format!("{path}?{needed}&no-such=1")).json();
        let (_, known) = problem["detail"].as_str().unwrap().rsplit_once(": ").unwrap();
        let known: BTreeSet<String> = known.split(", ").map(str::to_owned).collect();
        assert_eq!(named, known, "{path}");
    }
}
