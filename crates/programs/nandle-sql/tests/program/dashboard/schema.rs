//! Answers are what `openapi.json` says they are.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::site::{IAH, Site};

fn schema_of<'a>(document: &'a Value, path: &str, status: &str) -> &'a Value {
    let responses = &document["paths"][path]["get"]["responses"][status]["content"];
    responses.as_object().unwrap().values().next().map(|content| &content["schema"]).unwrap()
}

/// Complaints about an instance, by a schema that stands in the document.
fn complaints(document: &Value, schema: &Value, instance: &Value) -> Vec<String> {
    let mut root = schema.clone();
    root["components"] = document["components"].clone();
    let validator = jsonschema::draft202012::new(&root).unwrap();
    validator.iter_errors(instance).map(|error| format!("{} at {}", error, error.instance_path())).collect()
}

#[test]
fn answers_and_problems_are_as_documented() {
    let site = Site::start(&[]);
    let document = site.get("/api/v1/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for (path, query) in [
        ("overview", String::new()),
        ("sums", String::new()),
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
        let found = complaints(&document, schema_of(&document, &path, "200"), &answer);
        assert!(found.is_empty(), "{path}{query}: {found:#?}");
        let wrong = site.get(&format!("{path}?wrong=1")).json();
        let found = complaints(&document, schema_of(&document, &path, "4XX"), &wrong);
        assert!(found.is_empty(), "{path}: {found:#?}");
    }
    let hostile =
        complaints(&document, schema_of(&document, "/api/v1/headline", "200"), &json!({ "version": 1 }));
    assert!(!hostile.is_empty(), "the schema refuses other things");
}

#[test]
fn the_document_names_the_parameters_that_are_understood() {
    let site = Site::start(&[]);
    let document = site.get("/api/v1/openapi.json").json();
    for (path, item) in document["paths"].as_object().unwrap() {
        let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
        let named: BTreeSet<String> =
            parameters.iter().map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect();
        if ["events", "overview", "sums"].iter().any(|name| path.ends_with(name)) {
            assert!(named.is_empty());
            continue;
        }
        // A message about one that isn't there lists those that there are.
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
